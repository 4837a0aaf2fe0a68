"""front_bits: features of 3 x 3 pixels, pooled by OR, eight a byte; 512 bytes of tables for eight features, in constant time.

Each window's pattern is formed from the last three columns of three rows, and looked up once for every eight features
(asm/kernel/front_bits.asm). Limits: 8, 16, 24 or 32 features; any window of an even number of rows and columns.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import PATCH_SIDE, PatchConv, Pool
from zxml.z80gen.cost import Cost, Counts
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, bits_groups, bits_label, bits_nbytes, bits_section, read_bits
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, DESCRIPTOR_NBYTES = 198, 11
PATTERNS, PAGE = 512, 256
MOST_FILTERS, LEAST_SIDE = 32, 6
ROW_NBYTES = 4


def _parts(part: Part) -> tuple[PatchConv, Pool]:
    conv, pool = part.layers
    assert isinstance(conv, PatchConv)
    assert isinstance(pool, Pool)
    return conv, pool


def _map_shape(part: Part) -> tuple[int, int, int]:
    conv, _ = _parts(part)
    return (conv.window.rows - 2) // 2, (conv.window.cols - 2) // 2, conv.table.shape[1]


def _fits(part: Part) -> str | None:
    conv, _ = _parts(part)
    filters, window = conv.table.shape[1], conv.window
    if filters % CHANNELS_A_BYTE or not CHANNELS_A_BYTE <= filters <= MOST_FILTERS:
        return f"computes 8, 16, 24 or {MOST_FILTERS} features, not {filters}"
    if conv.table.min() < 0 or conv.table.max() > 1:
        return "features are bits"
    if window.rows % 2 or window.cols % 2 or min(window.rows, window.cols) < LEAST_SIDE:
        return f"the window must have an even number of rows and columns, {LEAST_SIDE} or more, got {window}"
    return None


def _label(part: Part, role: str) -> str:
    return f"{_parts(part)[0].name}_{role}"


def _calls(part: Part) -> tuple[str, ...]:
    return f"ld   de, {_label(part, 'layer')}", "call front_bits"


def _cost(part: Part) -> Cost:
    rows, cols, _ = shape = _map_shape(part)
    window = _parts(part)[0].window
    skip, groups = window.left % CHANNELS_A_BYTE, bits_groups(shape[2])
    loads = -(-(skip + window.cols) // CHANNELS_A_BYTE)  # of bytes, in each row of patterns
    row = 155 + 130 * loads + 199 * (skip + 2) + cols * (484 + 102 * groups)
    fixed = 505 + 21 * bits_nbytes(shape) + rows * (66 + 2 * row)
    return Cost(sum(section.nbytes for section in _sections(part)), fixed, ())


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    return {}


def _constants(part: Part) -> dict[str, int]:
    return {}


def _layer(part: Part) -> str:
    conv, pool = _parts(part)
    rows, cols, _ = shape = _map_shape(part)
    left, skip = divmod(conv.window.left, CHANNELS_A_BYTE)
    writer = AsmWriter()
    writer.label(_label(part, "layer"), "the descriptor for front_bits")
    writer.op(f"defw {conv.window.top * ROW_NBYTES + left}")
    writer.op(f"defw {bits_label(pool.name)}, {bits_nbytes(shape) - 1}")
    writer.data([skip, rows, cols, bits_groups(shape[2])])
    writer.op(f"defb {_label(part, 'page')} / {PAGE}")
    return writer.text()


def column_patterns() -> Values:
    """Return for each three columns of three pixels, the last column in the lowest bits, the pattern's number, (512,)."""
    index = np.arange(PATTERNS)
    patterns = np.zeros_like(index)
    for row in range(PATCH_SIDE):
        for column in range(PATCH_SIDE):
            bit = PATCH_SIDE * (PATCH_SIDE - 1 - column) + PATCH_SIDE - 1 - row
            patterns |= (index >> bit & 1) << (PATCH_SIDE * row + column)
    return patterns


def _tables(conv: PatchConv, label: str) -> str:
    features = np.packbits(conv.table[column_patterns()].astype(np.uint8), axis=1, bitorder="little")  # (512, groups)
    writer = AsmWriter()
    writer.label(label, "features of each three columns, the last in the lowest bits")
    for group, values in enumerate(features.T):
        writer.comment(f"features {CHANNELS_A_BYTE * group} to {CHANNELS_A_BYTE * group + CHANNELS_A_BYTE - 1}")
        writer.data(values)
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    conv, pool = _parts(part)
    shape = _map_shape(part)
    label = _label(part, "page")
    return (
        bits_section(pool.name, shape),
        Section("kernel/front_bits", CODE_NBYTES, Place.FAST),
        table(_label(part, "layer"), DESCRIPTOR_NBYTES, partial(_layer, part), align=1),
        table(label, PATTERNS * bits_groups(shape[2]), partial(_tables, conv, label), align=PATTERNS),
    )


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_bits(memory, symbols, _parts(part)[1].name, _map_shape(part))


FRONT_BITS = Kernel(
    "front_bits", (PatchConv, Pool), "picture", "bits", _calls, _fits, _cost, _count, _constants, _sections, _read
)
