"""Learning from mistakes: the weights of a picture's digit go up by one, those of the digit that came too near go down.

This is the perceptron with a margin. Each time a picture is seen it lies up to a pixel beside where it lay.
"""

from __future__ import annotations

import numpy as np

from zxml.learn.count import WEIGHT_MOST, Weights
from zxml.learn.pictures import CLASSES, COLS, PATCHES, ROWS, Bits, Patterns, border, see_patterns

MARGIN = 300  # a picture's digit must be ahead of all others by this much: 25 octaves in how likely it is
SEED, SEED_MOST = 1, 0xFFFF  # a random state is never 0


def next_random(state: int) -> int:
    """Return the 16-bit state after this one, never 0; all 65,535 come round.

    Source: George Marsaglia, Xorshift RNGs, 2003: the shifts 7, 9, 8.
    """
    state ^= state << 7 & 0xFFFF
    state ^= state >> 9
    return state ^ state << 8 & 0xFFFF


def choose_shift(state: int) -> tuple[int, int]:
    """Return the row and the column, 0..2, of the bordered picture at which a shifted picture begins; 1, 1 is no shift.

    Each is 0 one time in eight, and 2 as often.
    """
    return _choose_side(state >> 8 & 7), _choose_side(state & 7)


def _choose_side(number: int) -> int:
    return (number > 0) + (number == 7)


def correct_picture(weights: Weights, patterns: Patterns, digit: int, margin: int = MARGIN) -> bool:
    """Look at the patterns (10, 8) of a digit and return whether the weights had to change."""
    scores = weights.scores(patterns)[0]
    rivals = scores.copy()
    rivals[digit] = -1  # below every score
    rival = int(rivals.argmax())  # the first of equals
    if scores[digit] - scores[rival] >= margin:
        return False
    seen = patterns.ravel()
    patch = np.arange(PATCHES)[seen > 0]
    pattern = seen[seen > 0]
    better, worse = weights.weight[digit], weights.weight[rival]
    better[patch, pattern] += better[patch, pattern] < WEIGHT_MOST
    worse[patch, pattern] -= worse[patch, pattern] > 0
    return True


def correct_pass(weights: Weights, small: Bits, state: int, margin: int = MARGIN) -> tuple[int, int]:
    """Look at small pictures (n, 11, 9) once, picture i being a digit i % 10.

    Returns the random state afterwards, and how many pictures changed the weights.
    """
    bordered, changed = border(small), 0
    for i in range(len(small)):
        state = next_random(state)
        top, left = choose_shift(state)
        patterns = see_patterns(bordered[i : i + 1, top : top + ROWS, left : left + COLS])
        changed += correct_picture(weights, patterns[0], i % CLASSES, margin)
    return state, changed
