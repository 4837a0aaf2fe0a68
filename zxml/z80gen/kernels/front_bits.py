"""front_bits: features of 3 x 3 pixels, pooled by OR, eight a byte; 512 bytes of table for each byte of a place, and a page.

A cell is two columns of the four rows that a row of places sees; a place is two cells. Its windows' patterns, a column in three
bits, are the last columns' pattern moved on by a column: a page gives the column of a cell, and the bit that falls out chooses
the page of the table. Places without a pixel are passed over. The code is generated for its window (`front_cells`). Features of
0 to 2 are planes (front_planes), whose OR is the greatest. Limits: 8, 16, 24 or 32 features of a bit, 8 or 16 of 0 to 2, none
on a blank window; any window of an even number of rows and columns.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE, PatchConv, Pool
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.bits import (
    BITS,
    CHANNELS_A_BYTE,
    LEVELS,
    PLANES,
    bits_groups,
    bits_label,
    bits_section,
    buffer_section,
    read_bits,
)
from zxml.z80gen.kernels.conv_part import pack_groups
from zxml.z80gen.kernels.front_cells import BUFFER_NBYTES, FrontCells, front_cells
from zxml.z80gen.writer import AsmWriter

PATTERNS, PAGE = 512, 256
MOST_NBYTES, LEAST_SIDE = 4, 6  # of a place, of a window


def _parts(part: Part) -> tuple[PatchConv, Pool]:
    conv, pool = part.layers
    assert isinstance(conv, PatchConv)
    assert isinstance(pool, Pool)
    return conv, pool


def _map_shape(part: Part) -> tuple[int, int, int]:
    conv, _ = _parts(part)
    return (conv.window.rows - 2) // 2, (conv.window.cols - 2) // 2, conv.table.shape[1]


def _fits(levels: int, part: Part) -> str | None:
    conv, _ = _parts(part)
    filters, window = conv.table.shape[1], conv.window
    sizes = [CHANNELS_A_BYTE * groups for groups in range(1, MOST_NBYTES // levels + 1)]
    if filters not in sizes:
        return f"computes {', '.join(map(str, sizes[:-1]))} or {sizes[-1]} features, not {filters}"
    if conv.table.min() < 0 or conv.table.max() > levels:
        return f"features are 0 to {levels}" if levels > 1 else "features are bits"
    if conv.table[0].any():
        return "passes over blank windows, so they may have no features"
    if window.rows % 2 or window.cols % 2 or min(window.rows, window.cols) < LEAST_SIDE:
        return f"the window must have an even number of rows and columns, {LEAST_SIDE} or more, got {window}"
    return None


def _label(part: Part, role: str) -> str:
    return f"{_parts(part)[0].name}_{role}"


def _calls(part: Part) -> tuple[str, ...]:
    return (f"call {_label(part, 'features')}",)


def _place_nbytes(levels: int, part: Part) -> int:
    return bits_groups(_parts(part)[0].table.shape[1]) * levels


def _cells(levels: int, part: Part) -> FrontCells:
    conv, pool = _parts(part)
    nbytes = _place_nbytes(levels, part)
    return front_cells(conv.window, nbytes, _label(part, "features"), _label(part, "page"), bits_label(pool.name))


def _cost(levels: int, part: Part) -> Cost:
    cells = _cells(levels, part)
    terms = (
        Term("byte of two rows with a pixel", cells.byte_tstates, cells.pairs * cells.nbytes_a_row),
        Term("place with a pixel", cells.place_tstates, cells.rows * cells.cols),
        Term("blank place before one with a pixel or the end of a row", 5, cells.rows * ((cells.cols + 1) // 2)),
        Term("row that begins with a pixel", cells.begin_tstates, cells.rows),
    )
    return Cost(sum(section.nbytes for section in _sections(levels, part)), cells.blank_tstates, terms)


def _count(levels: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    cells, window = _cells(levels, part), _parts(part)[0].window
    rows = np.pad(inputs[:, window.top : window.top + window.rows] != 0, ((0, 0), (0, 0), (0, CHANNELS_A_BYTE)))
    pairs = np.asarray(rows.reshape(len(rows), cells.pairs, 2, -1).any(axis=2))  # (n, pairs of rows, 36)
    start = CHANNELS_A_BYTE * cells.start + cells.shifted
    seen = pairs[:, :, start : start + CHANNELS_A_BYTE * cells.nbytes_a_row]
    in_bytes = np.asarray(seen.reshape(*seen.shape[:2], -1, CHANNELS_A_BYTE).any(axis=3))
    begin = start + 2 * cells.first
    columns = (pairs[:, :-1] | pairs[:, 1:])[:, :, begin : begin + 2 * cells.cols + 2]
    filled = np.asarray(columns.reshape(*columns.shape[:2], -1, 2).any(axis=3))  # (n, rows of places, cells)
    places = np.asarray(filled[:, :, :-1] | filled[:, :, 1:])
    after = np.pad(places[:, :, 1:], ((0, 0), (0, 0), (0, 1)), constant_values=True)
    return {
        "byte of two rows with a pixel": in_bytes.sum(axis=(1, 2)),
        "place with a pixel": places.sum(axis=(1, 2)),
        "blank place before one with a pixel or the end of a row": (~places & after).sum(axis=(1, 2)),
        "row that begins with a pixel": filled[:, :, 0].sum(axis=1),
    }


def _constants(part: Part) -> dict[str, int]:
    return {}


def _columns() -> str:
    """Return for each cell, the upper row's left pixel in bit 7, the left column of its upper three rows as a number."""
    writer = AsmWriter()
    writer.label("front_bits_column_page", "the left column of the upper three rows of each cell")
    writer.data([(cell >> 7 & 1) << 2 | (cell >> 5 & 1) << 1 | cell >> 3 & 1 for cell in range(PAGE)])
    return writer.text()


def column_patterns() -> Values:
    """Return for each three columns of three pixels, the last column in the lowest bits, the pattern's number, (512,)."""
    index = np.arange(PATTERNS)
    patterns = np.zeros_like(index)
    for row in range(PATCH_SIDE):
        for column in range(PATCH_SIDE):
            bit = PATCH_SIDE * (PATCH_SIDE - 1 - column) + PATCH_SIDE - 1 - row
            patterns |= (index >> bit & 1) << (PATCH_SIDE * row + column)
    return patterns


def _tables(levels: int, conv: PatchConv, label: str) -> str:
    features = pack_groups(conv.table[column_patterns()][None, None].astype(np.int64), levels)[0, 0]  # (512, bytes of a place)
    writer = AsmWriter()
    writer.label(label, "features of each three columns, the last in the lowest bits")
    for number, values in enumerate(features.T):
        first = CHANNELS_A_BYTE * (number // levels)
        least = f" of {number % levels + 1} or more" if levels > 1 else ""
        writer.comment(f"features {first} to {first + CHANNELS_A_BYTE - 1}{least}")
        writer.data(values)
    return writer.text()


def _sections(levels: int, part: Part) -> tuple[Section, ...]:
    conv, pool = _parts(part)
    cells, label = _cells(levels, part), _label(part, "page")
    return (
        bits_section(pool.name, _map_shape(part), levels),
        buffer_section("front_bits_cells", BUFFER_NBYTES, BUFFER_NBYTES),
        table(_label(part, "features"), cells.code_nbytes, cells.text, Place.FAST, align=1),
        table("front_bits_column_page", PAGE, _columns),
        table(label, PATTERNS * _place_nbytes(levels, part), partial(_tables, levels, conv, label), align=PATTERNS),
    )


def _read(levels: int, memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_bits(memory, symbols, _parts(part)[1].name, _map_shape(part), levels)


def front_bits(form: str) -> Kernel:
    """Return the kernel that leaves a map of this format."""
    levels = LEVELS[form]
    return Kernel(
        name=f"front_{form}",
        kinds=(PatchConv, Pool),
        takes="picture",
        gives=form,
        calls=_calls,
        fits=partial(_fits, levels),
        cost=partial(_cost, levels),
        count=partial(_count, levels),
        constants=_constants,
        sections=partial(_sections, levels),
        read=partial(_read, levels),
    )


FRONT_BITS, FRONT_PLANES = front_bits(BITS), front_bits(PLANES)
