"""conv_pairs: a 3 x 3 convolution of one-bit channels, from weights of 4 bits, two units a byte; a page for two units.

Each window's set bits are compiled into a line of look-ups, which runs once for each pair of units (asm/kernel/conv_pairs.asm);
a page of the first weight of each byte takes the pair's sums apart. A bit v of a byte of the window finds its weights at
code ^ v: the codes of any two bytes differ in one bit or in more than two, so no two bits share a place in the page.
Limits: 24 channels, weights in [-8, 7], sums of 8 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE, Conv, Requant
from zxml.ir.ranges import windows
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_label, bits_nbytes, bits_section
from zxml.z80gen.kernels.conv_part import ConvPart, conv_part, pack_groups, read_conv, reject_conv, total
from zxml.z80gen.kernels.conv_table import calls_of
from zxml.z80gen.kernels.weight_line import NIBBLE, SIGN, nibble_section
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, DESCRIPTOR_NBYTES = 292, 16
MOST_CHANNELS, PAIR = 24, 2
SLOTS_A_BATCH, BATCH_NBYTES, SLOT_NBYTES = 3, 21, 3
SCAN_BYTE_NBYTES, SCAN_ROW_NBYTES, LONG_SCAN_ROW_NBYTES = 10, 5, 9
BIAS = 254  # where a page has the first unit's bias, before that of both
CHECKS = 1, 2, 4, 0, 3, 5, 6, 7  # the checks of a code's set bits cancel out: its first three bits see to that


def byte_code(number: int) -> int:
    """Return the code of a byte of the window, of up to 32."""
    code = number << 3
    for bit, check in enumerate(CHECKS):
        if number << 3 >> bit & 1:
            code ^= check
    return code


def reject_pages(most: int, part: Part) -> str | None:
    """Return why a page cannot have the part's weights, of at most -most - 1 to most, or why no kernel computes it, or None."""
    reason = reject_conv(part)
    if reason:
        return reason
    channels, weight = part.shape[2], conv_part(part).conv.weight
    if channels > MOST_CHANNELS:
        return f"has weights for {MOST_CHANNELS} channels, not {channels}"
    if weight.min() < -most - 1 or weight.max() > most:
        return f"weights are in [{-most - 1}, {most}], not in [{weight.min()}, {weight.max()}]"
    return None


def _cost(part: Part) -> Cost:
    conv = conv_part(part)
    rows, cols, units = conv.positions
    positions, pairs, eights = rows * cols, units // PAIR, units // CHANNELS_A_BYTE
    most = window_bits(conv)
    terms = (
        Term("byte with a bit", 51, positions * PATCH_SIDE**2 * conv.groups),
        Term("bit", 63, positions * most),
        Term("batch", 16, positions * most // SLOTS_A_BATCH),
        Term("window with a bit", 140 + 44 * eights + 105 * pairs, positions),
        Term("batch run", 99, positions * most // SLOTS_A_BATCH * pairs),
        Term("run that ends with one slot", 47, positions * pairs),
        Term("run that ends with two slots", 72, positions * pairs),
    )
    window = 258 + scan_tstates(conv) + 21 * eights
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), 495 + rows * (95 + cols * window), terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    conv = conv_part(part)
    pairs = conv.units // PAIR
    slots = windows(inputs, conv.stride).sum(axis=3)  # (n, rows, cols)
    batches, left = total(slots // SLOTS_A_BATCH), slots % SLOTS_A_BATCH
    return {
        "byte with a bit": total(windows(pack_groups(inputs), conv.stride) > 0),
        "bit": total(slots),
        "batch": batches,
        "window with a bit": total(slots > 0),
        "batch run": batches * pairs,
        "run that ends with one slot": total(left == 1) * pairs,
        "run that ends with two slots": total(left == 2) * pairs,
    }


def _constants(part: Part) -> dict[str, int]:
    return {}


def window_bits(conv: ConvPart) -> int:
    """Return how many bits a window has, those above the last channel too."""
    return PATCH_SIDE**2 * conv.groups * CHANNELS_A_BYTE


def _slots_text() -> str:
    """Return the code that puts the bits of a byte into the line, one entry for each slot of a batch."""
    writer = AsmWriter()
    for slot in range(SLOTS_A_BATCH):
        after = (slot + 1) % SLOTS_A_BATCH
        writer.op(f"defw conv_pairs_tail_{slot}", "how the line ends before this slot")
        writer.label(f"conv_pairs_slot_{slot}", "a = bits of the byte, c = its code, hl = operand of the slot")
        for line in ("ld   b, a", "dec  a", "and  b", "xor  b", "xor  c", "ld   (hl), a"):
            writer.op(line)
        step = BATCH_NBYTES - SLOT_NBYTES * (SLOTS_A_BATCH - 1)
        wide = ["ld   a, l", f"add  a, {step}", "ld   l, a", "ld   a, h", "adc  a, 0", "ld   h, a"]
        for line in [*["inc  hl"] * SLOT_NBYTES, "xor  c", "xor  b"] if after else [*wide, "ld   a, b", "dec  a", "and  b"]:
            writer.op(line)
        writer.op(f"jp   nz, conv_pairs_slot_{after}", "a = the bits left")
        writer.op(f"ld   ix, conv_pairs_slot_{after}")
        writer.op("ret")
    return writer.text()


def _line_nbytes(slots: int) -> int:
    return slots // SLOTS_A_BATCH * BATCH_NBYTES + SLOT_NBYTES


def _line(slots: int) -> str:
    """Return the line: h = page of weights, d = page of nibbles, a = sum of the bytes, a' = sum of the first units' weights."""
    writer = AsmWriter()
    writer.label("conv_pairs_line")
    for _ in range(slots // SLOTS_A_BATCH):
        for register in "bel":
            writer.op("ld   l, 0")
            writer.op(f"ld   {register}, (hl)")
        for register in "bel":
            writer.op(f"add  a, {register}")
        for line in ("ex   af, af'", "ex   de, hl", "add  a, (hl)", "ld   l, b", "add  a, (hl)", "ld   l, e", "add  a, (hl)"):
            writer.op(line)
        writer.op("ex   de, hl")
        writer.op("ex   af, af'")
    writer.op(f"defs {SLOT_NBYTES}")
    return writer.text()


def scan_section(routine: str, conv: ConvPart) -> Section:
    """Return the code that looks at the bytes of a window for a routine."""
    row_nbytes = SCAN_ROW_NBYTES if _in_page(conv) else LONG_SCAN_ROW_NBYTES
    nbytes = PATCH_SIDE**2 * conv.groups * SCAN_BYTE_NBYTES + (PATCH_SIDE - 1) * row_nbytes + 1
    name = _scan_name(routine, conv)
    return table(name, nbytes, partial(_scan, routine, name, conv.groups, _in_page(conv)), Place.FAST, align=1)


def scan_tstates(conv: ConvPart) -> int:
    """Return what looking at a window without a bit takes, RET included."""
    byte, row = (27, 21) if _in_page(conv) else (29, 36)
    return PATCH_SIDE**2 * conv.groups * byte + (PATCH_SIDE - 1) * row + 10


def _in_page(conv: ConvPart) -> bool:
    """Tell whether the map lies within a page, so that its low address bytes do for the way through it."""
    return bits_nbytes(conv.inputs) <= PAGE


def _scan_name(routine: str, conv: ConvPart) -> str:
    return f"{routine}_{'scan' if _in_page(conv) else 'long_scan'}_{conv.groups}"


def _scan(routine: str, name: str, groups: int, in_page: bool) -> str:
    writer = AsmWriter()
    row = PATCH_SIDE * groups
    step, carry = ("inc  e", ()) if in_page else ("inc  de", ("ld   a, d", "adc  a, 0", "ld   d, a"))
    writer.label(name, "de = first byte of the window, hl = operand of the first slot")
    for number in range(PATCH_SIDE * row):
        if number and number % row == 0:
            writer.op(f"ld   a, ({routine}_row_rest)", "to the next row")
            for line in ("add  a, e", "ld   e, a", *carry):
                writer.op(line)
        for line in ("ld   a, (de)", step, "or   a", f"jr   z, {name}_{number}", f"ld   c, {byte_code(number)}"):
            writer.op(line)
        writer.op(f"call {routine}_slot")
        writer.label(f"{name}_{number}")
    writer.op("ret")
    return writer.text()


def layer_section(conv: ConvPart, routine: str, pages: int) -> Section:
    """Return the descriptor of a layer of so many pages for a routine, and what a window without a bit puts out."""
    nbytes = DESCRIPTOR_NBYTES + conv.units // CHANNELS_A_BYTE
    return table(f"{conv.conv.name}_layer", nbytes, partial(_layer, conv, routine, pages), align=1)


def _layer(conv: ConvPart, routine: str, pages: int) -> str:
    writer = AsmWriter()
    name, (rows, cols, _) = conv.conv.name, conv.positions
    step = conv.stride * conv.groups
    writer.label(f"{name}_layer", "the descriptor")
    writer.op(f"defw {bits_label(conv.source)}, {_scan_name(routine, conv)}, {bits_label(conv.output)}, {name}_blank")
    writer.data([conv.units // CHANNELS_A_BYTE], "bytes of a position's output")
    rest = [(conv.inputs[1] - PATCH_SIDE) * conv.groups, step, (conv.inputs[1] - cols) * step]
    writer.data(rest, "bytes to the next row of a window, position, row of positions")
    writer.data([cols, rows], "positions across and down")
    first = f"{name}_weight_page / {PAGE}"
    writer.op(f"defb {first}, {first} + {pages}")
    writer.label(f"{name}_blank", "of a window without a bit")
    writer.data(np.packbits((conv.conv.bias + 128) % PAGE >= 128, bitorder="little"))
    return writer.text()


def page_places(groups: int) -> Values:
    """Return where a page has the weights of each bit of a window, of so many bytes a place, (bits,)."""
    codes = np.array([byte_code(number) for number in range(PATCH_SIDE**2 * groups)])
    return np.asarray(codes[:, None] ^ 1 << np.arange(CHANNELS_A_BYTE)).ravel()


def bit_weights(conv: ConvPart) -> Values:
    """Return the weights of the bits of a window, those above the last channel too, (bits, units)."""
    weight = np.zeros((PATCH_SIDE**2, conv.groups * CHANNELS_A_BYTE, conv.units), np.int64)
    weight[:, : conv.inputs[2]] = conv.conv.weight.reshape(PATCH_SIDE**2, conv.inputs[2], conv.units)
    return weight.reshape(-1, conv.units)


def _pages(conv: ConvPart) -> Values:
    """Return the page of each pair of units, (pairs, 256)."""
    bias = conv.conv.bias.astype(np.int64)
    pages = np.zeros((conv.units // PAIR, PAGE), np.int64)
    pages[:, page_places(conv.groups)] = _packed(bit_weights(conv)).T
    pages[:, BIAS] = bias[::PAIR]
    pages[:, BIAS + 1] = _packed(bias)
    return pages


def _packed(weights: Values) -> Values:
    """Return weights (..., units) two units a byte, (..., pairs)."""
    return np.asarray(NIBBLE * weights[..., ::PAIR] + weights[..., 1::PAIR])


def _weights(conv: ConvPart) -> str:
    writer = AsmWriter()
    writer.label(f"{conv.conv.name}_weight_page")
    for pair, page in enumerate(_pages(conv)):
        writer.comment(f"units {PAIR * pair} and {PAIR * pair + 1}")
        writer.data(page)
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    conv = conv_part(part)
    slots, pages = window_bits(conv), conv.units // PAIR
    generated: dict[str, Callable[[], str]] = {"conv_pairs_slots": _slots_text, "conv_pairs_line": partial(_line, slots)}
    return (
        bits_section(conv.source, conv.inputs),
        Section("kernel/conv_pairs", CODE_NBYTES + _line_nbytes(slots), Place.FAST, generated=generated),
        scan_section("conv_pairs", conv),
        layer_section(conv, "conv_pairs", pages),
        table(f"{conv.conv.name}_weight_page", PAGE * pages, partial(_weights, conv)),
        nibble_section(),
        bits_section(conv.output, conv.outputs),
    )


CONV_PAIRS = Kernel(
    name="conv_pairs",
    kinds=(Conv, Requant),
    takes="bits",
    gives="bits",
    calls=calls_of("conv_pairs"),
    fits=partial(reject_pages, SIGN - 1),
    cost=_cost,
    count=_count,
    constants=_constants,
    sections=_sections,
    read=read_conv,
)
