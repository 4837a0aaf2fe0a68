"""conv_places: a 3 x 3 convolution of channels of 0 to 2 from ternary weights packed by fives, up to 64 channels.

The channels of each place that are not 0 are compiled into a line of look-ups. For each unit the weights are unpacked, a byte a
weight, then the lines of a position's nine places are run (asm/kernel/conv_places.asm). That takes less time than the tables of
conv_expand where there are few positions, and fewer bytes of weights, but longer lines.

Limits: 64 channels, 255 places of the map and of the output, sums of 8 bits; weights in [-1, 1]; two steps, the first at 0, the
second at 0 to 127.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_label, bits_section, buffer_section
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part, pack_groups, total
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
from zxml.z80gen.kernels.packing import FIVES
from zxml.z80gen.writer import AsmWriter

NAME = "conv_places"
CODE_NBYTES, UNPACK_NBYTES, DESCRIPTOR_NBYTES = 227, 26, 24
CHANNEL_NBYTES, END_NBYTES = 4, 2  # ld l, channel / add a, (hl) / add a, (hl); inc h / ret
WINDOW, MOST_PLACES = PATCH_SIDE**2, 255
POSITION_NBYTES, POSITION_TSTATES = 2 + 3 * WINDOW, 8 + (17 + 4 + 10) * WINDOW  # ld h, d / ld a, c / call


def _fits(part: Part) -> str | None:
    reason = reject_packed(FIVES, part)
    if reason:
        return reason
    places = _places(conv_part(part))
    return None if places <= MOST_PLACES else f"compiles at most {MOST_PLACES} places, not {places}"


def _places(conv: ConvPart) -> int:
    """Return the places that have a line."""
    return rows_seen(conv) * conv.inputs[1]


def _line_nbytes(conv: ConvPart) -> int:
    return CHANNEL_NBYTES * conv.inputs[2] + END_NBYTES


def _among(conv: ConvPart) -> int:
    """Return how many lines lie in the rest of the weights' pages: one in each, or none if there is no room."""
    return WINDOW if _row_nbytes(conv) + _line_nbytes(conv) <= PAGE else 0


def _row_nbytes(conv: ConvPart) -> int:
    """Return the bytes that a place of the window takes of its page."""
    return FIVES.together * _packed(conv)


def _line_offset(conv: ConvPart, place: int) -> int:
    """Return where a place's line lies after conv_page, where all pages and lines lie."""
    among = _among(conv)
    if place < among:
        return PAGE * place + _row_nbytes(conv)
    start = PAGE * WINDOW if among else PAGE * (WINDOW - 1) + _row_nbytes(conv)
    return start + (place - among) * _line_nbytes(conv)


def _packed(conv: ConvPart) -> int:
    """Return the packed bytes of a place of the window."""
    return -(-conv.groups * CHANNELS_A_BYTE // FIVES.together)


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   hl, {label_of(conv_part(part), 'layer')}", f"call {NAME}"


def _cost(part: Part) -> Cost:
    conv = conv_part(part)
    places, channels = _places(conv), conv.inputs[2]
    slots = conv.positions[0] * conv.positions[1] * conv.units * WINDOW * channels
    terms = (
        Term("group with a channel", 382, places * conv.groups),
        Term("channel in a line", 60, places * channels),
        Term("channel of 2 in a line", 11, places * channels),
        Term("slot run", 7, 3 * slots),
        *position_terms(conv, POSITION_TSTATES),
    )
    compiling = places * (121 + 75 * conv.groups) - 5
    unpacking = 84 + WINDOW * (50 + FIVES.tstates * _packed(conv))
    fixed = 747 + 99 * (0 < _among(conv) < places) + compiling + units_tstates(conv, unpacking)
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), fixed, terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    rows, cols, _ = conv.positions
    seen = inputs[:, : rows_seen(conv)]
    slots = ((seen > 0).astype(np.int64) + seen).sum(axis=3)  # (n, rows, cols): two for a channel of 1, three for one of 2
    window = np.zeros((len(inputs), rows, cols), np.int64)
    for dy in range(PATCH_SIDE):
        for dx in range(PATCH_SIDE):
            down, across = (
                slice(start, start + conv.stride * (n - 1) + 1, conv.stride) for start, n in ((dy, rows), (dx, cols))
            )
            window += slots[:, down, across]
    return {
        "group with a channel": total(pack_groups(seen) > 0),
        "channel in a line": total(seen > 0),
        "channel of 2 in a line": total(seen > 1),
        **position_counts(conv, outputs[0], window),
    }


def _layer(conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.label(label_of(conv, "layer"), f"the descriptor for {NAME}")
    for name in (bits_label(conv.source), bits_label(conv.output), label_of(conv, "weight"), label_of(conv, "run")):
        writer.op(f"defw {name}")
    writer.op(f"defw {_unpack_name(conv)}")
    writer.data([conv.groups])
    among, places = _among(conv), _places(conv)
    runs = (
        ((among, PAGE, 0), (places - among, _line_nbytes(conv), among))
        if among
        else ((places, _line_nbytes(conv), 0), (0, 0, 0))
    )
    for count, nbytes, first in runs:
        writer.data([count])
        writer.op(f"defw conv_page + {_line_offset(conv, first)}, {nbytes}")
    eights = conv.units // CHANNELS_A_BYTE
    writer.data([eights, conv.outputs[0] * conv.outputs[1], (eights - 1) * conv.levels + 1])
    return writer.text()


def _unpack_name(conv: ConvPart) -> str:
    return f"{NAME}_fives_{_packed(conv)}"


def _unpack(conv: ConvPart) -> str:
    """Return the routine that unpacks the weights of a unit, for places of so many packed bytes."""
    name, packed = _unpack_name(conv), _packed(conv)
    writer = AsmWriter()
    writer.comment(f"{name} - unpack a unit's weights of -1, 0 or 1, five a byte, {packed} bytes a place of the window")
    writer.comment(f"A byte is the place of its five weights in the row {NAME}_row_page, in which each choice comes once.")
    writer.comment("In         hl = packed weights of the unit")
    writer.comment("Out        conv_page: a weight a byte, a page for each place of the window; hl = after the weights")
    writer.comment("Clobbers   af bc de ix")
    writer.comment(f"T-states   {84 + WINDOW * (50 + FIVES.tstates * packed)}")
    writer.comment(f"Bytes      {_unpack_nbytes(conv)}")
    writer.comment(f"Needs      {NAME}_row_page")
    writer.label(name)
    for op in ("push hl", "pop  ix", "ld   de, conv_page", f"ld   h, {NAME}_row_page / {PAGE}", f"ld   a, {WINDOW}"):
        writer.op(op)
    writer.label(f"{name}_place", "ix = packed weights of the place, d = its page, e = 0, a = places left")
    for byte in range(packed):
        for op in (f"ld   l, (ix+{byte})", *("ldi",) * FIVES.together):
            writer.op(op)
    for op in ("inc  d", "ld   e, 0", f"ld   bc, {packed}", "add  ix, bc", "dec  a", f"jp   nz, {name}_place"):
        writer.op(op)
    for op in ("push ix", "pop  hl", "ret"):
        writer.op(op)
    return writer.text()


def _unpack_nbytes(conv: ConvPart) -> int:
    return UNPACK_NBYTES + FIVES.code_nbytes * _packed(conv)


def _position(writer: AsmWriter, conv: ConvPart, y: int, x: int) -> None:
    writer.op("ld   h, d", f"position {y}, {x}")
    writer.op("ld   a, c")
    for place in range(WINDOW):
        dy, dx = divmod(place, PATCH_SIDE)
        line = (conv.stride * y + dy) * conv.inputs[1] + conv.stride * x + dx
        writer.op(f"call conv_page + {_line_offset(conv, line)}")


def _sections(part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    cells = conv.outputs[0] * conv.outputs[1]
    units = {f"{NAME}_units": partial(units_text, NAME)}
    weight_nbytes = conv.units * (1 + WINDOW * _packed(conv) + 1)
    page_nbytes = max(PAGE * (WINDOW - 1) + _row_nbytes(conv), _line_offset(conv, _places(conv)))
    return (
        bits_section(conv.source, conv.inputs, conv.levels),
        Section(f"kernel/{NAME}", CODE_NBYTES, Place.FAST, generated=units),
        table(_unpack_name(conv), _unpack_nbytes(conv), partial(_unpack, conv), Place.FAST, align=1),
        table(f"{NAME}_row_page", FIVES.page_nbytes, partial(FIVES.page, f"{NAME}_row_page")),
        buffer_section("conv_page", page_nbytes, PAGE),
        buffer_section("conv_cell", cells * conv.levels),
        table(label_of(conv, "layer"), DESCRIPTOR_NBYTES, partial(_layer, conv), align=1),
        table(
            label_of(conv, "run"),
            run_nbytes(conv, POSITION_NBYTES),
            partial(write_run, conv, _position),
            Place.FAST,
            align=1,
        ),
        table(label_of(conv, "weight"), weight_nbytes, partial(write_weights, FIVES, conv), align=1),
        bits_section(conv.output, conv.outputs, conv.levels),
    )


CONV_PLACES = ternary_kernels(NAME, _calls, _fits, _cost, _count, _sections)
