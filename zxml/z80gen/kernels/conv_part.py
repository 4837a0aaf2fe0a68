"""What the kernels of convolutions have in common: their layers, and which positions they look at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zxml.ir import PATCH_SIDE, Conv, Pool, Requant, Steps
from zxml.z80gen.kernel import Part, Symbols, Values
from zxml.z80gen.kernels.bits import BITS, CHANNELS_A_BYTE, LEVELS, PLANES, bits_groups, read_bits

CELL_SIDE = 2  # Pool's blocks
MOST_STRIDE = 2
MOST_THRESHOLD = 127
NONE_BEFORE = -(2**31)  # less than any sum


@dataclass(frozen=True, eq=False)
class ConvPart:
    """A convolution with outputs like its inputs, pooled or not, or a band of its rows: names and shapes of its maps.

    activation: of its sums, bits or steps; step: the side of the cells that are pooled, 1 if none are; first: the band's first
    row of cells; band: what its labels end with.
    """

    conv: Conv
    activation: Requant | Steps
    source: str
    output: str
    inputs: tuple[int, int, int]
    positions: tuple[int, int, int]
    outputs: tuple[int, int, int]
    step: int
    first: int = 0
    band: str = ""

    @property
    def first_input(self) -> int:
        """The first row of the map that the band sees."""
        return self.stride * self.first_position

    @property
    def first_position(self) -> int:
        """The band's first row of positions."""
        return self.step * self.first

    @property
    def stride(self) -> int:
        """Places from one position to the next."""
        return self.conv.stride

    @property
    def groups(self) -> int:
        """The groups of a place that comes in."""
        return bits_groups(self.inputs[2])

    @property
    def levels(self) -> int:
        """The greatest value, which is the bytes of a group."""
        return LEVELS[PLANES if isinstance(self.activation, Steps) else BITS]

    @property
    def place_nbytes(self) -> int:
        """The bytes of a place that comes in."""
        return self.groups * self.levels

    @property
    def units(self) -> int:
        """The units of the convolution."""
        return self.positions[2]


def conv_part(part: Part) -> ConvPart:
    """Return what a part of (Conv, Requant) or (Conv, Steps), and a Pool or none, computes."""
    conv, activation = part.layers[:2]
    assert isinstance(conv, Conv)
    assert isinstance(activation, Requant | Steps)
    rows, cols, channels = part.shape
    step = CELL_SIDE if isinstance(part.layers[-1], Pool) else 1
    down, across = ((side - PATCH_SIDE) // conv.stride + 1 for side in (rows, cols))
    positions = down, across, len(conv.bias)
    outputs = -(-positions[0] // step), -(-positions[1] // step), positions[2]
    source = part.before.name if part.before else ""
    return ConvPart(conv, activation, source, part.layers[-1].name, (rows, cols, channels), positions, outputs, step)


def split_rows(conv: ConvPart, count: int) -> list[ConvPart]:
    """Return a convolution as at most `count` bands of rows, the last of which may be lower than the others."""
    height = -(-conv.outputs[0] // count)
    bands = []
    for number, first in enumerate(range(0, conv.outputs[0], height), 1):
        cells = min(height, conv.outputs[0] - first)
        positions = min(conv.step * cells, conv.positions[0] - conv.step * first)
        inputs = conv.stride * (positions - 1) + PATCH_SIDE
        bands.append(
            replace(
                conv,
                inputs=(inputs, *conv.inputs[1:]),
                positions=(positions, *conv.positions[1:]),
                outputs=(cells, *conv.outputs[1:]),
                first=first,
                band=f"_band{number}" if number > 1 else "",
            )
        )
    return bands


def reject_conv(part: Part) -> str | None:
    """Return why no kernel of convolutions on maps of bits, or of planes, can compute the part, or None."""
    parts = conv_part(part)
    conv = parts.conv
    if conv.sum_bits != CHANNELS_A_BYTE:
        return f"sums are 8 bits wide, not {conv.sum_bits}"
    reason = _reject_activation(parts.activation)
    if reason:
        return reason
    if part.inputs.lo < 0 or part.inputs.hi > parts.levels:
        return f"takes {f'values up to {parts.levels}' if parts.levels > 1 else 'bits'}, not values in {part.inputs}"
    if conv.stride > MOST_STRIDE:
        return f"steps over at most {MOST_STRIDE} places, not {conv.stride}"
    if len(conv.bias) % CHANNELS_A_BYTE:
        return f"eight units a byte: a multiple of 8, not {len(conv.bias)}"
    return None


def _reject_activation(activation: Requant | Steps) -> str | None:
    if isinstance(activation, Requant):
        return None if activation.levels == 1 else f"puts out one bit a unit, not {activation.levels} levels"
    steps = activation.thresholds
    if len(steps) != LEVELS[PLANES]:
        return f"puts out {LEVELS[PLANES]} levels, not {len(steps)}"
    if steps[0].any() or steps[1].min() < 0 or steps[1].max() > MOST_THRESHOLD:
        return f"thresholds are 0 and at most {MOST_THRESHOLD}, not in [{steps.min()}, {steps.max()}]"
    return None


def pack_groups(inputs: Values, levels: int = 1) -> Values:
    """Return values (n, rows, cols, channels) from 0 to `levels` as bytes (n, rows, cols, groups x levels)."""
    planes = [np.packbits(inputs >= level, axis=3, bitorder="little") for level in range(1, levels + 1)]
    return np.stack(planes, axis=4).reshape(*inputs.shape[:3], -1).astype(np.int64)


def evaluated(sums: Values, step: int) -> NDArray[np.bool_]:
    """Tell which positions of sums (n, rows, cols, units) are looked at: none in a cell after one that is not negative."""
    looked = greatest_before((sums >= 0).astype(np.int64), step) <= 0
    return np.asarray(looked)


def greatest_before(values: Values, step: int) -> Values:
    """Return the greatest of the values (n, rows, cols, units) of each position's cell before it, NONE_BEFORE at the first."""
    if step == 1:
        return np.full(values.shape, NONE_BEFORE)
    n, rows, cols, units = values.shape
    padded = np.pad(values, ((0, 0), (0, rows % step), (0, cols % step), (0, 0)), constant_values=NONE_BEFORE)
    cells = padded.reshape(n, padded.shape[1] // step, step, padded.shape[2] // step, step, units).transpose(0, 1, 3, 5, 2, 4)
    order = cells.reshape(*cells.shape[:4], step * step)  # (n, cell rows, cell cols, units, positions)
    before = np.full(order.shape, NONE_BEFORE)
    before[..., 1:] = np.maximum.accumulate(order, axis=4)[..., :-1]
    back = before.reshape(cells.shape).transpose(0, 1, 4, 2, 5, 3).reshape(padded.shape)
    return np.asarray(back[:, :rows, :cols])


def last_of_cell(rows: int, cols: int, step: int) -> NDArray[np.bool_]:
    """Tell which positions are their cell's last, (rows, cols)."""
    y, x = np.mgrid[0:rows, 0:cols]
    return np.asarray(((y % step == step - 1) | (y == rows - 1)) & ((x % step == step - 1) | (x == cols - 1)))


def first_of_several(rows: int, cols: int, step: int) -> NDArray[np.bool_]:
    """Tell which positions are the first of a cell that has more, (rows, cols)."""
    y, x = np.mgrid[0:rows, 0:cols]
    return np.asarray((y % step == 0) & (x % step == 0) & ~last_of_cell(rows, cols, step))


def total(values: NDArray[np.int64] | NDArray[np.bool_]) -> Values:
    """Return the sum of everything that each picture has, (n,)."""
    return np.asarray(values.reshape(len(values), -1).sum(axis=1), np.int64)


def read_conv(memory: bytes, symbols: Symbols, part: Part) -> Values:
    """Return a convolution's output map, (rows, cols, channels), from 64K of memory."""
    conv = conv_part(part)
    return read_bits(memory, symbols, conv.output, conv.outputs, conv.levels)
