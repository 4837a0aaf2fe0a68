"""The format `bits`: a map of zeros and ones that one kernel leaves for the next, eight channels a byte.

Bytes lie in raster order (y, x, group); bit j of group g is channel 8 g + j, and the bits above the last channel are 0. A map
of up to 256 bytes starts on a page, so its low address byte is the number of the byte.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from zxml.z80gen.kernel import Place, Section, Symbols, Values, table
from zxml.z80gen.writer import AsmWriter

CHANNELS_A_BYTE = 8
PAGE = 256


def bits_groups(channels: int) -> int:
    """Return the bytes of one place."""
    return -(-channels // CHANNELS_A_BYTE)


def bits_nbytes(shape: tuple[int, ...]) -> int:
    """Return the bytes of a map of shape (rows, cols, channels)."""
    rows, cols, channels = shape
    return rows * cols * bits_groups(channels)


def bits_label(layer_name: str) -> str:
    """Return the label of a layer's output."""
    return f"{layer_name}_bits"


def bits_section(layer_name: str, shape: tuple[int, ...]) -> Section:
    """Return the buffer of a layer's output of shape (rows, cols, channels)."""
    nbytes = bits_nbytes(shape)
    text = partial(_text, layer_name, shape)
    made = table(bits_label(layer_name), nbytes, text, Place.FAST, PAGE if nbytes <= PAGE else 1)
    return replace(made, has_constant=True)


def read_bits(memory: bytes, symbols: Symbols, layer_name: str, shape: tuple[int, ...]) -> Values:
    """Return a layer's output, (rows, cols, channels), from 64K of memory."""
    rows, cols, channels = shape
    at = symbols[bits_label(layer_name)]
    packed = np.frombuffer(memory[at : at + bits_nbytes(shape)], np.uint8).reshape(rows, cols, -1)
    return np.unpackbits(packed, axis=2, bitorder="little")[:, :, :channels].astype(np.int64)


def line_section(nbytes: int) -> Section:
    """Return the buffer of the code that kernels compile a map into, which they share, as long as any of them needs it."""
    return buffer_section("bits_line", nbytes)


def buffer_section(name: str, nbytes: int, align: int = 1) -> Section:
    """Return a buffer that layers share, as long as any of them needs it."""

    def write() -> str:
        writer = AsmWriter()
        writer.label(name)
        writer.op(f"defs {nbytes}")
        return writer.text()

    return table(name, nbytes, write, Place.FAST, align)


def _text(layer_name: str, shape: tuple[int, ...]) -> str:
    rows, cols, channels = shape
    writer = AsmWriter()
    writer.label(bits_label(layer_name), f"{rows} x {cols} places of {bits_groups(channels)} bytes")
    writer.op(f"defs {bits_nbytes(shape)}")
    return writer.text()
