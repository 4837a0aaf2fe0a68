"""What the kernels that feed dense_sum have in common: how the levels of their units become indices of products."""

from __future__ import annotations

import numpy as np

from zxml.ir import Requant
from zxml.z80gen.kernel import Symbols, Values
from zxml.z80gen.kernels.dense_sum import held_levels, page_levels, product_index
from zxml.z80gen.writer import AsmWriter

LEVEL_PAGE_NBYTES = 128  # sums that are not negative


def full_sum(requant: Requant, units: int) -> int:
    """Return the least sum whose unit takes two slots, 0 if none does."""
    held = held_levels(units, requant.levels)
    return held << requant.shift if requant.levels > held else 0


def reject_levels(requant: Requant, units: int) -> str | None:
    """Return why the levels of units with sums of 8 bits cannot be told to dense_sum, or None."""
    if not held_levels(units, requant.levels):
        return f"{requant.levels} levels of {units} units have more product indices than two bytes can tell apart"
    if held_levels(units, requant.levels) < requant.levels and not 0 < full_sum(requant, units) < LEVEL_PAGE_NBYTES:
        return f"sums of 8 bits never reach {requant.levels} levels of {1 << requant.shift}"
    return None


def level_offset(level: int, units: int) -> int:
    """Return how far a level's product index lies from the unit's first one."""
    return (product_index(0, level, units) - product_index(0, 1, units)) % 256


def level_page(label: str, requant: Requant, units: int, first: int = 0) -> str:
    """Return the page of the product index of the level of each sum, from the index `first` on."""
    sums = np.arange(LEVEL_PAGE_NBYTES)
    levels = np.clip((sums >> requant.shift) + 1, 1, held_levels(units, requant.levels))
    writer = AsmWriter()
    writer.label(label, "where the level of each sum lies in a product page, from the unit's first index on")
    writer.data([first + level_offset(int(level), units) for level in levels])
    return writer.text()


def write_active(writer: AsmWriter, name: str, end: str, full: int, index: int) -> None:
    """Write the code that puts an active unit into the line of dense_sum, and goes to `end`, which is to follow it.

    Expects a = its sum, bc = where the index of that for unit 0 lies, l = unit, de = next free operand, ixl = slots left before
    the next accumulation. name: of labels; full: least sum that takes two slots, or 0; index: of the first of them, for unit 0.
    """
    if full:
        for op in (f"cp   {full}", f"jr   c, {name}_slot", f"ld   a, {index}"):
            writer.op(op)
        _write_slot(writer, f"{name}_slot")
    writer.label(f"{name}_slot")
    writer.op("ld   a, (bc)")
    _write_slot(writer, end)


def _write_slot(writer: AsmWriter, end: str) -> None:
    back = ("dec  de",) * 3
    for op in ("add  a, l", "add  a, l", "ld   (de), a", *back, "dec  ixl", f"jr   nz, {end}", "ld   ixl, DENSE_BATCH", *back):
        writer.op(op)


def read_levels(memory: bytes, symbols: Symbols, units: int) -> Values:
    """Return the levels, (units,), from the operands that were written into the line of dense_sum."""
    batch, last = symbols["DENSE_BATCH"], symbols["dense_line_last"]
    where = {product_index(u, k, units): (u, k) for u in range(units) for k in range(1, page_levels(units) + 1)}
    entry = int.from_bytes(memory[symbols["dense_entry"] : symbols["dense_entry"] + 2], "little")
    levels = np.zeros(units, np.int64)
    slot, operand = 0, last
    while operand > entry:
        unit, level = where.get(memory[operand], (0, 1000))  # an impossible level, if the index is none of ours
        levels[unit] += level
        slot += 1
        operand = last - 3 * (slot + slot // batch)
    return levels
