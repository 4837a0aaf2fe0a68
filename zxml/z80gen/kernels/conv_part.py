"""What the kernels of convolutions have in common: their layers, and which positions they look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.ir import PATCH_SIDE, Conv, Pool, Requant
from zxml.z80gen.kernel import Part, Symbols, Values
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, bits_groups, read_bits

CELL_SIDE = 2  # Pool's blocks
MOST_STRIDE = 2


@dataclass(frozen=True, eq=False)
class ConvPart:
    """A convolution with one-bit outputs, pooled or not: names of its input and output, shapes of its maps."""

    conv: Conv
    source: str
    output: str
    inputs: tuple[int, int, int]
    positions: tuple[int, int, int]
    outputs: tuple[int, int, int]
    step: int

    @property
    def stride(self) -> int:
        """Places from one position to the next."""
        return self.conv.stride

    @property
    def groups(self) -> int:
        """The bytes of a place that comes in."""
        return bits_groups(self.inputs[2])

    @property
    def units(self) -> int:
        """The units of the convolution."""
        return self.positions[2]


def conv_part(part: Part) -> ConvPart:
    """Return what a part of (Conv, Requant) or (Conv, Requant, Pool) computes."""
    conv = part.layers[0]
    assert isinstance(conv, Conv)
    rows, cols, channels = part.shape
    step = CELL_SIDE if isinstance(part.layers[-1], Pool) else 1
    down, across = ((side - PATCH_SIDE) // conv.stride + 1 for side in (rows, cols))
    positions = down, across, len(conv.bias)
    outputs = -(-positions[0] // step), -(-positions[1] // step), positions[2]
    source = part.before.name if part.before else ""
    return ConvPart(conv, source, part.layers[-1].name, (rows, cols, channels), positions, outputs, step)


def reject_conv(part: Part) -> str | None:
    """Return why no kernel of one-bit convolutions can compute the part, or None."""
    conv, requant = part.layers[0], part.layers[1]
    assert isinstance(conv, Conv)
    assert isinstance(requant, Requant)
    if conv.sum_bits != CHANNELS_A_BYTE:
        return f"sums are 8 bits wide, not {conv.sum_bits}"
    if requant.levels != 1:
        return f"puts out one bit a unit, not {requant.levels} levels"
    if part.inputs.lo < 0 or part.inputs.hi > 1:
        return f"takes bits, not values in {part.inputs}"
    if conv.stride > MOST_STRIDE:
        return f"steps over at most {MOST_STRIDE} places, not {conv.stride}"
    if len(conv.bias) % CHANNELS_A_BYTE:
        return f"eight units a byte: a multiple of 8, not {len(conv.bias)}"
    return None


def pack_groups(inputs: Values) -> Values:
    """Return bits (n, rows, cols, channels) as bytes (n, rows, cols, groups)."""
    return np.packbits(inputs.astype(np.uint8), axis=3, bitorder="little").astype(np.int64)


def evaluated(sums: Values, step: int) -> NDArray[np.bool_]:
    """Tell which positions of sums (n, rows, cols, units) are looked at: none in a cell after one that is not negative."""
    if step == 1:
        return np.ones(sums.shape, np.bool_)
    n, rows, cols, units = sums.shape
    on = np.pad(sums >= 0, ((0, 0), (0, rows % step), (0, cols % step), (0, 0)))
    cells = on.reshape(n, on.shape[1] // step, step, on.shape[2] // step, step, units).transpose(0, 1, 3, 5, 2, 4)
    order = cells.reshape(*cells.shape[:4], step * step)  # (n, cell rows, cell cols, units, positions)
    before = np.logical_or.accumulate(order, axis=4)[..., :-1]
    looked = np.concatenate([np.ones((*order.shape[:4], 1), np.bool_), ~before], axis=4)
    back = looked.reshape(cells.shape).transpose(0, 1, 4, 2, 5, 3).reshape(on.shape)
    return np.asarray(back[:, :rows, :cols])


def last_of_cell(rows: int, cols: int, step: int) -> NDArray[np.bool_]:
    """Tell which positions are their cell's last, (rows, cols)."""
    y, x = np.mgrid[0:rows, 0:cols]
    return np.asarray(((y % step == step - 1) | (y == rows - 1)) & ((x % step == step - 1) | (x == cols - 1)))


def total(values: NDArray[np.int64] | NDArray[np.bool_]) -> Values:
    """Return the sum of everything that each picture has, (n,)."""
    return np.asarray(values.reshape(len(values), -1).sum(axis=1), np.int64)


def read_conv(memory: bytes, symbols: Symbols, part: Part) -> Values:
    """Return a convolution's output map, (rows, cols, channels), from 64K of memory."""
    conv = conv_part(part)
    return read_bits(memory, symbols, conv.output, conv.outputs)
