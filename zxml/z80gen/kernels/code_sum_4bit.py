"""code_sum_4bit: sums of half a byte for each code at each place, 16 bits wide; small and slow, for front_codes and code_sum.

It takes the features themselves and looks the code of each place up (asm/kernel/code_sum_4bit.asm). Limits: 8 features of a
bit, 256 places, weights of 0 to 15, an even number of outputs, 255 bytes of weights a place.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Codebook, CodeSum
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.bits import BITS, CHANNELS_A_BYTE, PAGE, bits_label, bits_section
from zxml.z80gen.kernels.scores import read_scores, scores_section
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES = 82
MOST_WEIGHT, MOST_ROWS_NBYTES = 15, 255


def _parts(part: Part) -> tuple[Codebook, CodeSum]:
    codes, sums = part.layers
    assert isinstance(codes, Codebook)
    assert isinstance(sums, CodeSum)
    return codes, sums


def _outputs(part: Part) -> int:
    return len(_parts(part)[1].bias)


def _codes(part: Part) -> int:
    """Return the greatest code that has weights."""
    return max(1, int(_parts(part)[0].code.max()))


def _rows_nbytes(part: Part) -> int:
    """Return the bytes of the rows of a place, one for each code, a nibble an output."""
    return _codes(part) * _outputs(part) // 2


def _places(part: Part) -> int:
    return part.shape[0] * part.shape[1]


def _fits(part: Part) -> str | None:
    codes, sums = _parts(part)
    if part.before is None or part.shape[2] != CHANNELS_A_BYTE or part.inputs.lo < 0 or part.inputs.hi > 1:
        return f"takes a map of {CHANNELS_A_BYTE} features of a bit"
    if sums.sum_bits != 16:
        return f"sums are 16 bits wide, not {sums.sum_bits}"
    if _outputs(part) % 2:
        return f"computes an even number of outputs, not {_outputs(part)}"
    if codes.code.min() < 0 or sums.table.min() < 0 or sums.table.max() > MOST_WEIGHT or sums.table[:, 0].any():
        return f"weights are 0 to {MOST_WEIGHT}, 0 for code 0; they reach from {sums.table.min()} to {sums.table.max()}"
    if _places(part) > PAGE:
        return f"takes a map of at most {PAGE} places, not {_places(part)}"
    if _rows_nbytes(part) > MOST_ROWS_NBYTES:
        return f"the weights of a place may take {MOST_ROWS_NBYTES} bytes, not {_rows_nbytes(part)}"
    return None


def _source(part: Part) -> str:
    assert part.before
    return part.before.name


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   bc, {bits_label(_source(part))}", "call code_sum_4bit"


def _cost(part: Part) -> Cost:
    pairs, places = _outputs(part) // 2, _places(part)
    nbytes = sum(section.nbytes for section in _sections(part)[1:])
    return Cost(nbytes, 93 + 84 * pairs + 87 * places, (Term("place with a code", 71 + 165 * pairs, places),))


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    return {"place with a code": (outputs[0] > 0).sum(axis=(1, 2, 3))}


def _constants(part: Part) -> dict[str, int]:
    return {
        "CODE_4BIT_PAIRS": _outputs(part) // 2,
        "CODE_4BIT_ROWS": _rows_nbytes(part),
        "CODE_4BIT_PLACES": _places(part) % PAGE,
    }


def _page(part: Part) -> str:
    writer = AsmWriter()
    writer.label("code_sum_4bit_page", "the row of the code of each byte of features; 0: no code")
    writer.data(_parts(part)[0].code * (_outputs(part) // 2))
    return writer.text()


def _weights(part: Part) -> str:
    _, sums = _parts(part)
    table = sums.table[:, 1 : _codes(part) + 1].astype(np.int64)  # (places, codes, outputs)
    writer = AsmWriter()
    writer.label("code_sum_4bit_bias")
    writer.data(np.stack([sums.bias & 255, sums.bias >> 8 & 255], axis=1).ravel())
    writer.label("code_sum_4bit_weight", "a line for each code of each place, a nibble for each output")
    for row in (table[:, :, ::2] << 4 | table[:, :, 1::2]).reshape(-1, _outputs(part) // 2):
        writer.data(row)
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    outputs = _outputs(part)
    return (
        bits_section(_source(part), part.shape),
        Section("kernel/code_sum_4bit", CODE_NBYTES, Place.FAST),
        table("code_sum_4bit_page", PAGE, partial(_page, part)),
        table("code_sum_4bit_weight", 2 * outputs + _places(part) * _rows_nbytes(part), partial(_weights, part), align=1),
        scores_section(outputs),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_scores(memory, symbols, _outputs(part))


CODE_SUM_4BIT = Kernel(
    name="code_sum_4bit",
    kinds=(Codebook, CodeSum),
    takes=BITS,
    gives="scores",
    calls=_calls,
    fits=_fits,
    cost=_cost,
    count=_count,
    constants=_constants,
    sections=_sections,
    read=_read,
)
