"""A picture as the Z80 reads it: 28 rows of 4 bytes, bit 7 of the first is the leftmost pixel, the last 4 bits are clear."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NBYTES = 112


def pack_pictures(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return pictures (n, 28, 28) of zeros and ones as bytes (n, 112)."""
    return np.packbits(np.pad(pictures, ((0, 0), (0, 0), (0, 4))), axis=2).reshape(len(pictures), NBYTES)
