"""Small models and pictures for tests, made from a seed or drawn by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from zxml.ir import ArgMax, Dense, IntegerModel, PatchSum, Requant, Window
from zxml.z80gen.kernels.dense_sum import page_levels


def random_model(
    seed: int, units: int = 6, levels: int = 4, shift: int = 5, weight: int = 7, rows: int = 20, top: int = 4, classes: int = 10
) -> IntegerModel:
    """Return a model that the Z80 kernels fit: signed weights on pixels, unsigned ones on activations."""
    rng = np.random.default_rng(seed)
    table = np.zeros((rows * 20, 2, units), np.int32)
    table[:, 1] = rng.integers(-weight, weight + 1, (rows * 20, units))
    bias = rng.integers(-128, 128, units).astype(np.int32)
    output = rng.integers(0, 255 // min(levels, page_levels(units)) // 4 + 1, (units, classes)).astype(np.int32)
    layers = (
        PatchSum("hidden", Window(top, 4, rows, 20), 1, 1, 8, table, bias),
        Requant("levels", shift, levels),
        Dense("scores", 16, output, rng.integers(0, 1000, classes).astype(np.int32)),
        ArgMax("digit"),
    )
    return IntegerModel(f"random{seed}", seed, layers)


@st.composite
def models(draw: st.DrawFn) -> IntegerModel:
    """Draw a model that the Z80 kernels fit, of any size and any strength."""
    units = draw(st.integers(1, 12) | st.sampled_from([30, 50]))
    held = page_levels(units)
    one_slot = st.tuples(st.integers(1, min(held, 8)), st.integers(0, 7))
    levels, shift = draw(one_slot | st.just((2 * held, 2)) if held < 32 else one_slot)
    rows = 2 * draw(st.integers(1, 12))
    return random_model(
        seed=draw(st.integers(0, 2**32 - 1)),
        units=units,
        levels=levels,
        shift=shift,
        weight=draw(st.sampled_from([0, 1, 7, 127])),
        rows=rows,
        top=draw(st.integers(0, 28 - rows)),
        classes=draw(st.integers(2, 12)),
    )


def extreme_pictures() -> NDArray[np.uint8]:
    """Return pictures (n, 28, 28) that are hard on code: blank, full, checkerboards, stripes, every border, single pixels."""
    row, column = np.mgrid[0:28, 0:28]
    patterns = [
        row < 0,
        row >= 0,
        (row + column) % 2 == 0,
        (row + column) % 2 == 1,
        row % 2 == 0,
        column % 2 == 0,
        column % 2 == 1,
        column == 4,
        column == 23,
        row == 4,
        row == 23,
        (row == 4) & (column == 4),
        (row == 23) & (column == 23),
        (column < 4) | (column > 23) | (row < 4) | (row > 23),
    ]
    return np.array(patterns, np.uint8)


def random_pictures(seed: int, count: int) -> NDArray[np.uint8]:
    """Return noise from sparse to dense, (count, 28, 28)."""
    rng = np.random.default_rng(seed)
    return (rng.random((count, 28, 28)) < np.linspace(0.02, 0.98, count)[:, None, None]).astype(np.uint8)
