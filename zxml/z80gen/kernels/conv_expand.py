"""conv_expand: a 3 x 3 convolution of one-bit channels from packed weights: 4 or 2 bits each, up to 64 channels.

Three neighbouring places of a row are compiled into a line of look-ups, one for each non-empty nibble. For each unit the packed
weights (four bits, or ternary) are expanded into tables of the sums of each nibble, then three lines are run for each position
(asm/kernel/conv_expand.asm). Where the layer is pooled, a unit that is on at one position of a cell is done with the cell.

Limits: 64 channels, 255 places of the output, sums of 8 bits; weights in [-8, 7], or [-1, 1] in the ternary form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from zxml.ir import PATCH_SIDE, Conv, Pool, Requant
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_label, bits_section, buffer_section, line_section
from zxml.z80gen.kernels.conv_part import (
    ConvPart,
    conv_part,
    evaluated,
    last_of_cell,
    pack_groups,
    read_conv,
    reject_conv,
    total,
)
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, DESCRIPTOR_NBYTES = 213, 20
NIBBLE_NBYTES, SLOT_NBYTES = 16, 3  # a nibble's table of sums; ld l, k / add a, (hl)
NIBBLES_A_BYTE = 2
MOST_CHANNELS, MOST_CELLS = 64, 255
UNPACK_TSTATES = 285  # without the nibbles
STEPS = np.array([[1, 0, 0, 0], [-1, 1, 0, 0], [-1, -1, 1, 0], [-1, -1, -1, 1]])  # from the sum of one nibble value to the next


@dataclass(frozen=True)
class Packing:
    """A way to pack weights: the range they must lie in, and what its routine takes.

    pack(weights): weights (n, 4) of nibbles as bytes; page(): the text of the routine's table.
    """

    name: str
    least: int
    most: int
    nibble_nbytes: int
    nibble_tstates: int
    code_nbytes: int
    page_nbytes: int
    pack: Callable[[Values], Values]
    page: Callable[[], str]


def _pack_4bit(weights: Values) -> Values:
    pairs = (weights & 15).reshape(-1, 2)
    return np.asarray(pairs[:, 0] | pairs[:, 1] << 4)


def _page_4bit() -> str:
    writer = AsmWriter()
    lower = (np.arange(PAGE) & 15 ^ 8) - 8
    upper = (np.arange(PAGE) >> 4 ^ 8) - 8
    writer.label("conv_expand_4bit_page", "the lower weight of each byte")
    writer.data(lower)
    writer.comment("the upper weight less the lower one")
    writer.data(upper - lower)
    return writer.text()


def _pack_ternary(weights: Values) -> Values:
    number = (weights + 1) @ 3 ** np.arange(4)
    return np.where(number < 64, 4 * number, 4 * (number - 64) + 1)


def _page_ternary() -> str:
    writer = AsmWriter()
    numbers = np.arange(81)
    weights = numbers[:, None] // 3 ** np.arange(4) % 3 - 1  # (81, 4)
    steps = weights @ STEPS.T
    writer.label(
        "conv_expand_ternary_page", "the steps between the sums of four weights, a record of four for each choice of them"
    )
    writer.data(steps[:64].ravel())
    writer.data([0])
    writer.data(steps[64:].ravel())
    return writer.text()


FOUR_BIT = Packing("4bit", -8, 7, 2, 378, 109, 512, _pack_4bit, _page_4bit)
TERNARY = Packing("ternary", -1, 1, 1, 336, 100, 325, _pack_ternary, _page_ternary)


def _fits(packing: Packing, part: Part) -> str | None:
    reason = reject_conv(part)
    if reason:
        return reason
    conv = conv_part(part)
    if conv.inputs[2] > MOST_CHANNELS:
        return f"has tables for {MOST_CHANNELS} channels, not {conv.inputs[2]}"
    weight = conv.conv.weight
    if weight.min() < packing.least or weight.max() > packing.most:
        return f"packs weights in [{packing.least}, {packing.most}], not [{weight.min()}, {weight.max()}]"
    if conv.outputs[0] * conv.outputs[1] > MOST_CELLS:
        return f"counts {MOST_CELLS} places of the output, not {conv.outputs[0]} x {conv.outputs[1]}"
    return None


def _label(conv: ConvPart, role: str) -> str:
    return f"{conv.conv.name}_{role}"


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   hl, {_label(conv_part(part), 'layer')}", "call conv_expand"


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
    return SLOT_NBYTES * _nibbles(conv) + _next_pages(conv) + 1


def _lines(conv: ConvPart) -> int:
    return _rows(conv) * conv.positions[1]


def _rows(conv: ConvPart) -> int:
    """Return the rows of the map that windows cover."""
    return conv.stride * (conv.positions[0] - 1) + PATCH_SIDE


def _table_nbytes(conv: ConvPart) -> int:
    return PATCH_SIDE * PAGE * -(-_nibbles(conv) * NIBBLE_NBYTES // PAGE)


def _weight_nbytes(conv: ConvPart, packing: Packing) -> int:
    return conv.units * (1 + PATCH_SIDE * _nibbles(conv) * packing.nibble_nbytes)


def _run_nbytes(conv: ConvPart) -> int:
    positions, cells = conv.positions[0] * conv.positions[1], conv.outputs[0] * conv.outputs[1]
    return positions * (11 if _fills_pages(conv) else 13) + 4 * (positions - cells) + 6 * cells + 1


def _cost(packing: Packing, part: Part) -> Cost:
    conv = conv_part(part)
    lines, windows, units = _lines(conv), conv.positions[0] * conv.positions[1], conv.units
    line_nibbles = _nibbles(conv)
    position = 89 + 12 * _next_pages(conv) + (0 if _fills_pages(conv) else 8) + (14 if conv.step > 1 else 0)
    terms = (
        Term("byte with a bit in a line", 40, lines * line_nibbles // 2),
        Term("low nibble with a bit in a line", 44, lines * line_nibbles // 2),
        Term("high nibble with a bit in a line", 67, lines * line_nibbles // 2),
        Term("slot run", 14, PATCH_SIDE * line_nibbles * windows * units),
        Term("position of a unit looked at", position, windows * units),
        Term("last position of a cell of a unit looked at", -14 if conv.step > 1 else 0, windows * units),
    )
    nbytes = sum(section.nbytes for section in _sections(packing, part)[1:])
    return Cost(nbytes, _fixed(packing, conv), terms)


def _fixed(packing: Packing, conv: ConvPart) -> int:
    """Return the T-states that every map takes."""
    cells = conv.outputs[0] * conv.outputs[1]
    line = 155 + 69 * PATCH_SIDE * conv.groups + 11 * _next_pages(conv)
    compiling = 72 * _rows(conv) - 5 + line * _lines(conv)
    unpacking = UNPACK_TSTATES - 18 * _fills_pages(conv) + PATCH_SIDE * packing.nibble_tstates * _nibbles(conv)
    unit = 145 + unpacking + 10 + 29 * cells
    eight = 137 + CHANNELS_A_BYTE * unit + 55 * cells
    return 596 + compiling + eight * conv.units // CHANNELS_A_BYTE - 5 + 28


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    rows, cols, _ = conv.positions
    places = pack_groups(inputs)  # (n, rows, cols, groups)
    across = [slice(dx, dx + conv.stride * (cols - 1) + 1, conv.stride) for dx in range(PATCH_SIDE)]
    lines = np.stack([places[:, : _rows(conv), xs] for xs in across], axis=3)  # (n, rows, positions, 3, groups)
    low, high = lines & 15 > 0, lines >> 4 > 0
    slots = (low.astype(np.int64) + high).sum(axis=(3, 4))
    down = [slice(dy, dy + conv.stride * (rows - 1) + 1, conv.stride) for dy in range(PATCH_SIDE)]
    window = sum((slots[:, ys] for ys in down), np.zeros(1, np.int64))
    looked = evaluated(outputs[0], conv.step).sum(axis=3)
    return {
        "byte with a bit in a line": total(lines > 0),
        "low nibble with a bit in a line": total(low),
        "high nibble with a bit in a line": total(high),
        "slot run": total(window * looked),
        "position of a unit looked at": total(looked),
        "last position of a cell of a unit looked at": total(looked * last_of_cell(rows, cols, conv.step)),
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


def _layer(packing: Packing, conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.label(_label(conv, "layer"), "the descriptor for conv_expand")
    for name in (bits_label(conv.source), bits_label(conv.output), _label(conv, "weight"), _label(conv, "run")):
        writer.op(f"defw {name}")
    writer.op(f"defw conv_expand_{packing.name}")
    rows, cols, _ = conv.outputs
    right, rest = conv.stride * conv.groups, (conv.inputs[1] - conv.stride * conv.positions[1]) * conv.groups
    line = [PATCH_SIDE * conv.groups, right, rest, conv.positions[1], _rows(conv), _line_nbytes(conv)]
    output = [conv.units // CHANNELS_A_BYTE, rows * cols, conv.units // CHANNELS_A_BYTE, _nibbles(conv)]
    writer.data([*line, *output])
    return writer.text()


def _run(conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.comment("the sums of a unit, from its bias c and the first page of its tables d, and the sign of each cell")
    writer.label(_label(conv, "run"))
    rows, cols, _ = conv.outputs
    for cell in range(rows * cols):
        _cell(writer, conv, cell)
    writer.op("ret")
    return writer.text()


def _cell(writer: AsmWriter, conv: ConvPart, cell: int) -> None:
    """Write the positions of a cell, the first that is not negative being the last, and the shift of its sign into its byte."""
    (rows, cols, _), done = conv.positions, f"{_label(conv, 'cell')}_{cell}"
    cell_y, cell_x = (conv.step * place for place in divmod(cell, conv.outputs[1]))
    down, across = range(cell_y, min(rows, cell_y + conv.step)), range(cell_x, min(cols, cell_x + conv.step))
    for y, x in product(down, across):
        _position(writer, conv, y, x)
        if (y, x) != (down[-1], across[-1]):
            writer.op("or   a")
            writer.op(f"jp   p, {done}")
    writer.label(done)
    writer.op("rla")
    writer.op(f"ld   hl, conv_expand_cell + {cell}")
    writer.op("rr   (hl)")


def _position(writer: AsmWriter, conv: ConvPart, y: int, x: int) -> None:
    writer.op("ld   h, d", f"position {y}, {x}")
    writer.op("ld   a, c")
    for dy in range(PATCH_SIDE):
        if dy and not _fills_pages(conv):
            writer.op("inc  h")
        writer.op(f"call bits_line + {((conv.stride * y + dy) * conv.positions[1] + x) * _line_nbytes(conv)}")


def _weights(packing: Packing, conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.label(_label(conv, "weight"), "bias, then packed weights; a line holds those of a place of the window")
    weight = np.zeros((PATCH_SIDE**2, conv.groups * CHANNELS_A_BYTE, conv.units), np.int64)
    weight[:, : conv.inputs[2]] = conv.conv.weight.reshape(PATCH_SIDE**2, conv.inputs[2], conv.units)
    for unit, bias in enumerate(conv.conv.bias):
        writer.comment(f"unit {unit}")
        writer.data([bias])
        for weights in weight[:, :, unit]:
            writer.data(packing.pack(weights.reshape(-1, 4)))
    return writer.text()


def _sections(packing: Packing, part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    unpack, page = f"conv_expand_{packing.name}", f"conv_expand_{packing.name}_page"
    return (
        bits_section(conv.source, conv.inputs),
        Section("kernel/conv_expand", CODE_NBYTES, Place.FAST),
        Section(f"kernel/{unpack}", packing.code_nbytes, Place.FAST, generated={"conv_expand_fill": _fill}),
        table(page, packing.page_nbytes, packing.page),
        line_section(_lines(conv) * _line_nbytes(conv)),
        buffer_section("conv_expand_page", _table_nbytes(conv), PAGE),
        buffer_section("conv_expand_cell", conv.outputs[0] * conv.outputs[1]),
        table(_label(conv, "layer"), DESCRIPTOR_NBYTES, partial(_layer, packing, conv), align=1),
        table(_label(conv, "run"), _run_nbytes(conv), partial(_run, conv), Place.FAST, align=1),
        table(_label(conv, "weight"), _weight_nbytes(conv, packing), partial(_weights, packing, conv), align=1),
        bits_section(conv.output, conv.outputs),
    )


def conv_expand(packing: Packing, pooled: bool) -> Kernel:
    """Return the kernel for weights packed in this way."""
    kinds: tuple[type[Conv] | type[Requant] | type[Pool], ...] = (Conv, Requant, Pool) if pooled else (Conv, Requant)
    return Kernel(
        name=f"conv_expand_{packing.name}{'_pool' if pooled else ''}",
        kinds=kinds,
        takes="bits",
        gives="bits",
        calls=_calls,
        fits=partial(_fits, packing),
        cost=partial(_cost, packing),
        count=_count,
        constants=_constants,
        sections=partial(_sections, packing),
        read=read_conv,
    )


CONV_EXPAND = tuple(conv_expand(packing, pooled) for packing in (FOUR_BIT, TERNARY) for pooled in (False, True))
