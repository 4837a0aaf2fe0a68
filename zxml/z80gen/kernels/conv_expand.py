"""conv_expand: a 3 x 3 convolution of channels of a bit, or of 0 to 2, from packed weights of 4 or 2 bits, up to 64 channels.

Three neighbouring places of a row are compiled into a line of look-ups, one for each non-empty nibble. For each unit the packed
weights (four bits, or ternary) are expanded into tables of the sums of each nibble, then three lines are run for each position
(asm/kernel/conv_expand.asm). Where the layer is pooled, a unit that is at its highest level at one position of a cell is done
with the cell. In a map of planes both bytes of a group look up the same tables (conv_planes). Their lines, two for each group,
may leave no room in memory: then bands of rows are computed one after another, and the weights expanded for each.

Limits: 64 channels, 255 places of the output, sums of 8 bits; weights in [-8, 7], or [-1, 1] in the ternary form; two steps,
the first at 0, the second at 0 to 127.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE, Conv, Layer, Pool, Requant, Steps
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import (
    BITS,
    CHANNELS_A_BYTE,
    PAGE,
    PLANES,
    bits_groups,
    bits_label,
    bits_section,
    buffer_section,
    line_section,
)
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part, pack_groups, read_conv, split_rows, total
from zxml.z80gen.kernels.conv_units import (
    label_of,
    position_counts,
    position_terms,
    reject_packed,
    rows_seen,
    run_nbytes,
    units_text,
    units_tstates,
    write_run,
    write_weights,
)
from zxml.z80gen.kernels.packing import FOUR_BIT, TERNARY, TablePacking
from zxml.z80gen.kernels.planes_form import routine_for_planes
from zxml.z80gen.writer import AsmWriter

MOST_BANDS = 4
CODE_NBYTES, DESCRIPTOR_NBYTES = {BITS: 213, PLANES: 228}, {BITS: 20, PLANES: 22}
NIBBLE_NBYTES, SLOT_NBYTES = 16, 3  # a nibble's table of sums; ld l, k / add a, (hl)
NIBBLES_A_BYTE = 2
UNPACK_TSTATES = 285  # without the nibbles


def _fits(packing: TablePacking, count: int, part: Part) -> str | None:
    reason = reject_packed(packing, part)
    if reason:
        return reason
    bands = len(_bands(count, part))
    return None if bands == count else f"the rows make {bands} bands, not {count}"


def _bands(count: int, part: Part) -> list[ConvPart]:
    return split_rows(conv_part(part), count)


def _runs(bands: list[ConvPart]) -> list[ConvPart]:
    """Return the bands that have code of their own: the first, and the last if it is lower."""
    return [bands[0], *(bands[-1:] if bands[-1].positions != bands[0].positions else [])]


def _calls(count: int, part: Part) -> tuple[str, ...]:
    bands = _bands(count, part)
    return tuple(line for band in bands for line in (f"ld   hl, {label_of(band, 'layer')}", f"call {_form(band)}"))


def _form(conv: ConvPart) -> str:
    """Return what the names of all shared pieces begin with."""
    return "conv_planes" if conv.levels > 1 else "conv_expand"


def _nibbles(conv: ConvPart) -> int:
    """Return the nibbles of three places."""
    return PATCH_SIDE * conv.groups * NIBBLES_A_BYTE


def _next_pages(conv: ConvPart) -> int:
    """Return how often a line goes on to the next page."""
    return _nibbles(conv) * NIBBLE_NBYTES // PAGE


def _fills_pages(conv: ConvPart) -> bool:
    """Tell whether a line ends on the next page, so that the next row of the window's tables starts there."""
    return _nibbles(conv) * NIBBLE_NBYTES % PAGE == 0


def _line_nbytes(conv: ConvPart) -> int:
    nbytes = SLOT_NBYTES * _nibbles(conv) * conv.levels + _next_pages(conv) + 1
    return -(-nbytes // conv.levels) * conv.levels


def _first_line(conv: ConvPart) -> str:
    """Return where the lines begin: of planes behind the tables, so that layers of several sizes share one buffer."""
    return f"conv_page + {_table_nbytes(conv)}" if conv.levels > 1 else "bits_line"


def _lines(conv: ConvPart) -> int:
    return rows_seen(conv) * conv.positions[1]


def _table_nbytes(conv: ConvPart) -> int:
    return PATCH_SIDE * PAGE * -(-_nibbles(conv) * NIBBLE_NBYTES // PAGE)


def _weight_nbytes(conv: ConvPart, packing: TablePacking) -> int:
    return conv.units * (conv.levels + PATCH_SIDE * _nibbles(conv) * packing.nbytes)


def _cost(packing: TablePacking, count: int, part: Part) -> Cost:
    bands = _bands(count, part)
    terms = [
        Term(same[0].name, same[0].tstates, sum(term.most for term in same)) for same in zip(*map(_terms, bands), strict=True)
    ]
    nbytes = sum(section.nbytes for section in _sections(packing, count, part)[1:])
    return Cost(nbytes, sum(_fixed(packing, band) for band in bands), tuple(terms))


def _terms(conv: ConvPart) -> tuple[Term, ...]:
    lines, windows, units = _lines(conv), conv.positions[0] * conv.positions[1], conv.units
    line_nibbles = _nibbles(conv) * conv.levels
    position = 89 + 12 * _next_pages(conv) + (0 if _fills_pages(conv) else 8)
    return (
        Term("byte with a bit in a line", 40, lines * line_nibbles // 2),
        Term("low nibble with a bit in a line", 44, lines * line_nibbles // 2),
        Term("high nibble with a bit in a line", 67, lines * line_nibbles // 2),
        Term("slot run", 14, PATCH_SIDE * line_nibbles * windows * units),
        *position_terms(conv, position),
    )


def _fixed(packing: TablePacking, conv: ConvPart) -> int:
    """Return the T-states that every map takes."""
    planes = conv.levels > 1
    line = 155 + (146 if planes else 69) * PATCH_SIDE * conv.groups + 11 * _next_pages(conv) + 11 * planes
    compiling = 72 * rows_seen(conv) - 5 + line * _lines(conv)
    unpacking = UNPACK_TSTATES - 18 * _fills_pages(conv) + PATCH_SIDE * packing.tstates * _nibbles(conv)
    return 624 + 48 * planes + compiling + units_tstates(conv, unpacking)


def _count(bands: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    counts = [_count_band(band, inputs, outputs[0]) for band in _bands(bands, part)]
    return {name: np.sum([each[name] for each in counts], axis=0) for name in counts[0]}


def _count_band(conv: ConvPart, inputs: Values, sums: Values) -> Counts:
    """Return the counts of a band, of the map and the sums of the whole layer."""
    rows, cols, _ = conv.positions
    seen = inputs[:, conv.first_input : conv.first_input + rows_seen(conv)]
    places = pack_groups(seen, conv.levels)  # (n, rows, cols, bytes)
    across = [slice(dx, dx + conv.stride * (cols - 1) + 1, conv.stride) for dx in range(PATCH_SIDE)]
    lines = np.stack([places[:, :, xs] for xs in across], axis=3)  # (n, rows, positions, 3, bytes)
    low, high = lines & 15 > 0, lines >> 4 > 0
    slots = (low.astype(np.int64) + high).sum(axis=(3, 4))
    down = [slice(dy, dy + conv.stride * (rows - 1) + 1, conv.stride) for dy in range(PATCH_SIDE)]
    window = sum((slots[:, ys] for ys in down), np.zeros(1, np.int64))
    return {
        "byte with a bit in a line": total(lines > 0),
        "low nibble with a bit in a line": total(low),
        "high nibble with a bit in a line": total(high),
        **position_counts(conv, sums[:, conv.first_position : conv.first_position + rows], window),
    }


def _constants(part: Part) -> dict[str, int]:
    return {}


def _fill() -> str:
    """Return the code that writes the 15 sums of a nibble, from the steps in b, c, h and l."""
    writer = AsmWriter()
    writer.op("ld   a, b")
    for value in range(1, NIBBLE_NBYTES):
        if value > 1:
            writer.op(f"add  a, {'bchl'[(value & -value).bit_length() - 1]}")
        writer.op("ld   (de), a")
        writer.op("inc  e" if value < NIBBLE_NBYTES - 1 else "inc  de")
    writer.op("inc  e", "the sum of 0 is never looked up")
    return writer.text()


def _layer(packing: TablePacking, bands: list[ConvPart]) -> str:
    """Return the descriptors of the bands."""
    return "".join(_descriptor(packing, bands, band) for band in bands)


def _descriptor(packing: TablePacking, bands: list[ConvPart], conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.label(label_of(conv, "layer"), f"the descriptor for {_form(conv)}")
    run = next(each for each in _runs(bands) if each.positions == conv.positions)
    for name in (*_maps(conv), label_of(bands[0], "weight"), label_of(run, "run")):
        writer.op(f"defw {name}")
    writer.op(f"defw {_form(conv)}_{packing.name}")
    rows, cols, _ = conv.outputs
    place, eights = conv.place_nbytes, conv.units // CHANNELS_A_BYTE
    right, rest = conv.stride * place, (conv.inputs[1] - conv.stride * conv.positions[1]) * place
    line = [PATCH_SIDE * place, right, rest, conv.positions[1], rows_seen(conv), _line_nbytes(conv) // conv.levels]
    writer.data([*line, eights, rows * cols, (eights - 1) * conv.levels + 1, _nibbles(conv)])
    if conv.levels > 1:
        writer.op(f"defw {_first_line(conv)}")
    return writer.text()


def _maps(conv: ConvPart) -> tuple[str, str]:
    """Return where the rows that a band sees lie, and those that it puts out."""
    place = bits_groups(conv.units) * conv.levels
    before = conv.first_input * conv.inputs[1] * conv.place_nbytes, conv.first * conv.outputs[1] * place
    labels = bits_label(conv.source), bits_label(conv.output)
    source, output = (f"{label} + {nbytes}" if nbytes else label for label, nbytes in zip(labels, before, strict=True))
    return source, output


def _position(writer: AsmWriter, conv: ConvPart, y: int, x: int) -> None:
    writer.op("ld   h, d", f"position {y}, {x}")
    writer.op("ld   a, c")
    for dy in range(PATCH_SIDE):
        if dy and not _fills_pages(conv):
            writer.op("inc  h")
        offset = ((conv.stride * y + dy) * conv.positions[1] + x) * _line_nbytes(conv)
        writer.op(f"call {_first_line(conv)} + {offset}")


def _sections(packing: TablePacking, count: int, part: Part) -> tuple[Section, ...]:
    conv, bands = conv_part(part), _bands(count, part)
    form, planes = _form(conv), conv.levels > 1
    unpack, lines = f"{form}_{packing.name}", _lines(bands[0]) * _line_nbytes(conv)
    position = 11 if _fills_pages(conv) else 13
    return (
        bits_section(conv.source, conv.inputs, conv.levels),
        _routine("conv_expand", form, CODE_NBYTES[PLANES if planes else BITS], {f"{form}_units": partial(units_text, form)}),
        _routine(f"conv_expand_{packing.name}", form, packing.code_nbytes, {f"{form}_fill": _fill}),
        table(f"{unpack}_page", packing.page_nbytes, partial(packing.page, f"{unpack}_page")),
        *(() if planes else (line_section(lines),)),
        buffer_section("conv_page", _table_nbytes(conv) + lines * planes, PAGE),
        buffer_section("conv_cell", bands[0].outputs[0] * bands[0].outputs[1] * conv.levels),
        table(
            label_of(conv, "layer"),
            DESCRIPTOR_NBYTES[PLANES if planes else BITS] * count,
            partial(_layer, packing, bands),
            align=1,
        ),
        table(
            label_of(conv, "run"),
            sum(run_nbytes(run, position) for run in _runs(bands)),
            partial(_write_runs, bands),
            Place.FAST,
            align=1,
        ),
        table(label_of(conv, "weight"), _weight_nbytes(conv, packing), partial(write_weights, packing, conv), align=1),
        bits_section(conv.output, conv.outputs, conv.levels),
    )


def _write_runs(bands: list[ConvPart]) -> str:
    return "".join(write_run(run, _position) for run in _runs(bands))


def _routine(source: str, form: str, nbytes: int, generated: Mapping[str, Callable[[], str]]) -> Section:
    """Return the section of a hand-written routine as it is, or in the form for planes."""
    if source.startswith(form):
        return Section(f"kernel/{source}", nbytes, Place.FAST, generated=generated)
    return routine_for_planes(f"kernel/{source}", "conv_expand", form, nbytes, generated)


def conv_expand(packing: TablePacking, levels: str, pooled: bool, bands: int = 1) -> Kernel:
    """Return the kernel for weights packed in this way and maps of this format, that pools what it puts out or does not.

    bands: how many bands of rows it computes one after another.
    """
    kinds: tuple[type[Layer], ...] = (Conv, Steps if levels == PLANES else Requant, *([Pool] if pooled else []))
    form = "conv_planes" if levels == PLANES else "conv_expand"
    return Kernel(
        name=f"{form}_{packing.name}{'_pool' if pooled else ''}{f'_{bands}' if levels == PLANES else ''}",
        kinds=kinds,
        takes=levels,
        gives=levels,
        calls=partial(_calls, bands),
        fits=partial(_fits, packing, bands),
        cost=partial(_cost, packing, bands),
        count=partial(_count, bands),
        constants=_constants,
        sections=partial(_sections, packing, bands),
        read=read_conv,
    )


CONV_EXPAND = tuple(conv_expand(packing, BITS, pooled) for packing in (FOUR_BIT, TERNARY) for pooled in (False, True))
CONV_PLANES = tuple(
    conv_expand(packing, PLANES, pooled, bands)
    for packing in (FOUR_BIT, TERNARY)
    for pooled in (False, True)
    for bands in range(1, MOST_BANDS + 1)
)
