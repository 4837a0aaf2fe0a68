"""What training the net takes on the Z80, in T-states; the headers in `asm/learn/seed_*.asm` say what each routine takes."""

from __future__ import annotations

from zxml.learn.seed.net import Tally

CLOCK_HZ = 3_500_000
LEARN_PICTURE, LEARN_ACTIVE = 35_000, 826
TEACH_PICTURE, TEACH_ACTIVE, TEACH_ERROR, TEACH_GAIN, TEACH_MOVED = 2_000, 72, 905, 154, 296
STEP, SLOW_STEP = 333_400, 122_100


def tstates(tally: Tally) -> int:
    """Return about what the chosen arithmetic took for all that was counted: within 2 in 100."""
    looking = tally.pictures * LEARN_PICTURE + tally.active * LEARN_ACTIVE
    teaching = tally.taught * TEACH_PICTURE + tally.taught_active * TEACH_ACTIVE + tally.errors * TEACH_ERROR
    telling = tally.gains * TEACH_GAIN + tally.moved * TEACH_MOVED
    return looking + teaching + telling + tally.steps * STEP + tally.slow_steps * SLOW_STEP
