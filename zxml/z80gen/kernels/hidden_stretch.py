"""The layout of hidden_bits: which stretches of the map are looked at in turn, and where the weights of their bits lie.

A page holds the weights of one line of code (a unit, or a pair of units) on 32 bytes of the map. What is left of the map is cut
into stretches of 16, 8, 4, 2 and 1 bytes, whose pages several lines share, each at a place of its own in the page.
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
    """Lines of code that run on the same bits; position: of the first bit in their pages; page: that of the first line."""

    position: int
    page: int
    line: int
    lines: int


@dataclass(frozen=True)
class Stretch:
    """Bytes of the map from `first` on, and the runs on their bits, which all lines have part in."""

    first: int
    nbytes: int
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Layout:
    """All stretches, the lines that run on each, and the pages that their weights take."""

    stretches: tuple[Stretch, ...]
    lines: int
    pages: int

    def records(self) -> list[tuple[int, ...]]:
        """Return the fields of the record of each run: the page is from 0 on, and the last tells the way past the stretch."""
        return [
            (part.first, part.nbytes, run.position, run.page, run.line, run.lines, RECORD_NBYTES * (len(part.runs) - number))
            for part in self.stretches
            for number, run in enumerate(part.runs)
        ]

    def place(self, weights: Values) -> Values:
        """Return the pages, (pages, 256), of weights (bits of the map, lines)."""
        pages = np.zeros((self.pages, PAGE), np.int64)
        for stretch in self.stretches:
            bits = slice(stretch.first * CHANNELS_A_BYTE, (stretch.first + stretch.nbytes) * CHANNELS_A_BYTE)
            for run in stretch.runs:
                end = run.position + stretch.nbytes * CHANNELS_A_BYTE
                pages[run.page : run.page + run.lines, run.position : end] = weights[bits, run.line : run.line + run.lines].T
        return pages


def lay_out(first: int, nbytes: int, lines: int, most: int) -> Layout:
    """Return the layout for so many bytes of the map from `first` on, no run of more than `most` bytes, a power of two."""
    stretches: list[Stretch] = []
    page = 0
    size = STRETCH_NBYTES
    while nbytes:
        if size > nbytes:
            size //= 2
            continue
        pages = -(-lines * size // STRETCH_NBYTES)
        for start in range(0, size, most):
            length = min(size, most)
            shares = range(0, lines, pages)
            runs = (
                Run((size * share + start) * CHANNELS_A_BYTE, page, line, min(pages, lines - line))
                for share, line in enumerate(shares)
            )
            stretches.append(Stretch(first + start, length, tuple(runs)))
        page += pages
        first += size
        nbytes -= size
    return Layout(tuple(stretches), lines, page)
