"""The kinds of layers: frozen dataclasses, each with its exact formula.

Values between layers are a map of (rows, cols, channels) or a vector of (units,). A layer that wants a vector takes a map in
raster order, channels innermost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]

PICTURE_SIDE = 28  # a picture is 28 x 28 bits
PATCH_SIDE = 3  # the side of PatchConv's and Conv's windows
SUM_BITS = (8, 16)


@dataclass(frozen=True)
class Window:
    """The part of the picture a layer looks at: `rows` x `cols` pixels from (top, left)."""

    top: int
    left: int
    rows: int
    cols: int


@dataclass(frozen=True, eq=False)
class PatchSum:
    """Learned rows, one for each pattern of each patch of the picture, summed.

    out[u] = wrap(bias[u] + sum over patches p of table[p, pattern(p), u], sum_bits)

    The window is cut into patches of patch_rows x patch_cols pixels, numbered in raster order; a patch's pattern is its pixels
    in raster order, the first in bit 0. With 1 x 1 patches and table[:, 0] = 0 this is a dense layer on pixels.

    table: (patches, patterns, units); bias: (units,).
    """

    name: str
    window: Window
    patch_rows: int
    patch_cols: int
    sum_bits: int
    table: IntArray
    bias: IntArray


@dataclass(frozen=True, eq=False)
class PatchConv:
    """A learned table of features for every 3 x 3 pattern, looked up at every place of the window.

    out[y, x, f] = table[pattern(y, x), f]

    The pattern of a place is its 3 x 3 pixels from (y, x) of the window in raster order, the first in bit 0. A free table
    costs no more than a linear filter with thresholds, which is one such table.

    table: (512, filters), small whole numbers from 0 on; the map put out is (rows - 2, cols - 2, filters).
    """

    name: str
    window: Window
    table: IntArray


@dataclass(frozen=True, eq=False)
class Pool:
    """The greatest of each block of 2 x 2; an odd last row or column makes blocks of its own.

    out[y, x, c] = max of in[2y..2y+1, 2x..2x+1, c], as far as they exist
    """

    name: str


@dataclass(frozen=True, eq=False)
class Codebook:
    """The first eight bits of a place become one of a few codes.

    out[y, x] = code[sum over c < 8 of in[y, x, c] << c]

    code: (256,); code[0] is 0. The map put out has one channel.
    """

    name: str
    code: IntArray


@dataclass(frozen=True, eq=False)
class CodeSum:
    """Learned rows, one for each code at each place, summed.

    out[u] = wrap(bias[u] + sum over places p of table[p, in[p], u], sum_bits)

    table: (places, codes, units), table[:, 0] is 0; bias: (units,).
    """

    name: str
    sum_bits: int
    table: IntArray
    bias: IntArray


@dataclass(frozen=True, eq=False)
class Conv:
    """A convolution of 3 x 3: the same weighted sum at every stride-th place that its window fits into.

    out[y, x, u] = wrap(bias[u] + sum over dy, dx, c of weight[dy, dx, c, u] * in[sy + dy, sx + dx, c], sum_bits)

    where (sy, sx) = stride * (y, x).

    weight: (3, 3, channels, units); bias: (units,), with the batch normalisation folded in.
    """

    name: str
    sum_bits: int
    weight: IntArray
    bias: IntArray
    stride: int = 1


@dataclass(frozen=True, eq=False)
class Requant:
    """Few-level rectifier: a unit whose sum is negative is off, the others have a level.

    out[u] = clip(floor(in[u] / 2**shift) + 1, 0, levels)
    """

    name: str
    shift: int
    levels: int


@dataclass(frozen=True, eq=False)
class Steps:
    """Few-level activation with thresholds of its own for each unit: how many of them a sum reaches.

    out[y, x, u] = number of levels k with in[y, x, u] >= thresholds[k, u]

    thresholds: (levels, units), ascending for each unit; a batch normalisation is folded into them.
    """

    name: str
    thresholds: IntArray


@dataclass(frozen=True, eq=False)
class Dense:
    """Weighted sums of small activations.

    out[u] = wrap(bias[u] + sum over inputs i of weight[i, u] * in[i], sum_bits)

    weight: (inputs, units); bias: (units,).
    """

    name: str
    sum_bits: int
    weight: IntArray
    bias: IntArray


@dataclass(frozen=True, eq=False)
class Exit:
    """An early answer: the layers after this are only run where the scores leave a doubt.

    The gap is the greatest score minus the greatest of the others. If it is `gap` or more, the index of the greatest score is
    the answer, and the scores are the model's; else the next layer takes what `source` put out: a layer's name, or "picture".
    Put out is 1 where the answer is given, 0 where the layers after this are run.
    """

    name: str
    gap: int
    source: str


@dataclass(frozen=True, eq=False)
class Looks:
    """Further looks at the picture, each moved by a pixel: their scores are added to those of the looks before.

    out[u] = in[u] + sum over shifts (dy, dx) of scores_(dy, dx)[u]

    scores_(dy, dx) is what the layers from `again`, which takes the picture, to the one that gave `in` put out for the picture
    moved down by dy and right by dx: pixels that leave it are lost, and blank ones come in. If `in` is from further looks, they
    are the layers of these.

    shifts: one or more, of -1, 0 or 1 each.
    """

    name: str
    again: str
    shifts: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class ArgMax:
    """The index of the greatest score; of equal scores the first wins."""

    name: str


Layer = PatchSum | PatchConv | Pool | Codebook | CodeSum | Conv | Requant | Steps | Dense | Exit | Looks | ArgMax


def wrap(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Return values modulo 2**bits as two's complement numbers."""
    half = 1 << (bits - 1)
    return np.asarray((values + half) % (2 * half) - half, np.int64)
