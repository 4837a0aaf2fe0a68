"""bit_sum_4bit: output sums over the set bits of a map, from unsigned weights of four bits, two a byte; slower than bit_sum.

The weights of an input lie together, so nothing needs to lie on a page, and nothing is compiled (asm/kernel/bit_sum_4bit.asm).
Limits: 255 bytes in a map, weights up to 15.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Dense
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.bit_sum import BIT_SUM, batch_size, bias_data, bit_weights, dense_of, map_name, reject_dense
from zxml.z80gen.kernels.bits import PAGE, bits_label, bits_nbytes, bits_section
from zxml.z80gen.kernels.scores import scores_section
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, PAIR_NBYTES, DESCRIPTOR_NBYTES = 134, 12, 8
MOST_WEIGHT, MOST_MAP_NBYTES = 15, 255


def _fits(part: Part) -> str | None:
    reason = reject_dense(part)
    if reason:
        return reason
    most = int(dense_of(part).weight.max())
    if most > MOST_WEIGHT:
        return f"weights are 0 to {MOST_WEIGHT}, not up to {most}"
    if bits_nbytes(part.shape) > MOST_MAP_NBYTES:
        return f"takes a map of at most {MOST_MAP_NBYTES} bytes, not {bits_nbytes(part.shape)}"
    return None


def _pairs(part: Part) -> int:
    return -(-len(dense_of(part).bias) // 2)


def _label(part: Part, role: str) -> str:
    return f"{dense_of(part).name}_{role}"


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   hl, {_label(part, 'layer')}", "call bit_sum_4bit"


def _cost(part: Part) -> Cost:
    layer, pairs = dense_of(part), _pairs(part)
    inputs, outputs = layer.weight.shape
    add = 95 + 77 * outputs
    nbytes = bits_nbytes(part.shape)
    terms = (
        Term("byte with a bit", 429, nbytes),
        Term("set bit", 29 + 67 * pairs, inputs),
        Term("full batch", 7 + add, inputs // batch_size(layer.weight)),
    )
    fixed = 317 + 42 * outputs + 54 * pairs + 111 * nbytes + add
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), fixed, terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    return BIT_SUM.count(part, inputs, outputs)


def _constants(part: Part) -> dict[str, int]:
    return {"BIT_SUM_OUTPUTS": len(dense_of(part).bias), "BIT_SUM_PAIRS": _pairs(part)}


def _add_pairs(part: Part) -> str:
    """Return the code that adds the weights of a bit, from de on, to the sums from hl on."""
    writer = AsmWriter()
    for pair in range(_pairs(part)):
        writer.op("ld   a, (de)", f"outputs {2 * pair} and {2 * pair + 1}")
        for line in ("ld   c, a", f"and  {MOST_WEIGHT}", "add  a, (hl)", "ld   (hl), a", "inc  l"):
            writer.op(line)
        for line in ("ld   a, (bc)", "add  a, (hl)", "ld   (hl), a", "inc  l", "inc  de"):
            writer.op(line)
    return writer.text()


def _high_page() -> str:
    writer = AsmWriter()
    writer.label("bit_sum_high_page", "the upper nibble of each byte")
    writer.data(np.arange(PAGE) >> 4)
    return writer.text()


def _part(part: Part) -> str:
    writer = AsmWriter()
    writer.label("bit_sum_part", "sums of a batch, one byte an output")
    writer.op(f"defs {2 * _pairs(part)}")
    return writer.text()


def _layer(part: Part) -> str:
    writer = AsmWriter()
    writer.label(_label(part, "layer"), "the descriptor for bit_sum_4bit")
    for name in (bits_label(map_name(part)), _label(part, "weight"), _label(part, "bias")):
        writer.op(f"defw {name}")
    writer.data([bits_nbytes(part.shape), batch_size(dense_of(part).weight)])
    bias_data(writer, part)
    return writer.text()


def _weights(part: Part) -> str:
    weight = bit_weights(part)  # (bits, outputs)
    padded = np.pad(weight, ((0, 0), (0, weight.shape[1] % 2)))
    writer = AsmWriter()
    writer.label(_label(part, "weight"), "a line for each bit of the map, a nibble for each output")
    for row in padded[:, ::2] | padded[:, 1::2] << 4:
        writer.data(row)
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    outputs, pairs = len(dense_of(part).bias), _pairs(part)
    size = CODE_NBYTES + PAIR_NBYTES * pairs
    sums = 2 * pairs
    return (
        bits_section(map_name(part), part.shape),
        Section("kernel/bit_sum_4bit", size, Place.FAST, generated={"bit_sum_4bit_pairs": partial(_add_pairs, part)}),
        table("bit_sum_high_page", PAGE, _high_page),
        table("bit_sum_part", sums, partial(_part, part), Place.FAST, align=1 << (sums - 1).bit_length()),
        table(_label(part, "layer"), DESCRIPTOR_NBYTES + 2 * outputs, partial(_layer, part), align=1),
        table(_label(part, "weight"), len(bit_weights(part)) * pairs, partial(_weights, part), align=1),
        scores_section(outputs),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return BIT_SUM.read(memory, symbols, part)


BIT_SUM_4BIT = Kernel("bit_sum_4bit", (Dense,), "bits", "scores", _calls, _fits, _cost, _count, _constants, _sections, _read)
