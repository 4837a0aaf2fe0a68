"""What the Z80 does to a drawing before the net reads it, in NumPy: `asm/app/normalise.asm` gives the same bits.

MNIST's digits were boxed, scaled to 20 pixels on the longer side and placed by their centre of mass; so is a drawing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.ir import PICTURE_SIDE

CANVAS_SIDE = 56
SQUARE_SIDE = 20  # the digit's longer side in the picture
SQUARE_MIDDLE = 14  # the row and column of the picture where the centre of mass goes: MNIST's mean is 14.0 on both axes
SIDE_LEAST = 10  # of a box: smaller ones are magnified no more than twice
WINDOW_STEP = 14  # cells of the side for each cell of the window
WINDOW_MOST = 3

Bits = NDArray[np.uint8]


def normalise(canvas: Bits) -> Bits:
    """Return the picture (28, 28) of a drawing (56, 56), or pictures (n, 28, 28) of drawings (n, 56, 56).

    All division rounds down. The box of the set cells is `rows` x `cols` cells, and

        side   = max(rows, cols, 10)
        window = clip(side // 14, 1, 3)
        at[i]  = (2 * i + 1) * side // 40 + (window - 1) // 2, for i in 0..19

    square[r, c] = 1 where any cell (y - j, x - k) of the box is set, with y = at[r] - (side - rows) // 2,
    x = at[c] - (side - cols) // 2 and j, k in 0..window - 1. With n = sum(square),

        top  = clip(14 - (2 * sum(r * square) + n) // (2 * n), 0, 8)
        left = clip(14 - (2 * sum(c * square) + n) // (2 * n), 0, 8)

    and picture[top + r, left + c] = square[r, c]; all else is blank.
    """
    if canvas.ndim == 3:
        return np.array([normalise(one) for one in canvas], np.uint8).reshape(-1, PICTURE_SIDE, PICTURE_SIDE)
    picture = np.zeros((PICTURE_SIDE, PICTURE_SIDE), np.uint8)
    rows, cols = np.flatnonzero(canvas.any(axis=1)), np.flatnonzero(canvas.any(axis=0))
    if rows.size:
        box = canvas[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]
        side = max(*box.shape, SIDE_LEAST)
        square = _sample(_sample(box, side).T, side).T
        top, left = _place(square.sum(axis=1)), _place(square.sum(axis=0))
        picture[top : top + SQUARE_SIDE, left : left + SQUARE_SIDE] = square
    return picture


def _sample(cells: Bits, side: int) -> Bits:
    """Return 20 rows, each all that is set in one window of the rows of cells (rows, any)."""
    window = min(max(side // WINDOW_STEP, 1), WINDOW_MOST)
    last = (2 * np.arange(SQUARE_SIDE) + 1) * side // (2 * SQUARE_SIDE) + (window - 1) // 2 - (side - len(cells)) // 2
    rows = last[:, None] - np.arange(window)
    inside = (rows >= 0) & (rows < len(cells))
    return np.asarray((cells[rows.clip(0, len(cells) - 1)] & inside[..., None]).max(axis=1), np.uint8)


def _place(counts: NDArray[np.uint64]) -> int:
    """Return where the square begins along an axis on which its pixels are counted, (20,)."""
    total, moment = int(counts.sum()), int(counts @ np.arange(SQUARE_SIDE, dtype=np.uint64))
    centre = (2 * moment + total) // (2 * total) if total else 0
    return min(max(SQUARE_MIDDLE - centre, 0), PICTURE_SIDE - SQUARE_SIDE)
