"""Learning from somebody who draws: a class is taught from a few examples, corrected on the spot, or forgotten.

A class owns every tenth picture in the memory. Its examples fill all its places: as they are, then slanted in four ways, and so
on in turn, so that ten examples are counted as often as a hundred and eighty pictures and give scores on the same scale.
Passes over the first pictures of all classes (`practise`) then correct the new class among the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zxml.learn import correct, count
from zxml.learn.pictures import CLASSES, COLS, ROWS, Bits, border, see_patterns

SLANTS = (0, 4, 3, 2, 1)  # of the first round of a class's places, the second, and so on
FIXES = 8  # corrections, at most, for one picture that was read wrong
PRACTICE, PRACTICE_PASSES = 400, 2  # pictures of all classes, and how often they are looked at after teaching


@dataclass(frozen=True, eq=False)
class Memory:
    """What a Spectrum keeps; all changes are in place.

    pictures: (10 * n, 11, 9), of which picture i is of class i % 10; examples: (10,), how many pictures of each class are
    examples of their own, 0 to n: the first ones; weights: what has been learned.
    """

    pictures: Bits
    examples: Bits
    weights: count.Weights


def slant(picture: Bits, slant: int) -> Bits:
    """Return a picture (11, 9) of which a part has moved by a pixel, and another part the opposite way.

    slant: 0 none; 1 columns 0..2 up and columns 5..7 down; 2 the other way round; 3 rows 0..3 to the left and rows 7..10 to the
    right; 4 the other way round.
    """
    wide, slanted = border(picture[None])[0], picture.copy()
    step = 1 if slant % 2 else -1
    if slant in (1, 2):
        slanted[:, :3] = wide[1 + step : 1 + step + ROWS, 1:4]
        slanted[:, 5:8] = wide[1 - step : 1 - step + ROWS, 6:9]
    elif slant in (3, 4):
        slanted[:4] = wide[1:5, 1 + step : 1 + step + COLS]
        slanted[7:] = wide[8:12, 1 - step : 1 - step + COLS]
    return slanted


def fill(examples: Bits, places: int) -> Bits:
    """Return as many pictures (places, 11, 9) as a class has, made of its examples (n, 11, 9)."""
    n = len(examples)
    return np.stack([slant(examples[i % n], SLANTS[i // n % len(SLANTS)]) for i in range(places)])


def teach(memory: Memory, example: Bits, digit: int) -> None:
    """Learn a class from one more example (11, 9); a class all of whose pictures are its own is only corrected (`fix`)."""
    own = memory.pictures[digit::CLASSES]  # (n, 11, 9), a view
    known = int(memory.examples[digit])
    if known == len(own):
        fix(memory.weights, example, digit)
        return
    own[known] = example
    own[:] = fill(own[: known + 1], len(own))
    memory.examples[digit] = known + 1
    memory.weights.bias[digit], memory.weights.weight[digit] = count.weigh(count.count_patterns(own))


def fix(weights: count.Weights, picture: Bits, digit: int) -> int:
    """Correct until a picture (11, 9) is read as its class, but at most eight times; return how often that was."""
    patterns = see_patterns(picture[None])
    for number in range(FIXES):
        if weights.scores(patterns)[0].argmax() == digit:
            return number
        correct.correct_picture(weights, patterns[0], digit)
    return FIXES


def forget(memory: Memory, digit: int) -> None:
    """Forget a class: it is never read, as its scores are 0, and its pictures, blank ones, correct nothing."""
    memory.pictures[digit::CLASSES] = 0
    memory.examples[digit] = 0
    memory.weights.bias[digit] = 0
    memory.weights.weight[digit] = 0


def practise(memory: Memory, state: int) -> int:
    """Look twice at the first pictures of all classes, correct the weights, and return the random state afterwards."""
    for _ in range(PRACTICE_PASSES):
        state, _ = correct.correct_pass(memory.weights, memory.pictures[:PRACTICE], state)
    return state
