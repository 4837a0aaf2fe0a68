"""Drawings as a player would make them, from pictures of known digits: how well the net reads them after `normalise`.

A picture is drawn anew at another size and anywhere on the canvas, in two ways: its strokes are thinned to lines and followed
by a pen, which is as thick however large the digit; or the whole picture is scaled, strokes and all.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zxml.ir import IntegerModel
from zxml.normalise import CANVAS_SIDE, Bits, normalise
from zxml.reference import run

SIDES = (16, 20, 24, 36, 44, 52)  # cells on the longer side of a drawing
PENS = (3, 4)  # cells across the pen
SCALED = 0  # in place of a pen: the picture itself, scaled
STEPS = 9  # places of the pen from one pixel to the next; the scale is below 3

Ints = NDArray[np.int64]


def measure_drawings(
    model: IntegerModel, pictures: Bits, labels: Bits, sides: tuple[int, ...] = SIDES, pens: tuple[int, ...] = (*PENS, SCALED)
) -> dict[int, list[float]]:
    """Return the share of drawings that the model reads right, by pen and then in the order of the sides.

    pictures: (n, 28, 28); labels: (n,). The places on the canvas are the same in each call.
    """
    shares: dict[int, list[float]] = {}
    for pen in pens:
        strokes = pictures if pen == SCALED else thin(pictures).astype(np.uint8)  # once: thinned again they stay as they are
        drawings = (draw(strokes, side, pen, seed=side) for side in sides)
        shares[pen] = [float((run(model, normalise(drawing)).digits == labels).mean()) for drawing in drawings]
    return shares


def draw(pictures: Bits, side: int, pen: int, seed: int) -> Bits:
    """Return drawings (n, 56, 56) of pictures (n, 28, 28): `side` cells on the longer side; by a pen or, if it is 0, scaled."""
    return scale(pictures, side, seed) if pen == SCALED else trace_strokes(pictures, side, pen, seed)


def scale(pictures: Bits, side: int, seed: int) -> Bits:
    """Return the pictures scaled: bilinear between pixels, a cell is set from one half on."""
    first, extent = find_boxes(pictures)  # (2, n): rows and columns
    ratio = extent.max(axis=0) / side
    corner = draw_corners(np.ceil(extent / ratio).astype(np.int64).clip(None, CANVAS_SIDE), seed)
    cells = np.arange(CANVAS_SIDE)
    places = first[..., None] - 0.5 + (cells - corner[..., None] + 0.5) * ratio[:, None]  # (2, n, 56), in pixels
    down, across = np.maximum(0, 1 - abs(places[..., None] - np.arange(pictures.shape[1])))  # (n, 56, 28) each
    grey = down @ pictures @ across.transpose(0, 2, 1)  # (n, 56, 56)
    return np.asarray(grey >= 0.5, np.uint8)


def trace_strokes(pictures: Bits, side: int, pen: int, seed: int) -> Bits:
    """Return the middle lines of the pictures' strokes, scaled and followed by a square pen of that many cells."""
    lines = thin(pictures)
    first, extent = find_boxes(lines)
    ratio = (side - pen) / (extent.max(axis=0) - 1).clip(1)
    corner = draw_corners(_round((extent - 1) * ratio) + pen, seed)
    path = np.zeros((len(pictures), CANVAS_SIDE, CANVAS_SIDE), bool)
    padded = np.pad(lines, ((0, 0), (0, 1), (1, 1)))
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1), (1, -1)):
        neighbour = padded[:, down : down + lines.shape[1], 1 + right : 1 + right + lines.shape[2]]
        n, row, col = (lines & neighbour).nonzero()
        for part in np.linspace(0, 1, STEPS):
            y = _round((row + part * down - first[0, n]) * ratio[n]) + corner[0, n]
            x = _round((col + part * right - first[1, n]) * ratio[n]) + corner[1, n]
            path[n, y, x] = True
    canvas = np.zeros_like(path)
    for y in range(pen):
        for x in range(pen):
            canvas[:, y:, x:] |= path[:, : CANVAS_SIDE - y, : CANVAS_SIDE - x]
    return canvas.astype(np.uint8)


def thin(pictures: Bits) -> NDArray[np.bool_]:
    """Return the middle lines of the strokes of pictures (n, rows, cols).

    Source: Zhang and Suen, A fast parallel algorithm for thinning digital patterns, CACM 27 (1984).
    """
    lines = pictures.astype(bool)
    while True:
        before = lines
        for north, east, south, west in ((0, 2, 4, 6), (4, 6, 0, 2)):
            ring = _ring(lines)
            count = sum(cell.astype(np.int8) for cell in ring)
            turns = sum((~left & right).astype(np.int8) for left, right in pairwise([*ring, ring[0]]))
            free = ~(ring[east] & ring[south] & (ring[north] | ring[west]))
            lines = lines & ~((count >= 2) & (count <= 6) & (turns == 1) & free)
        if (lines == before).all():
            return lines


def _ring(lines: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Return each pixel's eight neighbours, clockwise from the one above."""
    padded = np.pad(lines, ((0, 0), (1, 1), (1, 1)))
    rows, cols = lines.shape[1:]
    places = ((0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0), (0, 0))
    return [padded[:, down : down + rows, right : right + cols] for down, right in places]


def find_boxes(pictures: NDArray[np.generic]) -> tuple[Ints, Ints]:
    """Return the first row and column, and the rows and columns, of what is set in each picture: (2, n) each."""
    used = np.stack([pictures.any(axis=2), pictures.any(axis=1)])  # (2, n, places)
    first = used.argmax(axis=2)
    return first, used.shape[2] - used[..., ::-1].argmax(axis=2) - first


def draw_corners(extent: Ints, seed: int) -> Ints:
    """Return at random where boxes of (2, n) rows and columns lie on the canvas."""
    return np.random.default_rng(seed).integers(0, CANVAS_SIDE + 1 - extent)


def _round(values: NDArray[np.float64]) -> Ints:
    return np.floor(values + 0.5).astype(np.int64)
