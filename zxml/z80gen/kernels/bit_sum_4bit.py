"""bit_sum_4bit: output sums over a map of bits, or of 0 to 2, from unsigned weights of four bits; slower than bit_sum.

The weights of an input lie together, so nothing needs to lie on a page, and nothing is compiled (asm/kernel/bit_sum_4bit.asm).
In a map of planes both bytes of a group have the same weights (bit_sum_planes).
Limits: 255 bytes in a map, weights up to 15.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Dense
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.bit_sum import BIT_SUM, batch_size, bias_data, bit_weights, dense_of, map_name, reject_dense
from zxml.z80gen.kernels.bits import BITS, LEVELS, PAGE, PLANES, bits_label, bits_nbytes, bits_section
from zxml.z80gen.kernels.conv_part import pack_groups, total
from zxml.z80gen.kernels.planes_form import routine_for_planes
from zxml.z80gen.kernels.scores import scores_section
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, PAIR_NBYTES, DESCRIPTOR_NBYTES = {BITS: 134, PLANES: 144}, 12, 8
MOST_WEIGHT, MOST_MAP_NBYTES = 15, 255


def _fits(form: str, part: Part) -> str | None:
    reason = reject_dense(part, LEVELS[form])
    if reason:
        return reason
    most = int(dense_of(part).weight.max())
    if most > MOST_WEIGHT:
        return f"weights are 0 to {MOST_WEIGHT}, not up to {most}"
    nbytes = bits_nbytes(part.shape, LEVELS[form])
    if nbytes > MOST_MAP_NBYTES:
        return f"takes a map of at most {MOST_MAP_NBYTES} bytes, not {nbytes}"
    return None


def _pairs(part: Part) -> int:
    return -(-len(dense_of(part).bias) // 2)


def _label(part: Part, role: str) -> str:
    return f"{dense_of(part).name}_{role}"


def _routine_name(form: str) -> str:
    return "bit_sum_planes" if form == PLANES else "bit_sum_4bit"


def _calls(form: str, part: Part) -> tuple[str, ...]:
    return f"ld   hl, {_label(part, 'layer')}", f"call {_routine_name(form)}"


def _batch(form: str, part: Part) -> int:
    """Return how many weights can be added up in 8 bits, each of them as often as the map's values."""
    return batch_size(np.repeat(dense_of(part).weight, LEVELS[form], axis=0))


def _cost(form: str, part: Part) -> Cost:
    layer, pairs, levels = dense_of(part), _pairs(part), LEVELS[form]
    inputs, outputs = layer.weight.shape
    add = 95 + 77 * outputs
    nbytes = bits_nbytes(part.shape, levels)
    terms = (
        Term("byte with a bit", 429, nbytes),
        Term("set bit", 29 + 67 * pairs, inputs * levels),
        Term("full batch", 7 + add, inputs * levels // _batch(form, part)),
    )
    scanning = (111 + 34 * (form == PLANES)) * nbytes
    fixed = 317 + 42 * outputs + 54 * pairs + scanning + add
    return Cost(sum(section.nbytes for section in _sections(form, part)[1:]), fixed, terms)


def _count(form: str, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    bits = total(inputs)
    return {
        "byte with a bit": total(pack_groups(inputs, LEVELS[form]) > 0),
        "set bit": bits,
        "full batch": bits // _batch(form, part),
    }


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


def _layer(form: str, part: Part) -> str:
    writer = AsmWriter()
    writer.label(_label(part, "layer"), f"the descriptor for {_routine_name(form)}")
    for name in (bits_label(map_name(part)), _label(part, "weight"), _label(part, "bias")):
        writer.op(f"defw {name}")
    writer.data([bits_nbytes(part.shape, LEVELS[form]), _batch(form, part)])
    bias_data(writer, part)
    return writer.text()


def _weights(part: Part) -> str:
    weight = bit_weights(part)  # (bits, outputs)
    padded = np.pad(weight, ((0, 0), (0, weight.shape[1] % 2)))
    writer = AsmWriter()
    writer.label(_label(part, "weight"), "a line for each channel of the map, a nibble for each output")
    for row in padded[:, ::2] | padded[:, 1::2] << 4:
        writer.data(row)
    return writer.text()


def _routine(form: str, part: Part) -> Section:
    nbytes, name = CODE_NBYTES[form] + PAIR_NBYTES * _pairs(part), _routine_name(form)
    generated = {f"{name}_pairs": partial(_add_pairs, part)}
    if form == BITS:
        return Section("kernel/bit_sum_4bit", nbytes, Place.FAST, generated=generated)
    return routine_for_planes("kernel/bit_sum_4bit", "bit_sum_4bit", name, nbytes, generated)


def _sections(form: str, part: Part) -> tuple[Section, ...]:
    outputs, pairs = len(dense_of(part).bias), _pairs(part)
    sums = 2 * pairs
    return (
        bits_section(map_name(part), part.shape, LEVELS[form]),
        _routine(form, part),
        table("bit_sum_high_page", PAGE, _high_page),
        table("bit_sum_part", sums, partial(_part, part), Place.FAST, align=1 << (sums - 1).bit_length()),
        table(_label(part, "layer"), DESCRIPTOR_NBYTES + 2 * outputs, partial(_layer, form, part), align=1),
        table(_label(part, "weight"), len(bit_weights(part)) * pairs, partial(_weights, part), align=1),
        scores_section(outputs),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return BIT_SUM.read(memory, symbols, part)


def bit_sum_4bit(form: str) -> Kernel:
    """Return the kernel for maps of this format."""
    return Kernel(
        name=_routine_name(form),
        kinds=(Dense,),
        takes=form,
        gives="scores",
        calls=partial(_calls, form),
        fits=partial(_fits, form),
        cost=partial(_cost, form),
        count=partial(_count, form),
        constants=_constants,
        sections=partial(_sections, form),
        read=_read,
    )


BIT_SUM_4BIT, BIT_SUM_PLANES = bit_sum_4bit(BITS), bit_sum_4bit(PLANES)
