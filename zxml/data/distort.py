"""Distorted training pictures, in integers: this page says what zxml/gpu/kernels/distort*.cl compute, bit for bit.

Each picture draws its distortion from a hash of (seed, epoch, picture index); there is no state. A pixel of the output looks
up a place in the picture: an affine map about the centre, plus a smooth field of displacements. Whether there is ink at that
place depends on the four pixels around it, on where between them it lies, in eighths of a pixel, and on how thick this
picture's strokes shall be; a table, `ink_table`, answers all that.

Fixed point: places are in 1/32768 pixel (PLACE_BITS), the affine map in 1/16384 (MAP_BITS), `>>` rounds down. Strengths of
any use keep places within 1024 pixels, and so all sums within 32 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.data.dataset import Images, Rows, pack_rows
from zxml.ir import PICTURE_SIDE
from zxml.spec import DistortSpec, InputSpec

Ints = NDArray[np.int32]
Hashes = NDArray[np.uint32]

PLACE_BITS = 15
MAP_BITS = 14
NORMAL_STD = 147.8  # of the sum of four bytes: sqrt(4 * (256**2 - 1) / 12)
WEAK = 141  # of 256: every second picture is distorted only 0.55 times as far
NODES = 6  # displacements are drawn at 6 x 6 nodes spread evenly over the picture
SPLINE_BITS = 6
STEPS = 8  # places between two pixels that the ink table tells apart, on each axis
THICKNESSES = 33  # the middle one leaves the strokes as they are
QUAD_ROWS, QUAD_PITCH = PICTURE_SIDE + 1, 32

# The numbers of a picture's draws; NODE and on are the nodes' x and then their y.
THICKNESS, SHIFT_X, SHIFT_Y, ROTATE, SCALE_X, SCALE_Y, SHEAR, WARP, NODE = range(9)


@dataclass(frozen=True)
class Strengths:
    """A DistortSpec in fixed point, except for thickness, which lies in the ink table."""

    shift: int  # in 1/256 pixel
    rotate: int  # these: what 256 steps of a normal draw are worth, in 1/16384
    scale: int
    shear: int
    warp: int  # what 256 steps of a normal draw are worth at the greatest warp, in 1/32768 pixel


def to_fixed_point(spec: DistortSpec) -> Strengths:
    """Return the strengths as the integers that the distortion multiplies by."""
    unit = 256 / NORMAL_STD
    rotate, scale, shear = (round(std * unit * (1 << MAP_BITS)) for std in (spec.rotate, spec.scale, spec.shear))
    return Strengths(round(spec.shift * 256), rotate, scale, shear, round(spec.warp * unit * (1 << PLACE_BITS)))


def distort(images: Images, window: InputSpec, spec: DistortSpec, seed: int, epoch: int) -> Rows:
    """Return the window's rows, (n, rows) as `pack_rows` packs them, of pictures (n, 28, 28) distorted."""
    picture = hash_u32(np.arange(len(images), dtype=np.uint32) ^ np.uint32(epoch_key(seed, epoch)))
    x, y = find_places(picture, to_fixed_point(spec))
    level = (((draw_uniform(picture, THICKNESS) * draw_factor(picture)) >> 8) + 32768) * THICKNESSES >> 16
    column, row = (np.clip(place + (1 << PLACE_BITS), 0, (QUAD_ROWS << PLACE_BITS) - 1) for place in (x, y))
    quad = find_quads(images)[np.arange(len(images))[:, None, None], row >> PLACE_BITS, column >> PLACE_BITS]
    step_x, step_y = ((place >> (PLACE_BITS - 3)) & (STEPS - 1) for place in (column, row))
    bits = ink_table(spec.thickness)[level[:, None, None], quad] >> (step_x * STEPS + step_y).astype(np.uint64)
    return pack_rows((bits & np.uint64(1)).astype(np.uint8), window)


def find_places(picture: Hashes, strengths: Strengths) -> tuple[Ints, Ints]:
    """Return x and y, (n, 28, 28), of the place in its picture that each pixel shows."""
    halves = 2 * np.arange(PICTURE_SIDE, dtype=np.int32) - (PICTURE_SIDE - 1)  # from the centre, in half pixels
    middle = (PICTURE_SIDE - 1) << (PLACE_BITS - 1)
    factor = draw_factor(picture)
    xx, xy, yx, yy = draw_map(picture, strengths, factor)
    places = []
    for axis, (per_column, per_row, shift) in enumerate([(xx, xy, SHIFT_X), (yx, yy, SHIFT_Y)]):
        start = middle + ((((draw_uniform(picture, shift) * strengths.shift) >> 8) * factor) >> 8)
        flat = start[:, None, None] + per_column[:, None, None] * halves + per_row[:, None, None] * halves[:, None]
        places.append(flat + draw_warp(picture, strengths, factor, axis))
    return places[0], places[1]


def draw_map(picture: Hashes, strengths: Strengths, factor: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the affine map from output to picture, (n,) each: x by x, x by y, y by x and y by y."""
    one = 1 << MAP_BITS
    angle = np.clip(draw_normal(picture, ROTATE, strengths.rotate, factor), -one, one)
    square = (angle * angle) >> MAP_BITS
    sine = angle - ((angle * (square // 6)) >> MAP_BITS)
    cosine = one - (square >> 1) + ((square * (square // 24)) >> MAP_BITS)
    scale_x = one + draw_normal(picture, SCALE_X, strengths.scale, factor)
    scale_y = one + draw_normal(picture, SCALE_Y, strengths.scale, factor)
    shear = draw_normal(picture, SHEAR, strengths.shear, factor)
    return (
        (cosine * scale_x) >> MAP_BITS,
        shear - ((sine * scale_y) >> MAP_BITS),
        (sine * scale_x) >> MAP_BITS,
        (cosine * scale_y) >> MAP_BITS,
    )


def draw_warp(picture: Hashes, strengths: Strengths, factor: Ints, axis: int) -> Ints:
    """Return the smooth displacement along one axis, (n, 28, 28)."""
    amplitude = ((draw_word(picture, WARP) >> 24).astype(np.int32) * strengths.warp) >> 8
    first = NODE + axis * NODES * NODES
    nodes = np.stack([draw_normal(picture, first + node, amplitude, factor) for node in range(NODES * NODES)], axis=1)
    spline = spline_table()
    across = nodes.reshape(-1, NODES, NODES) @ spline.T >> SPLINE_BITS  # (n, NODES, 28)
    return np.asarray(spline @ across >> SPLINE_BITS)


def spline_table() -> Ints:
    """Return how much each node weighs at each column or row, (28, NODES) in 1/64: Catmull-Rom, ends repeated."""
    at = np.arange(PICTURE_SIDE) * (NODES - 1)
    cell = np.minimum(at // (PICTURE_SIDE - 1), NODES - 2)
    t = at / (PICTURE_SIDE - 1) - cell
    weights = [(-t + 2 * t**2 - t**3) / 2, (2 - 5 * t**2 + 3 * t**3) / 2, (t + 4 * t**2 - 3 * t**3) / 2, (t**3 - t**2) / 2]
    table = np.zeros((PICTURE_SIDE, NODES))
    for offset, weight in enumerate(weights, start=-1):
        np.add.at(table, (np.arange(PICTURE_SIDE), np.clip(cell + offset, 0, NODES - 1)), weight)
    return np.rint(table * (1 << SPLINE_BITS)).astype(np.int32)


def find_quads(images: Images) -> NDArray[np.uint8]:
    """Return the classes of the four pixels around each place between pixels, (n, 29, 32) u8.

    Entry (r + 1, c + 1): two bits each, from bit 0, of the pixels (r, c), (r, c + 1), (r + 1, c) and (r + 1, c + 1).
    """
    classes = np.pad(classify(images), ((0, 0), (1, 1), (1, 1)))  # (n, 30, 30)
    table = np.zeros((len(images), QUAD_ROWS, QUAD_PITCH), np.uint8)
    table[:, :, :QUAD_ROWS] = (
        classes[:, :-1, :-1] | classes[:, :-1, 1:] << 2 | classes[:, 1:, :-1] << 4 | classes[:, 1:, 1:] << 6
    )
    return table


def classify(images: Images) -> NDArray[np.uint8]:
    """Return each pixel's class, (n, 28, 28): 0 far from ink, 1 beside ink, 2 ink that may thin, 3 ink that must stay.

    Ink may thin at the edge of a stroke of two pixels or more; a finer stroke would break.
    """
    ink = np.pad(images, ((0, 0), (1, 1), (1, 1)))  # (n, 30, 30)
    full, touched = _fold(np.bitwise_and, ink), _fold(np.bitwise_or, ink)  # (n, 29, 29), of blocks of two by two
    beside, inside, thick = _fold(np.bitwise_or, touched), _fold(np.bitwise_and, full), _fold(np.bitwise_or, full)
    return np.asarray(beside + images + (images & (inside | (1 - thick))))


def _fold(combine: np.ufunc, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return each block of two by two combined, one row and one column fewer."""
    rows = combine(values[:, :-1], values[:, 1:])
    return np.asarray(combine(rows[:, :, :-1], rows[:, :, 1:]))


def ink_table(thickness: float) -> NDArray[np.uint64]:
    """Return where there is ink, (THICKNESSES, 256): by thickness and quad, bit 8 * x + y for the place x, y in eighths.

    Bilinear between greys of 0 to 256, from half a step after the pixel, ink from 128. Thicker strokes lighten the pixels
    beside ink, thinner ones darken the ink that may thin.
    """
    more = np.rint(thickness * 256 * np.linspace(-1, 1, THICKNESSES)).astype(np.int64).clip(-256, 256)
    greys = np.stack([0 * more, more.clip(0), 256 + more.clip(None, 0), 256 + 0 * more])  # (class, THICKNESSES)
    near, far = (np.array(side) for side in (range(15, 0, -2), range(1, 16, 2)))  # weights in 1/16
    weights = [y * x for y in (near[:, None], far[:, None]) for x in (near, far)]  # (STEPS, STEPS) of each quad's pixel
    classes = np.arange(256)[:, None] >> [0, 2, 4, 6] & 3  # (256, 4)
    grey = np.tensordot(greys[classes], np.stack(weights), axes=(1, 0))  # (256, THICKNESSES, STEPS, STEPS) in 1/256
    ink = (grey >= 128 * 256).transpose(1, 0, 3, 2).reshape(THICKNESSES, 256, STEPS * STEPS)
    return np.packbits(ink, axis=2, bitorder="little").view("<u8")[:, :, 0].astype(np.uint64)


def epoch_key(seed: int, epoch: int) -> int:
    """Return the word from which all draws of an epoch come."""
    words = np.array([seed & 0xFFFFFFFF, epoch & 0xFFFFFFFF], np.uint32)
    return int(hash_u32(hash_u32(words[:1]) + words[1:])[0])


def hash_u32(words: Hashes) -> Hashes:
    """Return well mixed words. Source: Chris Wellons, https://nullprogram.com/blog/2018/07/31/ (lowbias32)."""
    sixteen, fifteen = np.uint32(16), np.uint32(15)
    words = (words ^ (words >> sixteen)) * np.uint32(0x7FEB352D)
    words = (words ^ (words >> fifteen)) * np.uint32(0x846CA68B)
    return words ^ (words >> sixteen)


def draw_word(picture: Hashes, draw: int) -> Hashes:
    """Return the draw of that number, (n,) u32."""
    return hash_u32(picture + np.uint32(draw * 0x9E3779B9 & 0xFFFFFFFF))


def draw_uniform(picture: Hashes, draw: int) -> Ints:
    """Return a draw from [-32768, 32767], (n,)."""
    return (draw_word(picture, draw) >> 16).astype(np.int32) - 32768


def draw_normal(picture: Hashes, draw: int, strength: int | Ints, factor: Ints) -> Ints:
    """Return a nearly normal draw, (n,): the sum of four bytes, less its mean, times strength and factor."""
    word = draw_word(picture, draw)
    total = sum((word >> shift & 255).astype(np.int32) for shift in (0, 8, 16, 24)) - 510
    return np.asarray((((total * strength) >> 8) * factor) >> 8, np.int32)


def draw_factor(picture: Hashes) -> Ints:
    """Return how far a picture is distorted, (n,) in 1/256: half of them WEAK, half 256, by a bit that no other draw uses."""
    return np.where(draw_word(picture, THICKNESS) & 1, WEAK, 256).astype(np.int32)
