"""front_codes: features of 3 x 3 pixels, pooled by OR, and their codes, in one pass; 4,096 bytes of look-ups for 8 features.

Each place looks at 4 x 4 pixels, as two look-ups of 3 rows x 4 columns: a table page for each pattern of the first row, in it a
byte for each pattern of the other two, with the features of both windows in it. A place keeps the patterns of the last two rows
in a byte, and `rld` puts a new row in and the oldest out (asm/kernel/front_codes.asm). Places that see no set pixel are passed
over. A map keeps the features only where a layer takes them. Limits: 8 features, none on a blank window; 20 columns from
column 4; an even number of rows up to 24.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product
from math import lcm

import numpy as np

from zxml.ir import PATCH_SIDE, Codebook, IntArray, PatchConv, Pool, Window
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call, table
from zxml.z80gen.kernels.bits import bits_label, bits_section
from zxml.z80gen.kernels.code_line import PAGE, CodeLine, code_line, operands
from zxml.z80gen.kernels.code_sum import read_codes
from zxml.z80gen.kernels.front_places import (
    CROSSES,
    KINDS,
    MIDDLE,
    PAGE_OF_ROW,
    ROW_NBYTES,
    WITHIN,
    write_keeping_place,
    write_place,
    write_places,
    write_rows,
)
from zxml.z80gen.writer import AsmWriter

NBYTES, KEEPING_NBYTES = 806, 866
FILTERS, COLS, LEFT = 8, 20, 4
TABLE_PAGES = 16


def _parts(part: Part) -> tuple[PatchConv, Pool, Codebook]:
    conv, pool, codes = part.layers
    assert isinstance(conv, PatchConv)
    assert isinstance(pool, Pool)
    assert isinstance(codes, Codebook)
    return conv, pool, codes


def _map_shape(part: Part) -> tuple[int, int, int]:
    window = _parts(part)[0].window
    return (window.rows - 2) // 2, (window.cols - 2) // 2, FILTERS


def _line(batch: int, part: Part) -> CodeLine:
    line = code_line(batch, _parts(part)[2], _map_shape(part))
    assert line is not None
    return line


def reject_window(window: Window) -> str | None:
    """Return why a window cannot be looked at, or None."""
    if (window.left, window.cols) != (LEFT, COLS) or window.rows % 2 or not 4 <= window.rows <= 24:
        return f"the window must have {COLS} columns from column {LEFT} and an even number of rows from 4 to 24, got {window}"
    return None


def _fits(batch: int, part: Part) -> str | None:
    conv, _, codes = _parts(part)
    if conv.table.shape[1] != FILTERS:
        return f"computes {FILTERS} features, not {conv.table.shape[1]}"
    if conv.table[0].any() or conv.table.min() < 0 or conv.table.max() > 1:
        return "features are bits, and none on a blank window"
    if codes.code.min() < 0 or codes.code[0]:
        return "codes are not negative, and 0 where there is no feature"
    if code_line(batch, codes, _map_shape(part)) is None:
        return f"codes up to {codes.code.max()} of a row of places have more look-ups than a page"
    return reject_window(conv.window)


def pack_patterns(conv_table: IntArray) -> Values:
    """Return the features of each 3 x 3 pattern as a byte, (512,)."""
    return np.asarray((conv_table.astype(np.int64) << np.arange(conv_table.shape[1])).sum(axis=1))


def pair_table(patterns: Values) -> Values:
    """Return the features of the two windows in 3 rows x 4 columns, (16, 256): by the first row, by the other two.

    A row's leftmost pixel is its bit 3; the second row is the high half of the byte.
    """
    index = np.arange(1 << 12)
    rows = [index >> shift & 15 for shift in (8, 4, 0)]
    features = np.zeros_like(index)
    for left in (0, 1):
        pattern = np.zeros_like(index)
        for number, (row, column) in enumerate(product(rows, range(PATCH_SIDE))):
            pattern |= (row >> (3 - left - column) & 1) << number
        features |= patterns[pattern]
    return features.reshape(TABLE_PAGES, PAGE)


def _cost(batch: int, keeps: bool, part: Part) -> Cost:
    line = _line(batch, part)
    nbytes = sum(section.nbytes for section in _sections(batch, keeps, part))
    pixel, code, cross = (144, 25, 28) if keeps else (154, 32, 26)
    middle = [
        Term("place in the middle of a row with a code", -7, line.rows),
        Term("place beside the middle with a code", -3, 2 * line.rows),
    ]
    terms = (
        Term("place with a pixel", pixel, line.places),
        Term("place with a code", code, line.places),
        *([] if keeps else middle),
        Term("place within a byte with a pixel in the first two rows", 67, len(WITHIN)),
        Term("place across bytes with a pixel", cross, 2 * line.rows),
        Term("place across bytes seen in the first of them alone", 22, 2 * line.rows),
    )
    inside, ends = _split_ends(line), line.pages - len(_split_ends(line))  # of pages within a row, and of those with one
    turns = 122 * ends + 56 * (ends - 1) + 2 * (ends > 1)
    splits = (27 * ends + 132 * len(inside) + (12 * len(_split_columns(line)) + 17 * len(inside)) * line.rows) if inside else 0
    return Cost(nbytes, 916 + (814 if keeps else 605) * line.rows + turns + splits, terms)


def _split_ends(line: CodeLine) -> list[int]:
    """Return the places, of the map, before which a page ends within a row."""
    return [end for end in range(line.slots, line.places, line.slots) if end % line.cols]


def _split_columns(line: CodeLine) -> set[int]:
    return {end % line.cols for end in _split_ends(line)}


def _count(batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    window = _parts(part)[0].window
    seen = inputs[:, window.top : window.top + window.rows, LEFT : LEFT + COLS]
    four_rows = [seen[:, 2 * y : 2 * y + 4] != 0 for y in range(_map_shape(part)[0])]
    quads = np.asarray(np.stack(four_rows, axis=1).any(axis=2))  # (n, rows, 20)
    places = np.stack([quads[:, :, 2 * x : 2 * x + 4].any(axis=2) for x in range(len(KINDS))], axis=2)
    first_rows = np.asarray(seen[:, :2].any(axis=1))  # (n, 20)
    first = np.stack([first_rows[:, 2 * x : 2 * x + 4].any(axis=1) for x in WITHIN], axis=1)
    late = np.zeros(len(inputs), np.int64)
    for x in CROSSES:
        late += _late(seen, x).sum(axis=1)
    codes = (outputs[2][:, :, :, 0] > 0).sum(axis=1)  # (n, places of a row)
    return {
        "place with a pixel": places.sum(axis=(1, 2)),
        "place with a code": codes.sum(axis=1),
        "place in the middle of a row with a code": codes[:, MIDDLE],
        "place beside the middle with a code": codes[:, MIDDLE - 1] + codes[:, MIDDLE + 1],
        "place within a byte with a pixel in the first two rows": first.sum(axis=1),
        "place across bytes with a pixel": places[:, :, list(CROSSES)].sum(axis=(1, 2)),
        "place across bytes seen in the first of them alone": late,
    }


def _late(seen: Values, x: int) -> Values:
    """Tell at which rows of places the new pixels of place x are all in the first of its bytes, and no old ones, (n, rows)."""
    pixels = seen.reshape(len(seen), -1, 2, COLS)[:, :, :, 2 * x : 2 * x + 4] != 0
    pairs = np.asarray(pixels.any(axis=2))  # (n, row pairs, 4)
    old, new = pairs[:, :-1].any(axis=2), pairs[:, 1:]
    return np.asarray(~old & ~new[:, :, 2:].any(axis=2) & new[:, :, :2].any(axis=2))


def _constants(batch: int, keeps: bool, part: Part) -> dict[str, int]:
    line, window = _line(batch, part), _parts(part)[0].window
    start = 0 if keeps else MIDDLE
    step = min(lcm(line.slots, line.cols), line.places)  # from one end of a page with a row to the next
    return {
        "FRONT_TOP": window.top * ROW_NBYTES,
        "FRONT_END": start + line.places,
        "FRONT_PAGE_END": start + step,
        "FRONT_PAGE_PLACES": step,
        "FRONT_LAST_OPERAND": operands(line)[0],
        "FRONT_BLOCK": line.block_nbytes,
        "FRONT_SPLIT": int(bool(_split_ends(line))),
    }


def _first(keeps: bool, part: Part) -> str:
    """Return the code that takes the window's first two rows in."""
    writer = AsmWriter()
    writer.equ("front_start", f"{bits_label(_parts(part)[1].name)}_at" if keeps else str(MIDDLE))
    write_places(writer, "front_first", write_rows)
    return writer.text()


def _row(line: CodeLine, keeps: bool) -> str:
    """Return the code of a row of places; a = alternate c after it."""
    writer = AsmWriter()

    def split(place: int) -> None:
        """Write the code that turns the page if one ends before a place; it changes a alone."""
        ends = [end for end in _split_ends(line) if end % line.cols == place]
        for op in ("exx", "ld   a, c", "exx") if ends else ():
            writer.op(op)
        for end in ends:
            writer.op(f"cp   {end if keeps else end - place + MIDDLE}", f"the page ends before place {end}")
            writer.op("call z, front_turn")

    write_places(writer, "front_place", write_keeping_place if keeps else write_place, split)
    for op in ("exx", "ld   a, c", *([] if keeps else [f"add  a, {len(KINDS)}", "ld   c, a"]), "exx"):
        writer.op(op)
    return writer.text()


def _turn() -> str:
    """Return the code that ends a page: the entry of its block, and the first operand of the next."""
    writer = AsmWriter()
    writer.op("exx", "a page is full: de = next operand")
    writer.op("inc  e", "the slot of operand k starts at k - 1, and the last written is 3 above e")
    writer.op("inc  e")
    writer.op("ld   hl, 0", "the operand of the jump into the block")
    writer.equ("front_entry", "$ - 2")
    for op in ("ld   (hl), e", "inc  hl", "ld   (hl), d", "ld   de, FRONT_BLOCK - 1", "add  hl, de", "ld   (front_entry), hl"):
        writer.op(op)
    for op in ("ld   de, FRONT_LAST_OPERAND + code_sum_line - code_sum_entry", "add  hl, de", "ex   de, hl"):
        writer.op(op)
    writer.op("ld   h, front_code_page / 256")
    writer.op("exx")
    return writer.text()


def _patterns() -> str:
    writer = AsmWriter()
    writer.label("front_pattern_page", "the table page of the four pixels on the left of each byte, and of those in its middle")
    for shift in (4, 2):
        for start in range(0, PAGE, 4):
            pages = [f"{PAGE_OF_ROW} + {byte >> shift & 15}" for byte in range(start, start + 4)]
            writer.op(f"defb {', '.join(pages)}")
    return writer.text()


def _codes(line: CodeLine, codebook: Codebook) -> str:
    writer = AsmWriter()
    writer.label("front_code_page", "the first index of the code of each byte of features; 0: no code")
    writer.data([line.first(int(code)) if code else 0 for code in codebook.code])
    writer.comment("where the next operand lies, after that at each place of the blocks in a page")
    following = np.zeros(PAGE, np.int64)
    places = operands(line)
    for block in range(0, PAGE, line.block_nbytes):
        for here, after in pairwise(places):
            following[block + here] = block + after
    writer.data(following)
    return writer.text()


def _table(conv: PatchConv) -> str:
    writer = AsmWriter()
    writer.label("front_table_page", "features of two windows: a page for each first row, a byte for the other two rows")
    for number, page in enumerate(pair_table(pack_patterns(conv.table))):
        writer.comment(f"first row {number:04b}")
        writer.data(page)
    return writer.text()


def _state() -> str:
    writer = AsmWriter()
    writer.label("front_state", "the last two rows of four pixels of each place of a row")
    writer.op(f"defs {len(KINDS)}")
    return writer.text()


def _sections(batch: int, keeps: bool, part: Part) -> tuple[Section, ...]:
    conv, pool, codes = _parts(part)
    line = _line(batch, part)
    inside = _split_ends(line)
    splits = 4 + 3 * len(_split_columns(line)) + 5 * len(inside) if inside else 0
    generated: dict[str, Callable[[], str]] = {
        "front_first": partial(_first, keeps, part),
        "front_row": partial(_row, line, keeps),
        "front_turn": _turn,
    }
    return (
        Section("kernel/front_codes", (KEEPING_NBYTES if keeps else NBYTES) + splits, Place.FAST, generated=generated),
        table("front_table_page", TABLE_PAGES * PAGE, partial(_table, conv), align=TABLE_PAGES * PAGE),
        table("front_pattern_page", 2 * PAGE, _patterns),
        table("front_code_page", 2 * PAGE, partial(_codes, line, codes)),
        table("front_state", len(KINDS), _state, Place.FAST, align=16),
        *([bits_section(pool.name, _map_shape(part))] if keeps else []),
    )


def _read(batch: int, memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_codes(memory, symbols, _line(batch, part))


def front_codes(batch: int, keeps: bool) -> Kernel:
    """Return the kernel that leaves its codes in batches of this many, and keeps the features or does not."""
    return Kernel(
        name=f"front_{'features' if keeps else 'codes'}_{batch}",
        kinds=(PatchConv, Pool, Codebook),
        takes="picture",
        gives=f"codes in batches of {batch}",
        calls=call("front_codes"),
        fits=partial(_fits, batch),
        cost=partial(_cost, batch, keeps),
        count=partial(_count, batch),
        constants=partial(_constants, batch, keeps),
        sections=partial(_sections, batch, keeps),
        read=partial(_read, batch),
        keeps={1: "bits"} if keeps else {},
    )
