"""edge_sum: a layer of weighted pixels and its activations, from the edges of the picture's runs.

The picture is compiled into code once (asm/kernel/edge_code.asm), which then runs once a unit (asm/kernel/edge_sum.asm).

Limits: single pixels and sums of 8 bits; 20 columns from column 4, an even number of rows up to 24; 64 units.

Source: prefix sums (summed-area tables in one dimension), F. Crow, SIGGRAPH 1984; code made at run time, an old habit here.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from zxml.ir import PatchSum, Requant
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call, table
from zxml.z80gen.kernels.active_units import LEVEL_PAGE_NBYTES, full_sum, level_offset, level_page, read_levels, reject_levels
from zxml.z80gen.kernels.dense_sum import count_slots, held_levels, slots_a_unit
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES = 132  # edge_code
SUM_NBYTES, FULL_NBYTES = 46, 22  # edge_sum without its lines, and what it needs more for two slots a unit
COLS, LEFT = 20, 4  # the window's columns: half a byte and two bytes
FIRST_PAGE = 0x80
PICTURE_ROW_NBYTES = 4


def _parts(part: Part) -> tuple[PatchSum, Requant]:
    sums, levels = part.layers
    assert isinstance(sums, PatchSum)
    assert isinstance(levels, Requant)
    return sums, levels


def _fits(part: Part) -> str | None:
    layer, requant = _parts(part)
    window, units = layer.window, len(layer.bias)
    if (layer.patch_rows, layer.patch_cols) != (1, 1) or layer.table[:, 0].any():
        return "sums the weights of single set pixels"
    if layer.sum_bits != 8:
        return f"sums are 8 bits wide, not {layer.sum_bits}"
    if (window.left, window.cols) != (LEFT, COLS) or window.rows % 2 or not 2 <= window.rows <= 24:
        return f"the window must have {COLS} columns from column {LEFT} and an even number of rows up to 24, got {window}"
    if 2 * units > 256 - FIRST_PAGE:
        return f"two pages a unit: at most {(256 - FIRST_PAGE) // 2} units, not {units}"
    return reject_levels(requant, units)


def _full_sum(part: Part) -> int:
    """Return the least sum whose unit takes two slots, 0 if none does."""
    layer, requant = _parts(part)
    return full_sum(requant, len(layer.bias))


def _line_slots(part: Part) -> int:
    return _parts(part)[0].window.rows // 2 * COLS  # every pixel may differ from the one before it


def _bias_position(part: Part) -> int:
    return _parts(part)[0].window.rows // 2 * COLS + 1


def _code_nbytes(part: Part) -> int:
    return SUM_NBYTES + 2 * 3 * _line_slots(part) + (FULL_NBYTES if _full_sum(part) else 0)


def _cost(batch: int, part: Part) -> Cost:
    layer, requant = _parts(part)
    rows, units = layer.window.rows, len(layer.bias)
    nbytes = CODE_NBYTES + _code_nbytes(part) + 512 * units + LEVEL_PAGE_NBYTES + 256
    terms = (
        Term("edge in pixels 0 to 3", 68 + 14 * units, 4 * rows),
        Term("edge in pixels 4 to 19", 75 + 14 * units, 16 * rows),
        Term("group of 4 or 8 pixels with an edge", -6, 3 * rows),
        Term("run that ends at the border", 35 + 14 * units, 0),  # each stands for an edge that cannot be elsewhere
        Term("active unit", 79 if _full_sum(part) else 60, units),
        Term("unit of two slots", 55, units if _full_sum(part) else 0),
        Term("full batch", 24, units * slots_a_unit(units, requant.levels) // batch),
    )
    return Cost(nbytes, 227 + 209 * rows + 62 + 66 * units, terms)


def _count(batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    window = _parts(part)[0].window
    pixels = inputs[:, window.top : window.top + window.rows, LEFT : LEFT + COLS]
    edges = np.diff(pixels, axis=2, prepend=0) != 0  # (n, rows, 20) pixels that differ from the one before
    groups = [edges[:, :, start:stop] for start, stop in ((0, 4), (4, 12), (12, 20))]
    active, slots = (outputs[-1] > 0).sum(axis=1), count_slots(outputs[-1], _parts(part)[1].levels)
    return {
        "edge in pixels 0 to 3": _total(groups[0]),
        "edge in pixels 4 to 19": _total(edges) - _total(groups[0]),
        "group of 4 or 8 pixels with an edge": sum((_total(group.any(axis=2)) for group in groups), np.int64(0)),
        "run that ends at the border": _total(pixels[:, :, -1] != 0),
        "active unit": active,
        "unit of two slots": slots - active,
        "full batch": slots // batch,
    }


def _total(flags: NDArray[np.bool_]) -> Values:
    return np.asarray(flags.reshape(len(flags), -1).sum(axis=1), np.int64)


def _constants(part: Part) -> dict[str, int]:
    layer, requant = _parts(part)
    units = len(layer.bias)
    return {
        "EDGE_END": (layer.window.top + layer.window.rows - 1) * PICTURE_ROW_NBYTES + 2,
        "EDGE_HALF_ROWS": layer.window.rows // 2,
        "EDGE_LAST_ROW": ((layer.window.rows // 2 - 1) * COLS - LEFT) % 256,
        "EDGE_BIAS": _bias_position(part),
        "EDGE_FULL_SUM": _full_sum(part),
        "EDGE_FULL_INDEX": level_offset(held_levels(units, requant.levels), units) if _full_sum(part) else 0,
        "EDGE_LAST_PAGE": FIRST_PAGE + 2 * len(layer.bias) - 1,
    }


def _line(part: Part) -> str:
    writer = AsmWriter()
    writer.comment("slots: ld l, 0 / sub (hl) and ld l, 0 / add a, (hl) in turn; a row of the picture a line")
    for row in range(_line_slots(part) // COLS):
        writer.data([0x2E, 0, 0x96, 0x2E, 0, 0x86] * (COLS // 2), f"row {row}", width=15)
    return writer.text()


def _column_page() -> str:
    writer = AsmWriter()
    writer.label("edge_column_page", "the column, 0..7 from the left, of the lowest set bit of each byte")
    writer.data([0] + [8 - (byte & -byte).bit_length() for byte in range(1, 256)])
    return writer.text()


def _level_page(part: Part) -> str:
    layer, requant = _parts(part)
    return level_page("edge_level_page", requant, len(layer.bias))


def _weight_pages(part: Part) -> str:
    layer, _ = _parts(part)
    half = layer.window.rows // 2
    rows = layer.table[:, 1].reshape(2, half, COLS, -1)  # (half, row, column, unit)
    writer = AsmWriter()
    writer.label("edge_weight_page")
    for unit, bias in enumerate(layer.bias):
        for which, name in ((1, "lower"), (0, "upper")):
            writer.comment(f"unit {unit}, {name} half: sums of the weights before each pixel")
            sums = np.concatenate([[0], np.cumsum(rows[which, :, :, unit])])
            for row in range(half):
                writer.data(sums[row * COLS : (row + 1) * COLS], width=COLS // 2)
            writer.data([sums[-1], bias if which == 0 else 0], "the whole half; bias" if which == 0 else "the whole half")
            writer.op(f"defs {256 - half * COLS - 2}")
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    units = len(_parts(part)[0].bias)
    return (
        table("edge_weight_page", 512 * units, partial(_weight_pages, part), Place.FAST, at=FIRST_PAGE * 256),
        Section("kernel/edge_sum", _code_nbytes(part), Place.FAST, generated={"edge_line": partial(_line, part)}),
        Section("kernel/edge_code", CODE_NBYTES, Place.FAST),
        table("edge_level_page", LEVEL_PAGE_NBYTES, partial(_level_page, part)),
        table("edge_column_page", 256, _column_page),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_levels(memory, symbols, len(_parts(part)[0].bias))


def edge_sum(batch: int) -> Kernel:
    """Return the kernel that leaves its active units in batches of this many."""
    return Kernel(
        name=f"edge_sum_{batch}",
        kinds=(PatchSum, Requant),
        takes="picture",
        gives=f"line of batches of {batch}",
        calls=call("edge_code", "edge_sum"),
        fits=_fits,
        cost=partial(_cost, batch),
        count=partial(_count, batch),
        constants=_constants,
        sections=_sections,
        read=_read,
    )
