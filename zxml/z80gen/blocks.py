"""The blocks of a .tap file, for the formats that hold the same blocks in another way."""

from __future__ import annotations

from functools import reduce
from operator import xor

from zxml.errors import ZxmlError

LENGTH_BYTES = 2
FLAG_AND_PARITY_BYTES = 2


def split_tap(tap: bytes) -> list[bytes]:
    """Return the blocks of a .tap file, each a flag, its data and their parity; raise ZxmlError if the file is damaged."""
    blocks: list[bytes] = []
    position = 0
    while position < len(tap):
        first = position + LENGTH_BYTES
        position = first + int.from_bytes(tap[position:first], "little")
        blocks.append(_whole(tap[first:position], len(blocks) + 1, position - first))
    if not blocks:
        raise ZxmlError("tape: a .tap file without a block; make it anew")
    return blocks


def _whole(block: bytes, number: int, nbytes: int) -> bytes:
    """Return the block if it has the length that its file says, and the parity."""
    if len(block) != nbytes or nbytes < FLAG_AND_PARITY_BYTES:
        raise ZxmlError(f"tape: block {number} should have {nbytes} bytes, at least 2, and has {len(block)}; make it anew")
    if parity := reduce(xor, block):
        raise ZxmlError(f"tape: block {number} fails its parity by {parity}; make it anew")
    return block
