"""The tape as a .tzx file: the same blocks, with the pauses between them."""

from __future__ import annotations

from zxml.z80gen.blocks import split_tap

SIGNATURE = b"ZXTape!\x1a"
VERSION = bytes([1, 20])
STANDARD_BLOCK = b"\x10"
PAUSE_MS = 1000


def tzx_bytes(tap: bytes) -> bytes:
    """Return a .tzx file with the blocks of a .tap file; raise ZxmlError if that is damaged.

    Source: TZX specification 1.20, blocks "header" and "ID 10 - Standard Speed Data Block".
    """
    return SIGNATURE + VERSION + b"".join(map(_standard_block, split_tap(tap)))


def _standard_block(block: bytes) -> bytes:
    return b"".join(
        (
            STANDARD_BLOCK,
            PAUSE_MS.to_bytes(2, "little"),  # of silence, after the block
            len(block).to_bytes(2, "little"),
            block,
        )
    )
