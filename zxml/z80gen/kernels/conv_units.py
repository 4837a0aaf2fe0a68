"""What convolutions with compiled lines have in common: the units, one by one, the code that runs the lines, and counts.

The code of a layer calls the lines of each position and shifts the bits of each cell of the output, inverted, into bytes. Where
the layer is pooled, it goes through the positions of a cell until one is of the highest level. Sums of values of 0 to 2 have
SIGN more, so that they are unsigned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from zxml.ir import PATCH_SIDE, Conv, Pool, Steps
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Section, Values
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PLANES
from zxml.z80gen.kernels.conv_part import (
    NONE_BEFORE,
    ConvPart,
    conv_part,
    evaluated,
    first_of_several,
    greatest_before,
    last_of_cell,
    read_conv,
    reject_conv,
    total,
)
from zxml.z80gen.kernels.packing import Packing
from zxml.z80gen.kernels.planes_form import hand_written, planes_form
from zxml.z80gen.writer import AsmWriter

SIGN = 128
MOST_CHANNELS, MOST_CELLS = 64, 255
Position = Callable[[AsmWriter, ConvPart, int, int], None]  # writes the code of a position (y, x)


def reject_packed(packing: Packing, part: Part) -> str | None:
    """Return why neither kernel can compute the part with weights packed in this way, or None."""
    reason = reject_conv(part)
    if reason:
        return reason
    conv = conv_part(part)
    if conv.inputs[2] > MOST_CHANNELS:
        return f"has tables for {MOST_CHANNELS} channels, not {conv.inputs[2]}"
    weight = conv.conv.weight
    if weight.min() < packing.least or weight.max() > packing.most:
        return f"packs weights in [{packing.least}, {packing.most}], not [{weight.min()}, {weight.max()}]"
    if conv.outputs[0] * conv.outputs[1] > MOST_CELLS:
        return f"counts {MOST_CELLS} places of the output, not {conv.outputs[0]} x {conv.outputs[1]}"
    return None


def ternary_kernels(
    name: str,
    calls: Callable[[Part], tuple[str, ...]],
    fits: Callable[[Part], str | None],
    cost: Callable[[Part], Cost],
    count: Callable[[Part, Values, list[Values]], Counts],
    sections: Callable[[Part], tuple[Section, ...]],
) -> tuple[Kernel, Kernel]:
    """Return two kernels of convolutions on planes that are nearly the same: the second pools what it puts out."""
    plain = Kernel(
        name=name,
        kinds=(Conv, Steps),
        takes=PLANES,
        gives=PLANES,
        calls=calls,
        fits=fits,
        cost=cost,
        count=count,
        constants=lambda part: {},
        sections=sections,
        read=read_conv,
    )
    return plain, replace(plain, name=f"{name}_pool", kinds=(Conv, Steps, Pool))


def units_text(form: str) -> str:
    """Return the hand-written code of the units, with labels that begin with `form`, for bits or for planes."""
    source, name = "kernel/conv_expand_units", "conv_expand"
    return hand_written(source) if form == name else planes_form(source, name, form)


def label_of(conv: ConvPart, role: str) -> str:
    """Return a label of the layer's own, or of its band's."""
    return f"{conv.conv.name}_{role}{conv.band}"


def rows_seen(conv: ConvPart) -> int:
    """Return the rows of the map that windows cover."""
    return conv.stride * (conv.positions[0] - 1) + PATCH_SIDE


def run_nbytes(conv: ConvPart, position: int) -> int:
    """Return the bytes of a layer's own code, of which each position's calls take so many."""
    positions, cells = conv.positions[0] * conv.positions[1], conv.outputs[0] * conv.outputs[1]
    if conv.levels == 1:
        return positions * position + 4 * (positions - cells) + 6 * cells + 1
    if conv.step == 1:
        return positions * position + 10 * cells + 3
    several = int(first_of_several(*conv.positions[:2], conv.step).sum())
    return positions * position + 8 * (positions - cells) + several + 11 * cells + 1


def units_tstates(conv: ConvPart, unpacking: int) -> int:
    """Return the T-states of all units without their positions, where a unit's weights take so many to be unpacked."""
    cells, planes = conv.outputs[0] * conv.outputs[1], conv.levels > 1
    cell = (57 if conv.step > 1 else 54) if planes else 29
    unit = 155 + unpacking + cell * cells + 13 * planes + 7 * (planes and conv.step == 1)
    eight = 137 + CHANNELS_A_BYTE * unit + (85 if planes else 55) * cells + 6 * planes
    return eight * conv.units // CHANNELS_A_BYTE - 5


def position_terms(conv: ConvPart, tstates: int) -> tuple[Term, ...]:
    """Return the terms of the positions that units look at, whose calls take so many T-states."""
    pooled = conv.step > 1
    most = conv.positions[0] * conv.positions[1] * conv.units
    terms = (
        Term("position of a unit looked at", tstates + 14 * pooled, most),
        Term("last position of a cell of a unit looked at", -14 * pooled, most),
    )
    return (*terms, *_pool_terms(conv)) if pooled and conv.levels > 1 else terms


def _pool_terms(conv: ConvPart) -> tuple[Term, ...]:
    """Return the terms of choosing the greatest of each cell's sums."""
    cells = int(first_of_several(*conv.positions[:2], conv.step).sum()) * conv.units
    later = conv.positions[0] * conv.positions[1] * conv.units
    return (
        Term("first sum of several that is not of the highest level", 4, cells),
        Term("sum compared with the greatest before it", 15, later),
        Term("jump after that", 1, later),
    )


def position_counts(conv: ConvPart, sums: Values, slots: Values) -> Counts:
    """Return how often `position_terms` come, and the slots run.

    sums: (n, rows, cols, units); slots: of each position's lines, (n, rows, cols).
    """
    rows, cols, _ = conv.positions
    looks = evaluated(sums - _highest(conv), conv.step)
    looked = looks.sum(axis=3)
    return {
        "slot run": total(slots * looked),
        "position of a unit looked at": total(looked),
        "last position of a cell of a unit looked at": total(looked * last_of_cell(rows, cols, conv.step)),
        **(_pool_counts(conv, sums, looks) if conv.step > 1 and conv.levels > 1 else {}),
    }


def _highest(conv: ConvPart) -> Values:
    """Return the least sum of each unit that is of the highest level, (units,)."""
    steps = conv.activation.thresholds if isinstance(conv.activation, Steps) else np.zeros((1, conv.units))
    return np.asarray(steps[-1], np.int64)


def _pool_counts(conv: ConvPart, sums: Values, looks: NDArray[np.bool_]) -> dict[str, Values]:
    """Return how often `_pool_terms` come; sums, looks: (n, rows, cols, units), and whether they are looked at."""
    rows, cols, _ = conv.positions
    first, last = (which(rows, cols, conv.step)[:, :, None] for which in (first_of_several, last_of_cell))
    before = greatest_before(sums, conv.step)
    goes_on = looks & ~last & (sums < _highest(conv))
    compared = (before != NONE_BEFORE) & np.where(last, looks, goes_on)
    jumps = compared & np.where(last, sums >= before, sums < before)
    return dict(zip((term.name for term in _pool_terms(conv)), map(total, (goes_on & first, compared, jumps)), strict=True))


def write_run(conv: ConvPart, position: Position) -> str:
    """Return the layer's own code; position: writes the calls of a position."""
    writer = AsmWriter()
    writer.comment("the sums of a unit, from its bias c and the first page of its tables d, and each cell's bits, inverted")
    writer.label(label_of(conv, "run"))
    rows, cols, _ = conv.outputs
    if conv.levels > 1 and conv.step == 1:
        writer.op(f"ld   b, {SIGN}")
    for cell in range(rows * cols):
        _write_cell(writer, conv, cell, position)
    writer.op("ret")
    return writer.text()


def _write_cell(writer: AsmWriter, conv: ConvPart, cell: int, position: Position) -> None:
    """Write the positions of a cell, the first of the highest level being the last, and what shifts its bits into bytes."""
    (rows, cols, _), done = conv.positions, f"{label_of(conv, 'cell')}_{cell}"
    cell_y, cell_x = (conv.step * place for place in divmod(cell, conv.outputs[1]))
    down, across = range(cell_y, min(rows, cell_y + conv.step)), range(cell_x, min(cols, cell_x + conv.step))
    places = list(product(down, across))
    for number, (y, x) in enumerate(places):
        position(writer, conv, y, x)
        if conv.levels == 1:
            _ops(writer, *(("or   a", f"jp   p, {done}") if (y, x) != places[-1] else ()))
        elif len(places) > 1:
            _write_greatest(writer, number, len(places), done)
    writer.label(done)
    if conv.levels == 1:
        _ops(writer, "rla", f"ld   hl, conv_cell + {cell}", "rr   (hl)")
    else:
        on = "cp   b" if conv.step == 1 else f"cp   {SIGN}"
        _ops(writer, f"ld   hl, conv_cell + {2 * cell}", on, "rr   (hl)", "inc  hl", "cp   e", "rr   (hl)")


def _write_greatest(writer: AsmWriter, number: int, count: int, done: str) -> None:
    """Write what follows a position of this number of a cell: b = the greatest sum so far, after the last position a."""
    if number == count - 1:
        _ops(writer, "cp   b", f"jr   nc, {done}", "ld   a, b")
        return
    _ops(writer, "cp   e", f"jp   nc, {done}")
    if number:
        _ops(writer, "cp   b", f"jr   c, {done}_{number}")
    writer.op("ld   b, a")
    if number:
        writer.label(f"{done}_{number}")


def _ops(writer: AsmWriter, *ops: str) -> None:
    for op in ops:
        writer.op(op)


def write_weights(packing: Packing, conv: ConvPart) -> str:
    """Return the records of the units: bias, the weights of each place of the window packed, the second threshold if any."""
    writer = AsmWriter()
    writer.label(label_of(conv, "weight"), "bias, then packed weights; a line holds those of a place of the window")
    groups = -(-conv.groups * CHANNELS_A_BYTE // packing.together)
    weight = np.zeros((PATCH_SIDE**2, groups * packing.together, conv.units), np.int64)
    weight[:, : conv.inputs[2]] = conv.conv.weight.reshape(PATCH_SIDE**2, conv.inputs[2], conv.units)
    for unit, bias in enumerate(conv.conv.bias):
        writer.comment(f"unit {unit}")
        writer.data([bias + (SIGN if conv.levels > 1 else 0)])
        for weights in weight[:, :, unit]:
            writer.data(packing.pack(weights.reshape(-1, packing.together)))
        if conv.levels > 1:
            writer.data([_highest(conv)[unit] + SIGN], "the second threshold")
    return writer.text()
