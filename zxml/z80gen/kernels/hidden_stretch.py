"""The layout of hidden_bits: which stretches of the map are looked at in turn, and where the weights of their bits lie.

A page holds the weights of one line of code (a unit, or a pair of units) on 32 bytes of the map, a column for each byte, a row
for each bit. What is left of the map is cut into stretches of 16, 8, 4, 2 and 1 bytes, whose pages several lines share, each at
columns of its own. Pages come in blocks, which may lie anywhere in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zxml.z80gen.kernel import Values
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE

STRETCH_NBYTES = PAGE // CHANNELS_A_BYTE
RECORD_NBYTES = 7


@dataclass(frozen=True)
class Run:
    """Lines of code that run on the same bits, one on each page of a block; column: of the first byte in the pages."""

    column: int
    line: int
    lines: int


@dataclass(frozen=True)
class Stretch:
    """Bytes of the map from `first` on, their block of pages, and the runs on their bits, which all lines have part in."""

    first: int
    nbytes: int
    block: int
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Layout:
    """All stretches, the lines that run on each, and the number of pages of each block."""

    stretches: tuple[Stretch, ...]
    lines: int
    blocks: tuple[int, ...]

    def records(self) -> list[tuple[int, ...]]:
        """Return the fields of the record of each run: the fourth is its block, the last the way past the stretch."""
        return [
            (part.first, part.nbytes, run.column, part.block, run.line, run.lines, RECORD_NBYTES * (len(part.runs) - number))
            for part in self.stretches
            for number, run in enumerate(part.runs)
        ]

    def place(self, weights: Values) -> list[Values]:
        """Return the pages of each block, (pages, 256), of weights (bits of the map, lines)."""
        blocks = [np.zeros((pages, CHANNELS_A_BYTE, STRETCH_NBYTES), np.int64) for pages in self.blocks]
        rows = weights.reshape(-1, CHANNELS_A_BYTE, self.lines).T  # (lines, bits of a byte, bytes)
        for stretch in self.stretches:
            for run in stretch.runs:
                seen = rows[run.line : run.line + run.lines, :, stretch.first : stretch.first + stretch.nbytes]
                blocks[stretch.block][: run.lines, :, run.column : run.column + stretch.nbytes] = seen
        return [block.reshape(-1, PAGE) for block in blocks]


def lay_out(first: int, nbytes: int, lines: int, most: int) -> Layout:
    """Return the layout for so many bytes of the map from `first` on, no run of more than `most` bytes, a power of two."""
    stretches: list[Stretch] = []
    blocks: list[int] = []
    size = STRETCH_NBYTES
    while nbytes:
        if size > nbytes:
            size //= 2
            continue
        pages = -(-lines * size // STRETCH_NBYTES)
        for start in range(0, size, most):
            length = min(size, most)
            shares = range(0, lines, pages)
            runs = (Run(size * share + start, line, min(pages, lines - line)) for share, line in enumerate(shares))
            stretches.append(Stretch(first + start, length, len(blocks), tuple(runs)))
        blocks.append(pages)
        first += size
        nbytes -= size
    return Layout(tuple(stretches), lines, tuple(blocks))
