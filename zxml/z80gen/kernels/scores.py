"""The format `scores`: one word an output, low byte first, within a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zxml.z80gen.kernel import Place, Section, Symbols, Values, table
from zxml.z80gen.writer import AsmWriter


def scores_section(outputs: int) -> Section:
    """Return the buffer of so many scores, which all kernels that give scores share."""
    size = 2 * outputs
    writer = AsmWriter()
    writer.label("scores", "one word an output")
    writer.op(f"defs {size}")
    made = table("scores", size, writer.text, Place.FAST, align=1 << (size - 1).bit_length())
    return replace(made, is_common=True)


def read_scores(memory: bytes, symbols: Symbols, outputs: int) -> Values:
    """Return the scores, (outputs,), from 64K of memory."""
    at = symbols["scores"]
    return np.frombuffer(memory[at : at + 2 * outputs], "<i2").astype(np.int64)
