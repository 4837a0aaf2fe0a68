"""How weights of convolutions lie in memory: two of four bits, or three, four or five ternary ones a byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zxml.z80gen.kernel import Values
from zxml.z80gen.kernels.bits import PAGE
from zxml.z80gen.writer import AsmWriter

STEPS = np.array([[1, 0, 0, 0], [-1, 1, 0, 0], [-1, -1, 1, 0], [-1, -1, -1, 1]])  # from the sum of one nibble value to the next
FIVE = 5
ROW_NBYTES = 3**FIVE + FIVE - 1


@dataclass(frozen=True)
class Packing:
    """A way to pack weights: the range they must lie in, and what its routine takes.

    together: weights that are packed together; nbytes, tstates: of these; code_nbytes: of the routine, or of what it has for
    these; pack(weights): weights (n, together) as bytes.
    """

    name: str
    least: int
    most: int
    together: int
    nbytes: int
    tstates: int
    code_nbytes: int
    pack: Callable[[Values], Values]


@dataclass(frozen=True)
class TablePacking(Packing):
    """A way to pack weights that takes a table to unpack them.

    page_nbytes: of the table; page(label): its text.
    """

    page_nbytes: int
    page: Callable[[str], str]


def _pack_4bit(weights: Values) -> Values:
    pairs = (weights & 15).reshape(-1, 2)
    return np.asarray(pairs[:, 0] | pairs[:, 1] << 4)


def _page_4bit(label: str) -> str:
    writer = AsmWriter()
    lower = (np.arange(PAGE) & 15 ^ 8) - 8
    upper = (np.arange(PAGE) >> 4 ^ 8) - 8
    writer.label(label, "the lower weight of each byte")
    writer.data(lower)
    writer.comment("the upper weight less the lower one")
    writer.data(upper - lower)
    return writer.text()


def _pack_ternary(weights: Values) -> Values:
    number = (weights + 1) @ 3 ** np.arange(4)
    return np.where(number < 64, 4 * number, 4 * (number - 64) + 1)


def _page_ternary(label: str) -> str:
    writer = AsmWriter()
    numbers = np.arange(81)
    weights = numbers[:, None] // 3 ** np.arange(4) % 3 - 1  # (81, 4)
    steps = weights @ STEPS.T
    writer.label(label, "the steps between the sums of four weights, a record of four for each choice of them")
    writer.data(steps[:64].ravel())
    writer.data([0])
    writer.data(steps[64:].ravel())
    return writer.text()


def row_of_fives() -> Values:
    """Return a row of -1, 0 and 1 in which each choice of five comes once, (247,): always the greatest that is new."""
    row, seen = [-1] * FIVE, {(-1,) * FIVE}
    while len(row) < ROW_NBYTES:
        row.append(next(weight for weight in (1, 0, -1) if (*row[1 - FIVE :], weight) not in seen))
        seen.add(tuple(row[-FIVE:]))
    return np.array(row)


def _pack_fives(weights: Values) -> Values:
    row = row_of_fives()
    places = {tuple(row[start : start + FIVE]): start for start in range(3**FIVE)}
    return np.array([places[tuple(five)] for five in weights], np.int64)


def _page_fives(label: str) -> str:
    writer = AsmWriter()
    writer.label(label, "each choice of five weights is five neighbours somewhere here")
    writer.data(row_of_fives())
    return writer.text()


def _pack_threes(weights: Values) -> Values:
    number = (weights + 1) @ 3 ** np.arange(3)
    return np.asarray(number + 27 * np.arange(len(weights)))  # the tables of a place follow one another


FOUR_BIT = TablePacking("4bit", -8, 7, 4, 2, 378, 109, _pack_4bit, 512, _page_4bit)
TERNARY = TablePacking("ternary", -1, 1, 4, 1, 336, 100, _pack_ternary, 325, _page_ternary)
FIVES = TablePacking("fives", -1, 1, FIVE, 1, 99, 13, _pack_fives, ROW_NBYTES, _page_fives)
THREES = Packing("threes", -1, 1, 3, 1, 28, 4, _pack_threes)
