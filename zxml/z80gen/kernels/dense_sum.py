"""dense_sum: output sums over the active units, from pages of products.

The layer before leaves one product index for each active unit, the same for every output; the index of unit u at level k
is `product_index(u, k, levels)`. Units are two apart, since the layer before gets their numbers from page numbers, so levels go
in pairs: the odd one of a pair beside the even one, pairs `pair_stride` apart.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Dense, Requant
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.writer import AsmWriter

BATCHES = (4, 3, 2, 1)  # products added up in 8 bits before the sum is taken into 16
FIRST_INDEX = 0x80
CODE_NBYTES = 42


def pair_stride(levels: int) -> int:
    """Return how far apart the pairs of levels lie in a page of products; even, and all pairs fit."""
    return 256 // -(-levels // 2) & ~1


def product_index(unit: int, level: int, levels: int) -> int:
    """Return where the product of an active unit lies in each output's page, level in [1, levels]."""
    pair, odd = divmod(level - 1, 2)
    return (FIRST_INDEX + 2 * unit + odd + pair_stride(levels) * pair) % 256


def line_nbytes(units: int, batch: int) -> int:
    """Return the bytes of a line with a slot for each unit and an accumulation after each batch and at the start."""
    return 3 * -(-units // batch) * (batch + 1) + 3


def _code_nbytes(units: int, batch: int) -> int:
    return CODE_NBYTES + line_nbytes(units, batch)


def _dense(part: Part) -> Dense:
    layer = part.layers[0]
    assert isinstance(layer, Dense)
    return layer


def _levels(part: Part) -> int:
    return part.before.levels if isinstance(part.before, Requant) else 0


def _fits(batch: int, part: Part) -> str | None:
    layer, levels = _dense(part), _levels(part)
    units = len(layer.weight)
    most = int(layer.weight.max()) * levels
    if not levels:
        return "needs activations in a few levels"
    if layer.sum_bits != 16:
        return f"sums are 16 bits wide, not {layer.sum_bits}"
    if layer.weight.min() < 0:
        return f"products are unsigned, and weights reach {layer.weight.min()}"
    if most * batch > 255:
        return f"a batch of {batch} products must stay below 256, and one may be {most}"
    if 2 * units + 2 > pair_stride(levels):
        return f"a page holds {levels} levels of at most {pair_stride(levels) // 2 - 1} units, not {units}"
    if line_nbytes(units, batch) > 255:
        return f"a line of {units} units is {line_nbytes(units, batch)} bytes long, and it must lie within a page"
    return None


def _cost(batch: int, part: Part) -> Cost:
    inputs, units = _dense(part).weight.shape
    nbytes = _code_nbytes(inputs, batch) + 256 * units + 2 * units
    terms = (Term("active unit", 14 * units, inputs), Term("batch", 19 * units, inputs // batch + 1))
    return Cost(nbytes, 72 + 125 * units, terms)


def _count(batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    active = (inputs > 0).sum(axis=1)
    return {"active unit": active, "batch": active // batch + 1}


def _constants(batch: int, part: Part) -> dict[str, int]:
    inputs, units = _dense(part).weight.shape
    return {"DENSE_BATCH": batch, "DENSE_UNITS": units, "DENSE_BIAS": (FIRST_INDEX + 2 * inputs) % 256}


def _line(batch: int, units: int) -> str:
    writer = AsmWriter()
    accumulation = ("ld c, a", "add ix, bc")
    lines = [*accumulation]
    for _ in range(-(-units // batch)):
        lines += ["ld l, 0", "ld a, (hl)"] + ["ld l, 0", "add a, (hl)"] * (batch - 1) + [*accumulation]
    for line in lines:
        writer.op(line)
    return writer.text()


def _pages(part: Part) -> str:
    layer, levels = _dense(part), _levels(part)
    writer = AsmWriter()
    writer.label("dense_product_page")
    for unit, weights in enumerate(layer.weight.T):  # (inputs,) of this output
        page = np.zeros(256, np.int64)
        for level in range(1, levels + 1):
            where = [product_index(i, level, levels) for i in range(len(weights))]
            page[where] = weights * level
        at = (FIRST_INDEX + 2 * len(weights)) % 256
        page[at : at + 2] = int(layer.bias[unit]) & 255, int(layer.bias[unit]) >> 8 & 255
        writer.comment(f"output {unit}, bias {layer.bias[unit]} at {at}")
        writer.data(page)
    return writer.text()


def _sections(batch: int, part: Part) -> tuple[Section, ...]:
    inputs, units = _dense(part).weight.shape
    scores = AsmWriter()
    scores.label("scores", "one word an output")
    scores.op(f"defs {2 * units}")
    size = 2 * units
    return (
        Section("kernel/dense_sum", _code_nbytes(inputs, batch), Place.FAST, 256, None, {"dense_line": _line(batch, inputs)}),
        table("scores", size, scores.text(), Place.FAST, align=1 << (size - 1).bit_length()),
        table("dense_product_page", 256 * units, _pages(part)),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    at, units = symbols["scores"], len(_dense(part).bias)
    return np.frombuffer(memory[at : at + 2 * units], "<i2").astype(np.int64)


def dense_sum(batch: int) -> Kernel:
    """Return the kernel that adds up this many products in 8 bits."""
    return Kernel(
        name=f"dense_sum_{batch}",
        kinds=(Dense,),
        takes=f"line of batches of {batch}",
        gives="scores",
        routines=("dense_sum",),
        fits=partial(_fits, batch),
        cost=partial(_cost, batch),
        count=partial(_count, batch),
        constants=partial(_constants, batch),
        sections=partial(_sections, batch),
        read=_read,
    )
