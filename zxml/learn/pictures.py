"""Small pictures to learn from: 11 rows of 9 pixels, 13 bytes each, seen as 80 overlapping patches of 2 x 2 pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.errors import DataError
from zxml.ir import PICTURE_SIDE

ROWS, COLS = 11, 9
BLOCK = 2  # a small pixel is a block of 2 x 2 pixels in the middle of the picture
INK = 2  # the least number of set pixels that makes a block set: 1 and 3 read worse on validation
PATCH_ROWS, PATCH_COLS = ROWS - 1, COLS - 1
PATCHES, PATTERNS, CLASSES = PATCH_ROWS * PATCH_COLS, 16, 10
NBYTES = 13
OF_EACH_MOST = 227  # pictures of one digit: nine times as many are below 2048, where `count.log` ends

Bits = NDArray[np.uint8]
Patterns = NDArray[np.uint8]


def shrink(pictures: Bits) -> Bits:
    """Return small pictures (n, 11, 9) of pictures (n, 28, 28), both of zeros and ones."""
    top, left = PICTURE_SIDE // 2 - ROWS, PICTURE_SIDE // 2 - COLS
    middle = pictures[:, top : top + BLOCK * ROWS, left : left + BLOCK * COLS]
    set_pixels = middle.reshape(len(pictures), ROWS, BLOCK, COLS, BLOCK).sum(axis=(2, 4))
    return np.asarray(set_pixels >= INK, np.uint8)


def pack(small: Bits) -> Bits:
    """Return small pictures (n, 11, 9) as bytes (n, 13).

    Bytes 0..10 are columns 0..7 of each row, bit 7 is column 0; bytes 11..12 are column 8, bit 7 of byte 11 is row 0.
    """
    return np.hstack([np.packbits(small[:, :, :8], axis=2)[:, :, 0], np.packbits(small[:, :, 8], axis=1)])


def see_patterns(small: Bits) -> Patterns:
    """Return the pattern, 0..15, of each patch: (n, rows - 1, cols - 1) of pictures (n, rows, cols).

    Bit 3 is the pixel at the top left, bit 2 the one below it, bit 1 the one to its right, bit 0 the one across.
    """
    left, right = small[:, :, :-1], small[:, :, 1:]
    return np.asarray(left[:, :-1] << 3 | left[:, 1:] << 2 | right[:, :-1] << 1 | right[:, 1:], np.uint8)


def border(small: Bits) -> Bits:
    """Return pictures (n, 13, 11): small pictures (n, 11, 9) with a blank pixel all around."""
    return np.pad(small, ((0, 0), (1, 1), (1, 1)))


def choose_training(labels: Bits, count: int) -> NDArray[np.int64]:
    """Return which pictures a Spectrum learns from: the first of each digit, in turn, so picture i is a digit i % 10.

    Raises DataError if there are not that many of each digit.
    """
    of_each = [np.flatnonzero(labels == digit) for digit in range(CLASSES)]
    most = CLASSES * min(OF_EACH_MOST, *map(len, of_each))
    if count % CLASSES or not 0 < count <= most:
        raise DataError(f"training pictures must be a multiple of {CLASSES} up to {most}, got {count}")
    return np.stack([found[: count // CLASSES] for found in of_each], axis=1).ravel()
