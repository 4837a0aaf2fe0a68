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
MIDDLE = len(KINDS) // 2
LAST_COLUMNS = 3  # the two that a place across two bytes takes from the first
CROSSES = tuple(place for place, kind in enumerate(KINDS) if kind == "cross")
WITHIN = tuple(place for place, kind in enumerate(KINDS) if kind != "cross")
PAGE_OF_ROW = "front_table_page / 256"


def write_places(
    writer: AsmWriter,
    prefix: str,
    write: Callable[[AsmWriter, str, int], None],
    before: Callable[[int], None] = lambda place: None,
) -> None:
    """Write the code of a row of places, each by `before`(place) and `write`(writer, prefix, place); prefix: of their labels.

    Expects ix = first byte of the upper of two new rows, hl = state of the first place. A place across two bytes has the new
    byte in b and c and the one before in d and e, and leaves the new one there.
    """
    for place, kind in enumerate(KINDS):
        before(place)
        writer.label(f"{prefix}_{place}", f"{kind} four pixels")
        if place in BYTES:
            upper, lower = "bc" if kind == "cross" else "de"
            writer.op(f"ld   {upper}, (ix+{BYTES[place]})", "the byte of the upper new row")
            writer.op(f"ld   {lower}, (ix+{BYTES[place] + ROW_NBYTES})", "and of the lower")
        write(writer, prefix, place)


def write_rows(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code that puts two new rows into the state of a place."""
    kind = KINDS[place]
    if kind == "cross":
        for register, new in zip("de", "bc", strict=True):
            _write_mix(writer, register, new)
            _write_mixed(writer)
            writer.op("rld")
    else:
        for op in ("ld   a, d", "or   e", f"and  {MASKS[kind]}", "ld   (hl), a", f"jr   z, {prefix}_{place}_end"):
            writer.op(op)
        for register in "de":
            _write_pattern(writer, place, register)
            writer.op("rld")
    writer.label(f"{prefix}_{place}_end")
    writer.op("inc  l")


def write_keeping_place(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code of a place: its features into the map, its code into the line.

    The alternate bc = map, de = next operand of the line, h = page of the codes.
    """
    _write_test(writer, prefix, place)
    for op in ("exx", "ld   (bc), a", "inc  c", "exx", "inc  l", f"jr   {prefix}_{place}_end"):
        writer.op(op)
    _write_look_ups(writer, prefix, place)
    for op in ("inc  l", "exx", "ld   (bc), a"):
        writer.op(op)
    _write_code(writer, prefix, place, ("add  a, c",))
    for op in ("inc  c", "exx"):
        writer.op(op)
    writer.label(f"{prefix}_{place}_end")


def write_place(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code of a place: its code into the line.

    The alternate c = number of the place in the middle of the row, de = next operand of the line, h = page of the codes.
    """
    _write_test(writer, prefix, place, f"{prefix}_{place}_end")
    _write_look_ups(writer, prefix, place)
    writer.op("exx")
    _write_code(writer, prefix, place, ("add  a, c", *_add(place - MIDDLE)))
    writer.op("exx")
    writer.label(f"{prefix}_{place}_end")
    writer.op("inc  l")


def _add(number: int) -> tuple[str, ...]:
    """Return the code that adds a number to a."""
    if abs(number) > 1:
        return (f"add  a, {number % 256}",)
    return {-1: ("dec  a",), 0: (), 1: ("inc  a",)}[number]


def _write_test(writer: AsmWriter, prefix: str, place: int, blank: str | None = None) -> None:
    """Write the code that goes on where a place has no pixel; one without a pixel goes to `blank`, if that is given."""
    kind, look = KINDS[place], f"{prefix}_{place}_look"
    upper, lower = "bc" if kind == "cross" else "de"
    for op in (f"ld   a, {upper}", f"or   {lower}", f"and  {MASKS[kind]}", "or   (hl)"):
        writer.op(op)
    if kind == "cross":
        last = ("ld   a, d", "or   e", f"and  {LAST_COLUMNS}", f"jr   nz, {look}", "ld   d, b", "ld   e, c")
        for op in (f"jr   nz, {look}", *last, *([f"jr   {blank}"] if blank else [])):
            writer.op(op)
    else:
        writer.op(f"jr   z, {blank}" if blank else f"jr   nz, {look}")


def _write_look_ups(writer: AsmWriter, prefix: str, place: int) -> None:
    """Write the code that looks up the features of a place: a = features."""
    writer.label(f"{prefix}_{place}_look")
    crosses = KINDS[place] == "cross"
    if crosses:
        _write_mix(writer, "e", "c")
        writer.op("ex   af, af'", "the lower row, until the other features take its place")
        _write_mix(writer, "d", "b")
    for register, ops in (("d", ("ex   af, af'",)), ("e", ("ld   c, a", "ex   af, af'", "or   c"))):
        if crosses:
            _write_mixed(writer)
        else:
            _write_pattern(writer, place, register)
        for op in ("rld", "ld   b, a", "ld   c, (hl)", "ld   a, (bc)", *ops):
            writer.op(op)


def _write_code(writer: AsmWriter, prefix: str, place: int, add: tuple[str, ...]) -> None:
    """Write the code that stores the code of features; add: adds the number of the place.

    Where each next operand lies is in the page after that of the codes.
    """
    for op in ("ld   l, a", "ld   a, (hl)", "or   a", f"jr   z, {prefix}_{place}_none"):
        writer.op(op)
    for op in (*add, "ld   (de), a", "inc  h", "ld   l, e", "ld   e, (hl)", "dec  h"):
        writer.op(op)
    writer.label(f"{prefix}_{place}_none")


def _write_pattern(writer: AsmWriter, place: int, register: str) -> None:
    """Write the code that takes four pixels of a row within a byte into a, as the number of their table page."""
    kind = KINDS[place]
    if kind == "low":
        for op in (f"ld   a, {register}", "and  15", f"or   {PAGE_OF_ROW}"):
            writer.op(op)
        return
    writer.op(f"ld   c, {register}")
    writer.op(f"ld   b, front_pattern_page / 256{' + 1' if kind == 'middle' else ''}")
    writer.op("ld   a, (bc)")


def _write_mix(writer: AsmWriter, register: str, new: str) -> None:
    """Write the code that takes the last two columns of a byte and the others of a new one into a; that is the byte then."""
    for op in (f"ld   a, {register}", f"xor  {new}", f"and  {LAST_COLUMNS}", f"xor  {new}", f"ld   {register}, {new}"):
        writer.op(op)


def _write_mixed(writer: AsmWriter) -> None:
    """Write the code that makes the number of a table page of such a mixture: its last two columns go round to the left."""
    for op in ("rlca", "rlca", "and  15", f"or   {PAGE_OF_ROW}"):
        writer.op(op)
