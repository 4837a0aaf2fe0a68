"""What learning takes on the Z80, in T-states; the headers in `asm/learn/` say what each routine takes."""

from __future__ import annotations

CLOCK_HZ = 3_500_000
COUNT_PICTURE, COUNT_DIGIT = 13_840, 711_000
PASS_PICTURE, PASS_PATCH = 10_000, 280
CHANGE, CHANGE_PATCH = 1_185, 156


def count_tstates(pictures: int) -> int:
    """Return about what `learn_count_all` takes: within 1 in 100."""
    return pictures * COUNT_PICTURE + 10 * COUNT_DIGIT


def pass_tstates(pictures: int, changed: int, inked: float) -> int:
    """Return about what `learn_pass` takes, where a picture has so many inked patches on average: within 2 in 100."""
    return round(pictures * (PASS_PICTURE + PASS_PATCH * inked) + changed * (CHANGE + CHANGE_PATCH * inked))
