"""conv_pool: a pooled 3 x 3 convolution of eight one-bit channels, from a page of nibble sums a unit; 256 bytes a unit.

It looks up what conv_table does, but compiles all positions of a cell of the pool into a line (asm/kernel/conv_pool.asm): a
unit that is on at one of them is done with the cell.
"""

from __future__ import annotations

from functools import partial

from zxml.ir import Conv, Pool, Requant
from zxml.ir.ranges import windows
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_section
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part, evaluated, pack_groups, total
from zxml.z80gen.kernels.conv_table import (
    CONV_TABLE,
    DESCRIPTOR_NBYTES,
    WINDOW_SLOTS,
    calls_of,
    count_scan,
    layer_text,
    page_text,
    scan_terms,
    scan_text,
    slots_of,
)

CODE_NBYTES = 815


def _cost(part: Part) -> Cost:
    conv = conv_part(part)
    rows, cols, units = conv.positions
    places = rows * cols
    terms = (
        *scan_terms(places),
        Term("empty window", 9, places),
        Term("empty position of a unit looked at", 4, places * units),
        Term("slot run", 14, WINDOW_SLOTS * places * units),
        Term("position of a unit looked at", 14, places * units),
    )
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), _fixed(conv), terms)


def _fixed(conv: ConvPart) -> int:
    """Return the T-states that every map takes."""
    rows, cols, units = conv.positions
    cell_rows, cell_cols, _ = conv.outputs
    in_cell = 236 + 37 * units + 54 * units // CHANNELS_A_BYTE + 10
    cells = cell_rows * (cell_cols * (in_cell + 14) - 2 * (cols % conv.step) + 34 * cols) + cell_cols * 81 * rows
    bands = cell_rows * (119 + 14) - 2 * (rows % conv.step) + 34 * rows
    return 407 + bands + cells + 414 * rows * cols


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    window = windows(pack_groups(inputs), conv.stride)  # (n, rows, cols, 9)
    slots = slots_of(window)
    looked = evaluated(outputs[0], conv.step).sum(axis=3)  # (n, rows, cols) units
    return {
        **count_scan(window),
        "empty window": total(slots == 0),
        "empty position of a unit looked at": total((slots == 0) * looked),
        "slot run": total(slots * looked),
        "position of a unit looked at": total(looked),
    }


def _sections(part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    scan = {"conv_pool_scan": partial(scan_text, "conv_pool")}
    layer = partial(layer_text, conv, conv.inputs[1] * conv.stride)
    return (
        bits_section(conv.source, conv.inputs),
        Section("kernel/conv_pool", CODE_NBYTES, Place.FAST, PAGE, generated=scan),
        table(f"{conv.conv.name}_layer", DESCRIPTOR_NBYTES, layer, align=1),
        table(f"{conv.conv.name}_page", PAGE * conv.units, partial(page_text, conv)),
        bits_section(conv.output, conv.outputs),
    )


CONV_POOL = Kernel(
    name="conv_pool",
    kinds=(Conv, Requant, Pool),
    takes="bits",
    gives="bits",
    calls=calls_of("conv_pool"),
    fits=CONV_TABLE.fits,
    cost=_cost,
    count=_count,
    constants=CONV_TABLE.constants,
    sections=_sections,
    read=CONV_TABLE.read,
)
