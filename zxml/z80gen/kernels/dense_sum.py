"""dense_sum: output sums over the active units, from pages of products.

The layer before leaves one product index for each active unit, the same for every output; the index of unit u at level k is
`product_index(u, k, units)`. Units are two apart, since the layer before gets their numbers from page numbers, so levels go in
pairs: the odd one of a pair beside the even one, pairs `pair_stride` apart. A page of 256 products has room for `page_levels`
levels. It holds all, or else half of them: a unit at a level above takes two slots, one for half the levels, one for the rest.

Limits: unsigned weights, sums of 16 bits, 127 units of few levels; a batch of products must stay below 256.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Dense, Requant
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call, table
from zxml.z80gen.kernels.scores import read_scores, scores_section
from zxml.z80gen.writer import AsmWriter

BATCHES = (4, 3, 2, 1)  # products added up in 8 bits before the sum is taken into 16
FIRST_INDEX = 0x80
CODE_NBYTES = 42


def page_levels(units: int) -> int:
    """Return how many levels a page of products holds, beside a bias of two bytes."""
    return 2 * (256 // (2 * units + 2))


def held_levels(units: int, levels: int) -> int:
    """Return how many of the levels a page holds: all, half of them, or 0 if neither can be."""
    most = page_levels(units)
    return levels if levels <= most else levels // 2 if levels <= 2 * most and levels % 2 == 0 else 0


def slots_a_unit(units: int, levels: int) -> int:
    """Return the slots that a unit may take: 1, 2, or 0 if it has more levels than two slots can tell."""
    held = held_levels(units, levels)
    return levels // held if held else 0


def pair_stride(units: int) -> int:
    """Return how far apart the pairs of levels lie in a page of products; even."""
    return 256 // (256 // (2 * units + 2)) & ~1


def product_index(unit: int, level: int, units: int) -> int:
    """Return where the product of an active unit lies in each output's page, level in [1, page_levels]."""
    pair, odd = divmod(level - 1, 2)
    return (FIRST_INDEX + 2 * unit + odd + pair_stride(units) * pair) % 256


def line_nbytes(slots: int, batch: int) -> int:
    """Return the bytes of a line with so many slots, and an accumulation after each batch and at the start."""
    return 3 * -(-slots // batch) * (batch + 1) + 3


def _code_nbytes(part: Part, batch: int) -> int:
    return CODE_NBYTES + line_nbytes(_slots(part), batch)


def _slots(part: Part) -> int:
    units = len(_dense(part).weight)
    return units * slots_a_unit(units, _levels(part))


def _dense(part: Part) -> Dense:
    layer = part.layers[0]
    assert isinstance(layer, Dense)
    return layer


def _levels(part: Part) -> int:
    return part.before.levels if isinstance(part.before, Requant) else 0


def _fits(batch: int, part: Part) -> str | None:
    layer, levels = _dense(part), _levels(part)
    units = len(layer.weight)
    if not levels:
        return "needs activations in a few levels"
    if layer.sum_bits != 16:
        return f"sums are 16 bits wide, not {layer.sum_bits}"
    if layer.weight.min() < 0:
        return f"products are unsigned, and weights reach {layer.weight.min()}"
    if units > 127 or not slots_a_unit(units, levels):
        return f"a page holds {page_levels(units)} levels of {units} units, or half of up to twice as many, not of {levels}"
    most = int(layer.weight.max()) * held_levels(units, levels)
    if most * batch > 255:
        return f"a batch of {batch} products must stay below 256, and one may be {most}"
    return None


def _cost(batch: int, part: Part) -> Cost:
    units, slots = len(_dense(part).bias), _slots(part)
    nbytes = _code_nbytes(part, batch) + 256 * units + 2 * units
    terms = (Term("product", 14 * units, slots), Term("batch", 19 * units, slots // batch + 1))
    return Cost(nbytes, 76 + 125 * units, terms)


def _count(batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    slots = count_slots(inputs, _levels(part))
    return {"product": slots, "batch": slots // batch + 1}


def count_slots(values: Values, levels: int) -> Values:
    """Return how many slots the values (n, units), of so many levels, of each picture take, (n,)."""
    return np.asarray((values > 0).sum(axis=1) + (values > held_levels(values.shape[1], levels)).sum(axis=1))


def _constants(batch: int, part: Part) -> dict[str, int]:
    inputs, units = _dense(part).weight.shape
    return {"DENSE_BATCH": batch, "DENSE_UNITS": units, "DENSE_BIAS": (FIRST_INDEX + 2 * inputs) % 256}


def _line(batch: int, slots: int) -> str:
    writer = AsmWriter()
    accumulation = ("ld c, a", "add ix, bc")
    lines = [*accumulation]
    for _ in range(-(-slots // batch)):
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
        for level in range(1, held_levels(len(weights), levels) + 1):
            where = [product_index(i, level, len(weights)) for i in range(len(weights))]
            page[where] = weights * level
        at = (FIRST_INDEX + 2 * len(weights)) % 256
        page[at : at + 2] = int(layer.bias[unit]) & 255, int(layer.bias[unit]) >> 8 & 255
        writer.comment(f"output {unit}, bias {layer.bias[unit]} at {at}")
        writer.data(page)
    return writer.text()


def _sections(batch: int, part: Part) -> tuple[Section, ...]:
    units = len(_dense(part).bias)
    return (
        Section(
            "kernel/dense_sum",
            _code_nbytes(part, batch),
            Place.FAST,
            generated={"dense_line": partial(_line, batch, _slots(part))},
        ),
        scores_section(units),
        table("dense_product_page", 256 * units, partial(_pages, part)),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_scores(memory, symbols, len(_dense(part).bias))


def dense_sum(batch: int) -> Kernel:
    """Return the kernel that adds up this many products in 8 bits."""
    return Kernel(
        name=f"dense_sum_{batch}",
        kinds=(Dense,),
        takes=f"line of batches of {batch}",
        gives="scores",
        calls=call("dense_sum"),
        fits=partial(_fits, batch),
        cost=partial(_cost, batch),
        count=partial(_count, batch),
        constants=partial(_constants, batch),
        sections=partial(_sections, batch),
        read=_read,
        prefix="dense",
    )
