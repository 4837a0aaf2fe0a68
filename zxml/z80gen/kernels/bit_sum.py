"""bit_sum: output sums over the set bits of a map, from unsigned weights of a byte each; 256 bytes an output and 256 inputs.

The set bits are compiled into a line of look-ups, which runs once an output (asm/kernel/bit_sum.asm). As many weights are added
up in 8 bits as the largest of any output allow without overflow. Limits: 2,048 bits in a map, 127 pages of weights.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Dense
from zxml.ir.layers import IntArray
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_groups, bits_label, bits_nbytes, bits_section, line_section
from zxml.z80gen.kernels.conv_part import pack_groups, total
from zxml.z80gen.kernels.scores import read_scores, scores_section
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, DESCRIPTOR_NBYTES = 273, 10
SLOT_NBYTES, ADD_NBYTES = 3, 4  # ld l, k / add a, (hl); ld c, a / add ix, bc / xor a
MOST_MAP_NBYTES, MOST_PAGES, MOST_SUM = 256, 127, 255
INC_H, NOP = 0x24, 0x00


def dense_of(part: Part) -> Dense:
    """Return the layer of a part of (Dense,)."""
    layer = part.layers[0]
    assert isinstance(layer, Dense)
    return layer


def reject_dense(part: Part, levels: int = 1) -> str | None:
    """Return why no kernel of sums over a map of values up to `levels` can compute the part, or None."""
    layer = dense_of(part)
    if part.before is None or len(part.shape) != 3 or part.inputs.lo < 0 or part.inputs.hi > levels:
        return f"takes a map of {f'0 to {levels}' if levels > 1 else 'bits'}, not values in {part.inputs}"
    if layer.sum_bits != 16:
        return f"sums are 16 bits wide, not {layer.sum_bits}"
    if layer.weight.min() < 0 or layer.weight.max() > MOST_SUM:
        return f"weights are unsigned bytes, not in [{layer.weight.min()}, {layer.weight.max()}]"
    return None


def _fits(part: Part) -> str | None:
    reason = reject_dense(part)
    if reason:
        return reason
    if bits_nbytes(part.shape) > MOST_MAP_NBYTES:
        return f"takes a map of at most {MOST_MAP_NBYTES} bytes, not {bits_nbytes(part.shape)}"
    outputs = len(dense_of(part).bias)
    if _pages(part) * outputs > MOST_PAGES:
        return f"at most {MOST_PAGES} pages of weights, not {_pages(part)} for each of {outputs} outputs"
    return None


def map_name(part: Part) -> str:
    """Return the name of the layer that leaves the map."""
    assert part.before is not None
    return part.before.name


def _label(part: Part, role: str) -> str:
    return f"{dense_of(part).name}_{role}"


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   hl, {_label(part, 'layer')}", "call bit_sum"


def _pages(part: Part) -> int:
    """Return the pages of an output's weights."""
    return -(-bits_nbytes(part.shape) * CHANNELS_A_BYTE // PAGE)


def _page_ends(part: Part) -> int:
    """Return how often the line goes on to the next page."""
    return bits_nbytes(part.shape) * CHANNELS_A_BYTE // PAGE


def batch_size(weight: IntArray) -> int:
    """Return how many of the weights (inputs, outputs) of any output can be added up in 8 bits, whichever they are."""
    largest = -np.sort(-weight.astype(np.int64), axis=0)[:MOST_SUM]
    fits = (np.cumsum(largest, axis=0) <= MOST_SUM).all(axis=1)
    return max(1, int(fits.sum()))


def _line_nbytes(part: Part) -> int:
    inputs = len(dense_of(part).weight)
    return SLOT_NBYTES * inputs + ADD_NBYTES * (inputs // batch_size(dense_of(part).weight) + 1) + _page_ends(part)


def _cost(part: Part) -> Cost:
    layer = dense_of(part)
    inputs, outputs = layer.weight.shape
    nbytes = bits_nbytes(part.shape)
    terms = (
        Term("byte with a bit", 135, nbytes),
        Term("set bit", 47 + 14 * outputs, inputs),
        Term("full batch", 93 + 23 * outputs, inputs // batch_size(layer.weight)),
    )
    scanning = 105 * nbytes + 11 * _page_ends(part)
    output = 122 + 29 + 4 * _page_ends(part)
    fixed = 603 + scanning + 42 * outputs + output * outputs
    return Cost(sum(section.nbytes for section in _sections(part)[1:]), fixed, terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    bits = total(inputs)
    return {
        "byte with a bit": total(pack_groups(inputs) > 0),
        "set bit": bits,
        "full batch": bits // batch_size(dense_of(part).weight),
    }


def _constants(part: Part) -> dict[str, int]:
    return {}


def _scan() -> str:
    """Return the code that puts the set bits of a byte into the line."""
    writer = AsmWriter()
    for bit in range(CHANNELS_A_BYTE):
        writer.op("rrca")
        writer.op(f"jr   nc, bit_sum_bit_{bit}")
        for register in "ecd":
            writer.op(f"ld   (hl), {register}")
            writer.op("inc  hl")
        writer.op(f"djnz bit_sum_bit_{bit}")
        writer.op("call bit_sum_add")
        writer.label(f"bit_sum_bit_{bit}")
        writer.op("inc  c")
    return writer.text()


def _layer(part: Part) -> str:
    outputs = len(dense_of(part).bias)
    page = f"{_label(part, 'page')} / {PAGE}"
    writer = AsmWriter()
    writer.label(_label(part, "layer"), "the descriptor for bit_sum")
    writer.op(f"defw {bits_label(map_name(part))}")
    writer.op(f"defw {_label(part, 'bias')}")
    writer.data([batch_size(dense_of(part).weight), 2 * outputs, bits_nbytes(part.shape)])
    writer.op(f"defb {page}, {page} + {_pages(part) * outputs}")
    writer.data([INC_H if _page_ends(part) < _pages(part) else NOP])
    bias_data(writer, part)
    return writer.text()


def bias_data(writer: AsmWriter, part: Part) -> None:
    """Write the biases, one word an output."""
    writer.label(_label(part, "bias"))
    for bias in dense_of(part).bias:
        writer.op(f"defw {int(bias) % 65536}")


def bit_weights(part: Part) -> Values:
    """Return the weights of each bit of the map, (bits, outputs); 0 for bits above the last channel."""
    layer, (rows, cols, channels) = dense_of(part), part.shape
    width = bits_groups(channels) * CHANNELS_A_BYTE
    weight = np.zeros((rows * cols, width, len(layer.bias)), np.int64)
    weight[:, :channels] = layer.weight.reshape(rows * cols, channels, -1)
    return weight.reshape(rows * cols * width, -1)


def _weights(part: Part) -> str:
    bits = bit_weights(part)
    weight = np.pad(bits, ((0, _pages(part) * PAGE - len(bits)), (0, 0)))
    writer = AsmWriter()
    writer.label(_label(part, "page"))
    for output in range(weight.shape[1]):
        writer.comment(f"output {output}: a weight for each bit of the map")
        writer.data(weight[:, output])
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    outputs = len(dense_of(part).bias)
    return (
        bits_section(map_name(part), part.shape),
        Section("kernel/bit_sum", CODE_NBYTES, Place.FAST, generated={"bit_sum_scan": _scan}),
        line_section(_line_nbytes(part)),
        table(_label(part, "layer"), DESCRIPTOR_NBYTES + 2 * outputs, partial(_layer, part), align=1),
        table(_label(part, "page"), PAGE * _pages(part) * outputs, partial(_weights, part)),
        scores_section(outputs),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_scores(memory, symbols, len(dense_of(part).bias))


BIT_SUM = Kernel("bit_sum", (Dense,), "bits", "scores", _calls, _fits, _cost, _count, _constants, _sections, _read)
