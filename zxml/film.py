"""Several screens in one PNG: a film that moves, or a strip of stills."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import chain
from typing import Any

from skoolkit.graphics import Frame, scr_udgs
from skoolkit.image import ImageWriter

from zxml.errors import ZxmlError

ROWS, COLUMNS = 24, 32
MEMORY_BYTES = 0x10000
LONGEST_MS = 655_350  # a PNG counts hundredths of a second in 16 bits


def film_png(memories: Sequence[bytes | bytearray], delay_ms: int = 1000, scale: int = 2) -> bytes:
    """Return an animated PNG of the screens in memories of 65,536 bytes, each shown for a time, again and again.

    Raises ZxmlError for no screen, for a memory of another size, and for a delay that a PNG cannot hold.
    """
    if not 10 <= delay_ms <= LONGEST_MS or delay_ms % 10:
        raise ZxmlError(f"film: a delay is a multiple of 10 ms up to {LONGEST_MS}, got {delay_ms} ms")
    return _png([Frame(screen, scale, delay=delay_ms // 10) for screen in _screens(memories)])


def strip_png(memories: Sequence[bytes | bytearray], scale: int = 1) -> bytes:
    """Return a PNG of the screens in memories of 65,536 bytes, side by side; raise ZxmlError as film_png does."""
    rows = [[*chain(*parts)] for parts in zip(*_screens(memories), strict=True)]
    return _png([Frame(rows, scale)])


def _screens(memories: Sequence[bytes | bytearray]) -> list[Any]:
    """Return each screen as SkoolKit has it, 24 rows of 32 cells."""
    if not memories:
        raise ZxmlError("film: no screen to show; give at least one memory")
    for memory in memories:
        if len(memory) != MEMORY_BYTES:
            raise ZxmlError(f"film: a Spectrum has {MEMORY_BYTES} bytes of memory, ROM included, got {len(memory)}")
    return [scr_udgs(memory, 0, 0, COLUMNS, ROWS) for memory in memories]


def _png(frames: list[Frame]) -> bytes:
    image = io.BytesIO()
    ImageWriter().write_image(frames, image)
    return image.getvalue()
