"""conv_table: a 3 x 3 convolution of eight one-bit channels, from a page of nibble sums a unit; 256 bytes a unit.

Each window's non-empty nibbles are compiled into a line of look-ups, which runs once a unit (asm/kernel/conv_table.asm). Eight
of the nine places have a table of 15 sums for each of their two nibbles, the ninth one of 3 sums for each of its pairs of bits:
with the bias that fills a page.

Limits: 8 channels, a map within 256 bytes, sums of 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE, Conv, Requant
from zxml.ir.ranges import windows
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_label, bits_section
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part, pack_groups, read_conv, reject_conv, total
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES = 454
DESCRIPTOR_NBYTES, LINE_NBYTES, LINE_ALIGN = 11, 71, 128
NIBBLE_PLACES = PATCH_SIDE**2 - 1  # the last place of the window has pairs of bits instead
NIBBLE, PAIR = 15, 3  # the greatest value of a nibble and of a pair of bits
WINDOW_SLOTS = 2 * NIBBLE_PLACES + CHANNELS_A_BYTE // 2


def _fits(part: Part) -> str | None:
    reason = reject_conv(part)
    if reason:
        return reason
    rows, cols, channels = part.shape
    if channels > CHANNELS_A_BYTE:
        return f"has tables for {CHANNELS_A_BYTE} channels, not {channels}"
    if rows * cols > PAGE:
        return f"takes a map within a page, not {rows} x {cols} bytes"
    return None


def calls_of(routine: str) -> Callable[[Part], tuple[str, ...]]:
    """Return the `calls` of a routine that takes a descriptor."""
    return lambda part: (f"ld   hl, {conv_part(part).conv.name}_layer", f"call {routine}")


def scan_terms(places: int) -> tuple[Term, ...]:
    """Return what compiling so many windows costs above that of empty ones."""
    return (
        Term("byte with a bit, in the first 8 of a window", 49, NIBBLE_PLACES * places),
        Term("last byte of a window with a bit", 124, places),
        Term("slot", 35, WINDOW_SLOTS * places),
    )


def count_scan(window: Values) -> Counts:
    """Return the counts of the scan's terms in windows (n, rows, cols, 9) of bytes."""
    return {
        "byte with a bit, in the first 8 of a window": total(window[..., :-1] > 0),
        "last byte of a window with a bit": total(window[..., -1] > 0),
        "slot": total(slots_of(window)),
    }


def _cost(part: Part) -> Cost:
    conv = conv_part(part)
    rows, cols, units = conv.positions
    terms = (*scan_terms(rows * cols), Term("slot run", 14, WINDOW_SLOTS * rows * cols * units))
    window = 516 + 40 * units + 78 * units // CHANNELS_A_BYTE
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), 388 + rows * (60 + cols * window), terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    counts = count_scan(windows(pack_groups(inputs), conv.stride))
    return {**counts, "slot run": counts["slot"] * conv.units}


def slots_of(window: Values) -> Values:
    """Return how many slots windows (..., 9) of bytes take, (...)."""
    nibbles, pairs = window[..., :-1], window[..., -1]
    found = ((nibbles & NIBBLE) > 0).sum(axis=-1) + ((nibbles >> 4) > 0).sum(axis=-1)
    return np.asarray(found + sum((pairs >> 2 * pair & PAIR) > 0 for pair in range(4)))


def _constants(part: Part) -> dict[str, int]:
    return {}


def scan_text(prefix: str) -> str:
    """Return the code that compiles one window, with labels that begin with prefix."""
    writer = AsmWriter()
    for place in range(NIBBLE_PLACES):
        _test(writer, prefix, place)
        for _ in range(4):
            writer.op("add  a, a")
        _slot(writer, f"{prefix}_{place}_high", 2 * place)
        writer.label(f"{prefix}_{place}_high")
        writer.op("ld   a, (de)")
        writer.op("and  0xF0")
        _slot(writer, f"{prefix}_{place}_end", 2 * place + 1)
        writer.label(f"{prefix}_{place}_end")
        writer.op("inc  e")
        if place % PATCH_SIDE == PATCH_SIDE - 1:
            writer.op("ld   a, e")
            writer.label(f"{prefix}_down_{place // PATCH_SIDE + 1}", "the second byte: to the next row of the map")
            writer.op("add  a, 0")
            writer.op("ld   e, a")
    _scan_pairs(writer, prefix)
    return writer.text()


def _scan_pairs(writer: AsmWriter, prefix: str) -> None:
    _test(writer, prefix, NIBBLE_PLACES)
    for pair, turns in enumerate(("", "rrca rrca", "rrca rrca rrca rrca", "rlca rlca")):
        if pair:
            writer.label(f"{prefix}_pair_{pair}")
            writer.op("ld   a, (de)")
        for turn in turns.split():
            writer.op(turn)
        writer.op(f"and  {PAIR}")
        _slot(writer, f"{prefix}_pair_{pair + 1}" if pair < 3 else f"{prefix}_{NIBBLE_PLACES}_end", PAIR * pair)
    writer.label(f"{prefix}_{NIBBLE_PLACES}_end")


def _test(writer: AsmWriter, prefix: str, place: int) -> None:
    writer.comment(f"place {place} of the window")
    writer.op("ld   a, (de)")
    writer.op("or   a")
    writer.op(f"jr   z, {prefix}_{place}_end")


def _slot(writer: AsmWriter, skip: str, offset: int) -> None:
    """Write what puts a slot for index a + offset into the line, unless a is 0."""
    writer.op(f"jr   z, {skip}")
    writer.op(f"add  a, {offset}")
    for register in "bac":
        writer.op(f"ld   (hl), {register}")
        writer.op("inc  l")


def layer_text(conv: ConvPart, down: int) -> str:
    """Return the descriptor of a layer; down: what its routine adds to go on to the next row of positions."""
    writer = AsmWriter()
    writer.label(f"{conv.conv.name}_layer", "the descriptor")
    writer.op(f"defw {bits_label(conv.source)}")
    steps = [conv.inputs[1] - PATCH_SIDE, conv.stride, down]
    writer.data(steps, "bytes to the next row of a window, position, row of positions")
    writer.data([conv.positions[1], conv.positions[0]], "positions across and down")
    first = f"{conv.conv.name}_page / {PAGE}"
    writer.op(f"defb {first}, {first} + {conv.units}")
    writer.op(f"defw {bits_label(conv.output)}")
    return writer.text()


def unit_page(weight: Values, bias: int) -> Values:
    """Return the page of a unit of weights (9, 8)."""
    page = np.zeros(PAGE, np.int64)
    page[0] = bias
    values = np.arange(NIBBLE + 1)
    bits = values[:, None] >> np.arange(4) & 1  # (16, 4)
    for place, weights in enumerate(weight[:-1]):
        for half in (0, 1):
            page[16 * values[1:] + 2 * place + half] = (bits @ weights[4 * half : 4 * half + 4])[1:]
    for pair in range(4):
        first = PAIR * pair + 1
        page[first : first + PAIR] = (bits[: PAIR + 1, :2] @ weight[-1, 2 * pair : 2 * pair + 2])[1:]
    return page


def page_text(conv: ConvPart) -> str:
    """Return the pages of the units."""
    writer = AsmWriter()
    writer.label(f"{conv.conv.name}_page")
    weight = np.zeros((PATCH_SIDE**2, CHANNELS_A_BYTE, conv.units), np.int64)
    weight[:, : conv.inputs[2]] = conv.conv.weight.reshape(PATCH_SIDE**2, conv.inputs[2], conv.units)
    for unit, bias in enumerate(conv.conv.bias):
        writer.comment(f"unit {unit}, bias {bias}; a line holds a nibble value in all places of the window but the last")
        writer.data(unit_page(weight[:, :, unit], int(bias)))
    return writer.text()


def _line() -> str:
    writer = AsmWriter()
    writer.label("conv_table_line", "the line of a window, behind its start")
    writer.op("ld   l, 0")
    writer.op("ld   a, (hl)", "bias")
    writer.op(f"defs {LINE_NBYTES - 3}")
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    layer = partial(layer_text, conv, (conv.inputs[1] - conv.positions[1]) * conv.stride)
    return (
        bits_section(conv.source, conv.inputs),
        Section("kernel/conv_table", CODE_NBYTES, Place.FAST, generated={"conv_table_scan": partial(scan_text, "conv_table")}),
        table("conv_table_line", LINE_NBYTES, _line, Place.FAST, LINE_ALIGN),
        table(f"{conv.conv.name}_layer", DESCRIPTOR_NBYTES, layer, align=1),
        table(f"{conv.conv.name}_page", PAGE * conv.units, partial(page_text, conv)),
        bits_section(conv.output, conv.outputs),
    )


CONV_TABLE = Kernel(
    name="conv_table",
    kinds=(Conv, Requant),
    takes="bits",
    gives="bits",
    calls=calls_of("conv_table"),
    fits=_fits,
    cost=_cost,
    count=_count,
    constants=_constants,
    sections=_sections,
    read=read_conv,
)
