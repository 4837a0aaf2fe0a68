"""conv_threes: a 3 x 3 convolution of channels of 0 to 2 from ternary weights packed by threes, up to 24 channels.

Each place gets a page of tables: the sums of each three of its channels for all 27 choices of their weights. For each unit the
weights are copied into a line of look-ups, which runs for each position (asm/kernel/conv_threes.asm). That takes less time than
conv_places where most channels are not 0, but a page for each place of the map. Limits: 24 channels, 255 places of the output,
sums of 8 bits; weights in [-1, 1]; two steps, the first at 0, the second at 0 to 127.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from zxml.ir import PATCH_SIDE
from zxml.z80gen.cost import Cost, Counts
from zxml.z80gen.kernel import Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_label, bits_section, buffer_section
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part
from zxml.z80gen.kernels.conv_units import (
    label_of,
    position_counts,
    position_terms,
    reject_packed,
    rows_seen,
    run_nbytes,
    ternary_kernels,
    units_text,
    units_tstates,
    write_run,
    write_weights,
)
from zxml.z80gen.kernels.packing import THREES
from zxml.z80gen.writer import AsmWriter

NAME = "conv_threes"
CODE_NBYTES, DESCRIPTOR_NBYTES = 297, 16
MOST_CHANNELS, MOST_PLACES = 24, 255
SUMS = 3**THREES.together  # of a table
SPARE = 2  # channels that fill up the last three
POSITION_NBYTES, POSITION_TSTATES = 6, 7 + 4 + 17 + 10  # ld h, n / ld a, c / call, and the line's ret


def _fits(part: Part) -> str | None:
    reason = reject_packed(THREES, part)
    if reason:
        return reason
    conv = conv_part(part)
    if conv.inputs[2] > MOST_CHANNELS:
        return f"a page holds the sums of {MOST_CHANNELS} channels, not {conv.inputs[2]}"
    return None if _places(conv) <= MOST_PLACES else f"has pages for at most {MOST_PLACES} places, not {_places(conv)}"


def _places(conv: ConvPart) -> int:
    """Return the places that have a page."""
    return rows_seen(conv) * conv.inputs[1]


def _threes(conv: ConvPart) -> int:
    """Return the tables of a place."""
    return -(-conv.groups * CHANNELS_A_BYTE // THREES.together)


def _row_step(conv: ConvPart) -> int:
    """Return the pages from the last place of a window's row to the first of its next row."""
    return conv.inputs[1] - PATCH_SIDE + 1


def _line_name(conv: ConvPart, role: str) -> str:
    """Return the name of what layers of as many channels and columns have in common."""
    return f"{NAME}_{role}_{_threes(conv)}_{conv.inputs[1]}"


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   hl, {label_of(conv_part(part), 'layer')}", f"call {NAME}"


def _cost(part: Part) -> Cost:
    conv = conv_part(part)
    place = 138 + 541 * conv.groups + 564 * _threes(conv)
    fixed = 558 + place * _places(conv) + units_tstates(conv, _unpack_tstates(conv))
    terms = position_terms(conv, POSITION_TSTATES + _line_tstates(conv))
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), fixed, terms)


def _page_steps(conv: ConvPart) -> int:
    """Return the steps from page to page in a line."""
    return (PATCH_SIDE - 1) * (PATCH_SIDE + _row_step(conv))


def _line_tstates(conv: ConvPart) -> int:
    return 14 * PATCH_SIDE**2 * _threes(conv) + 4 * _page_steps(conv)


def _unpack_tstates(conv: ConvPart) -> int:
    between = PATCH_SIDE - 1 + _row_step(conv)
    return 27 + PATCH_SIDE * (THREES.tstates * PATCH_SIDE * _threes(conv) + 6 * between + 14)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    return position_counts(conv, outputs[0], outputs[0][:, :, :, 0] * 0)


def _fill() -> str:
    """Return the code that writes the 27 sums of three channels, from the first in a and the steps in b, c and d."""
    writer = AsmWriter()
    for number in range(SUMS):
        if number:
            writer.op(f"add  a, {'d' if number % 9 == 0 else 'c' if number % 3 == 0 else 'b'}")
        writer.op("ld   (hl), a")
        writer.op("inc  l")
    return writer.text()


def _line(conv: ConvPart) -> str:
    """Return the line that adds up a window's sums, from its first page h on; its operands are a unit's weights."""
    writer = AsmWriter()
    writer.label(_line_name(conv, "line"), "a = bias, then sum; h = page of the window's first place")
    for place in range(PATCH_SIDE**2):
        step = _row_step(conv) if place % PATCH_SIDE == 0 else 1
        for op in ("inc  h",) * (step if place else 0) + ("ld   l, 0", "add  a, (hl)") * _threes(conv):
            writer.op(op)
    writer.op("ret")
    return writer.text()


def _line_nbytes(conv: ConvPart) -> int:
    return 3 * PATCH_SIDE**2 * _threes(conv) + _page_steps(conv) + 1


def _unpack(conv: ConvPart) -> str:
    """Return the routine that copies a unit's weights into the line."""
    name, row_step = _line_name(conv, "unpack"), _row_step(conv)
    writer = AsmWriter()
    writer.comment(f"{name} - copy a unit's weights, a byte for each three, into {_line_name(conv, 'line')}")
    writer.comment("In         hl = packed weights of the unit")
    writer.comment("Out        the line; hl = after the weights")
    writer.comment("Clobbers   af bc de")
    writer.comment(f"T-states   {_unpack_tstates(conv)}")
    writer.comment(f"Bytes      {_unpack_nbytes(conv)}")
    writer.label(name)
    writer.op(f"ld   de, {_line_name(conv, 'line')} + 1")
    writer.op(f"ld   a, {PATCH_SIDE}")
    writer.label(f"{name}_row", "de = operand of the row's first look-up, a = rows left")
    for between in (1, 1, row_step):
        for op in ("ldi", "inc  de", "inc  de") * _threes(conv) + ("inc  de",) * between:
            writer.op(op)
    for op in ("dec  a", f"jp   nz, {name}_row", "ret"):
        writer.op(op)
    return writer.text()


def _unpack_nbytes(conv: ConvPart) -> int:
    return 10 + PATCH_SIDE * THREES.code_nbytes * _threes(conv) + PATCH_SIDE - 1 + _row_step(conv)


def _layer(conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.label(label_of(conv, "layer"), f"the descriptor for {NAME}")
    maps = bits_label(conv.source), bits_label(conv.output)
    for name in (*maps, label_of(conv, "weight"), label_of(conv, "run"), _line_name(conv, "unpack")):
        writer.op(f"defw {name}")
    eights = conv.units // CHANNELS_A_BYTE
    cells, stride = conv.outputs[0] * conv.outputs[1], (eights - 1) * conv.levels + 1
    writer.data([conv.groups, THREES.together * _threes(conv), _places(conv), eights, cells, stride])
    return writer.text()


def _position(writer: AsmWriter, conv: ConvPart, y: int, x: int) -> None:
    page = conv.stride * (y * conv.inputs[1] + x)
    writer.op(f"ld   h, conv_page / {PAGE} + {page}", f"position {y}, {x}")
    writer.op("ld   a, c")
    writer.op(f"call {_line_name(conv, 'line')}")


def _sections(part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    texts: dict[str, Callable[[], str]] = {f"{NAME}_units": partial(units_text, NAME), f"{NAME}_fill": _fill}
    cells, packed = conv.outputs[0] * conv.outputs[1], PATCH_SIDE**2 * _threes(conv)
    return (
        bits_section(conv.source, conv.inputs, conv.levels),
        Section(f"kernel/{NAME}", CODE_NBYTES, Place.FAST, generated=texts),
        table(_line_name(conv, "line"), _line_nbytes(conv), partial(_line, conv), Place.FAST, align=1),
        table(_line_name(conv, "unpack"), _unpack_nbytes(conv), partial(_unpack, conv), Place.FAST, align=1),
        buffer_section("conv_page", PAGE * _places(conv), PAGE),
        buffer_section("conv_value", MOST_CHANNELS + SPARE, PAGE),
        buffer_section("conv_cell", cells * conv.levels),
        table(label_of(conv, "layer"), DESCRIPTOR_NBYTES, partial(_layer, conv), align=1),
        table(
            label_of(conv, "run"), run_nbytes(conv, POSITION_NBYTES), partial(write_run, conv, _position), Place.FAST, align=1
        ),
        table(label_of(conv, "weight"), conv.units * (2 + packed), partial(write_weights, THREES, conv), align=1),
        bits_section(conv.output, conv.outputs, conv.levels),
    )


CONV_THREES = ternary_kernels(NAME, _calls, _fits, _cost, _count, _sections)
