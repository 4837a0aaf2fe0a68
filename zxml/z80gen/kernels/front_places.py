"""The code of the nine places in a row of places: which four columns of which byte of the picture each looks at.

The window is 20 columns from column 4, and a row of the picture four bytes. Places are two columns apart and four wide: in the
right, the left or the middle half of a byte, or across two bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from zxml.z80gen.writer import AsmWriter

ROW_NBYTES = 4
KINDS = ("low", "cross", "high", "middle", "low", "cross", "high", "middle", "low")
BYTES = {0: 0, 1: 1, 5: 2}  # the byte of the row that is loaded before each of these places
MASKS = {"low": 0x0F, "middle": 0x3C, "high": 0xF0, "cross": 0xC0}
LAST_COLUMNS = 3  # the two that a place across two bytes takes from the first
CROSSES = tuple(place for place, kind in enumerate(KINDS) if kind == "cross")
PAGE_OF_ROW = "front_table_page / 256"


def write_places(writer: AsmWriter, prefix: str, write: Callable[[AsmWriter, str, int], None]) -> None:
    """Write the code of a row of places, each by `write`(writer, prefix, place); prefix: of their labels.

    Expects ix = first byte of the upper of two new rows, hl = state of the first place.
    """
    for place, kind in enumerate(KINDS):
        writer.label(f"{prefix}_{place}", f"{kind} four pixels")
        if place in BYTES:
            writer.op(f"ld   d, (ix+{BYTES[place]})", "the byte of the upper new row")
            writer.op(f"ld   e, (ix+{BYTES[place] + ROW_NBYTES})", "and of the lower")
        write(writer, prefix, place)


def write_rows(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code that puts two new rows into the state of a place."""
    for register in "de":
        _write_pattern(writer, place, register)
        writer.op("rld")
    writer.op("inc  l")


def write_place(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code of a place: its features into the map, its code into the line."""
    _write_test(writer, prefix, place)
    _write_look_ups(writer, prefix, place)
    _write_code(writer, prefix, place)


def _write_test(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code that passes over a place without a pixel."""
    kind = KINDS[place]
    for op in ("ld   a, d", "or   e", f"and  {MASKS[kind]}", "or   (hl)", f"jr   nz, {prefix}_{place}_look"):
        writer.op(op)
    if kind == "cross":
        upper, lower = (_byte_before(place, register) for register in "de")
        for op in (f"ld   a, {upper}", f"or   {lower}", f"and  {LAST_COLUMNS}", f"jr   nz, {prefix}_{place}_look"):
            writer.op(op)
    for op in ("exx", "ld   (bc), a", "inc  c", "exx", "inc  l", f"jr   {prefix}_{place}_end"):
        writer.op(op)


def _write_look_ups(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code that looks up the features of a place: a = features, hl = state of the next place."""
    writer.label(f"{prefix}_{place}_look")
    for register, ops in (("d", ("ex   af, af'",)), ("e", ("ld   c, a", "ex   af, af'", "or   c"))):
        _write_pattern(writer, place, register)
        for op in ("rld", "ld   b, a", "ld   c, (hl)", "ld   a, (bc)", *ops):
            writer.op(op)
    writer.op("inc  l")


def _write_code(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code that stores features and their code.

    The alternate bc = map, de = next operand of the line, h = page of the codes; where each next operand lies is in the page
    after it.
    """
    for op in ("exx", "ld   (bc), a", "ld   l, a", "ld   a, (hl)", "or   a", f"jr   z, {prefix}_{place}_none"):
        writer.op(op)
    for op in ("add  a, c", "ld   (de), a", "inc  h", "ld   l, e", "ld   e, (hl)", "dec  h"):
        writer.op(op)
    writer.label(f"{prefix}_{place}_none")
    writer.op("inc  c")
    writer.op("exx")
    writer.label(f"{prefix}_{place}_end")


def _write_pattern(writer: AsmWriter, place: int, register: str) -> None:
    """Write the code that takes four pixels of a row into a, as the number of their table page."""
    kind = KINDS[place]
    if kind in ("high", "middle"):
        writer.op(f"ld   c, {register}")
        writer.op(f"ld   b, front_pattern_page / 256{' + 1' if kind == 'middle' else ''}")
        writer.op("ld   a, (bc)")
        return
    if kind == "low":
        writer.op(f"ld   a, {register}")
    else:  # the last two columns of the byte before take the place of those of this one, and go round to its left
        before = _byte_before(place, register)
        for op in (f"ld   a, {before}", f"xor  {register}", f"and  {LAST_COLUMNS}", f"xor  {register}", "rlca", "rlca"):
            writer.op(op)
    writer.op("and  15")
    writer.op(f"or   {PAGE_OF_ROW}")


def _byte_before(place: int, register: str) -> str:
    """Return the operand of the byte before the one that a register holds at a place across the two."""
    return f"(ix+{BYTES[place] - 1 + (ROW_NBYTES if register == 'e' else 0)})"
