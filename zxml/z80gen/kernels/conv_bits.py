"""conv_bits: a 3 x 3 convolution of one-bit channels, from weights of a byte; a page for each unit.

Each window's set bits are compiled into a line of look-ups, which runs once for each unit (asm/kernel/conv_bits.asm). It is
conv_pairs with twice its tables and fewer T-states. Limits: 24 channels, sums of 8 bits.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE, Conv, Requant
from zxml.ir.ranges import windows
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_section
from zxml.z80gen.kernels.conv_pairs import (
    bit_weights,
    layer_section,
    page_places,
    reject_pages,
    scan_section,
    scan_tstates,
    window_bits,
)
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part, pack_groups, read_conv, total
from zxml.z80gen.kernels.conv_table import calls_of
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, SLOT_NBYTES = 179, 3
BIAS, MOST_WEIGHT = 255, 127


def _fits(part: Part) -> str | None:
    return reject_pages(MOST_WEIGHT, part)


def _cost(part: Part) -> Cost:
    conv = conv_part(part)
    rows, cols, units = conv.positions
    positions, eights = rows * cols, units // CHANNELS_A_BYTE
    terms = (
        Term("byte with a bit", 29, positions * PATCH_SIDE**2 * conv.groups),
        Term("bit", 63 + 14 * units, positions * window_bits(conv)),
        Term("window with a bit", 24 + 52 * eights + 40 * units, positions),
    )
    window = 244 + scan_tstates(conv) + 21 * eights
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), 466 + rows * (95 + cols * window), terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    bits = windows(inputs, conv.stride).sum(axis=3)  # (n, rows, cols)
    return {
        "byte with a bit": total(windows(pack_groups(inputs), conv.stride) > 0),
        "bit": total(bits),
        "window with a bit": total(bits > 0),
    }


def _constants(part: Part) -> dict[str, int]:
    return {}


def _line(slots: int) -> str:
    writer = AsmWriter()
    writer.label("conv_bits_line", "h = page of weights, a = sum")
    for _ in range(slots):
        writer.op("ld   l, 0")
        writer.op("add  a, (hl)")
    return writer.text()


def _weights(conv: ConvPart) -> str:
    pages = np.zeros((conv.units, PAGE), np.int64)
    pages[:, page_places(conv.groups)] = bit_weights(conv).T
    pages[:, BIAS] = conv.conv.bias
    writer = AsmWriter()
    writer.label(f"{conv.conv.name}_weight_page")
    for unit, page in enumerate(pages):
        writer.comment(f"unit {unit}")
        writer.data(page)
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    slots = window_bits(conv)
    code = CODE_NBYTES + SLOT_NBYTES * slots
    return (
        bits_section(conv.source, conv.inputs),
        Section("kernel/conv_bits", code, Place.FAST, generated={"conv_bits_line": partial(_line, slots)}),
        scan_section("conv_bits", conv),
        layer_section(conv, "conv_bits", conv.units),
        table(f"{conv.conv.name}_weight_page", PAGE * conv.units, partial(_weights, conv)),
        bits_section(conv.output, conv.outputs),
    )


CONV_BITS = Kernel(
    name="conv_bits",
    kinds=(Conv, Requant),
    takes="bits",
    gives="bits",
    calls=calls_of("conv_bits"),
    fits=_fits,
    cost=_cost,
    count=_count,
    constants=_constants,
    sections=_sections,
    read=read_conv,
)
