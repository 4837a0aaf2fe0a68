"""The formats `bits` and `planes`: maps of small values that one kernel leaves for the next, eight channels a byte.

`bits` is a map of zeros and ones. Bytes lie in raster order (y, x, group); bit j of group g is channel 8 g + j, and the bits
above the last channel are 0. A map of up to 256 bytes starts on a page, so its low address byte is the number of the byte.

`planes` is a map of 0, 1 and 2: each group has two bytes, first the bits of the channels of 1 or more, then those of 2. So the
greatest of several places is the OR of their bytes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from zxml.z80gen.kernel import Place, Section, Symbols, Values, table
from zxml.z80gen.writer import AsmWriter

CHANNELS_A_BYTE = 8
PAGE = 256
BITS, PLANES = "bits", "planes"
LEVELS = {BITS: 1, PLANES: 2}  # the greatest value, which is the number of bytes of a group


def bits_groups(channels: int) -> int:
    """Return the groups of a place."""
    return -(-channels // CHANNELS_A_BYTE)


def bits_nbytes(shape: tuple[int, ...], levels: int = 1) -> int:
    """Return the bytes of a map of shape (rows, cols, channels) and values from 0 to `levels`."""
    rows, cols, channels = shape
    return rows * cols * bits_groups(channels) * levels


def bits_label(layer_name: str) -> str:
    """Return the label of a layer's output."""
    return f"{layer_name}_bits"


def bits_section(layer_name: str, shape: tuple[int, ...], levels: int = 1) -> Section:
    """Return the buffer of a layer's output of shape (rows, cols, channels) and values from 0 to `levels`."""
    nbytes = bits_nbytes(shape, levels)
    text = partial(_text, layer_name, shape, levels)
    made = table(bits_label(layer_name), nbytes, text, Place.FAST, PAGE if nbytes <= PAGE else 1)
    return replace(made, has_constant=True)


def read_bits(memory: bytes, symbols: Symbols, layer_name: str, shape: tuple[int, ...], levels: int = 1) -> Values:
    """Return a layer's output, (rows, cols, channels), from 64K of memory; -1 where it has a bit of 2 without one of 1."""
    rows, cols, channels = shape
    at = symbols[bits_label(layer_name)]
    packed = np.frombuffer(memory[at : at + bits_nbytes(shape, levels)], np.uint8).reshape(rows, cols, -1, levels)
    planes = np.unpackbits(packed, axis=2, bitorder="little")[:, :, :channels].astype(np.int64)
    ordered = (np.diff(planes, axis=3) <= 0).all(axis=3)
    return np.where(ordered, planes.sum(axis=3), -1)


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


def _text(layer_name: str, shape: tuple[int, ...], levels: int) -> str:
    rows, cols, channels = shape
    writer = AsmWriter()
    writer.label(bits_label(layer_name), f"{rows} x {cols} places of {bits_groups(channels) * levels} bytes")
    writer.op(f"defs {bits_nbytes(shape, levels)}")
    return writer.text()
