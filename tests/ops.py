"""One operation at a time on a device: a workspace of given parameters, its steps, and how near results are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from zxml.data import pack_rows
from zxml.gpu.ops.workspace import Buffer, Op, Workspace
from zxml.ir import PICTURE_SIDE
from zxml.quant.params import Reals
from zxml.quant.tower import Param
from zxml.spec import InputSpec

WHOLE = InputSpec(0, 0, PICTURE_SIDE, PICTURE_SIDE)
Shape = tuple[int, ...]

BY_SAMPLE = pytest.mark.parametrize("by_sample", [False, True], ids=["tiles", "samples"])  # for GPUs, and for CPUs


def draw(seed: int, shape: Shape, spread: float = 2.0) -> Reals:
    """Return random numbers that float32 holds."""
    return np.random.default_rng(seed).normal(0.0, spread, shape).astype(np.float32).astype(np.float64)


def draw_integers(seed: int, shape: Shape, most: int = 6) -> Reals:
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype(np.float64)


def draw_pictures(seed: int, count: int) -> np.ndarray:
    return (np.random.default_rng(seed).random((count, PICTURE_SIDE, PICTURE_SIDE)) < 0.3).astype(np.uint8)


def make_space(queue: Any, batch: int, params: Mapping[str, Reals], seed: int = 0, by_sample: bool | None = None) -> Workspace:
    """Return a workspace whose batch is the pictures 0 to batch - 1, in an order of its own."""
    space = Workspace(queue, batch, 1, {name: Param(values) for name, values in params.items()}, by_sample)
    space.write(space.order, order_of(batch, seed), np.uint32)
    return space


def order_of(batch: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).permutation(batch)


def upload_pictures(space: Workspace, pictures: np.ndarray) -> Buffer:
    return space.buffer(pack_rows(pictures, WHOLE), np.uint32)


def run(
    space: Workspace, op: Op, grad: tuple[Buffer, Reals] | None, outputs: Sequence[tuple[Buffer, Shape]]
) -> tuple[list[Reals], dict[str, Reals]]:
    """Run an operation forward and, from a gradient of what it puts out, back; twice, for the same bits.

    Return the values of the output buffers, and the gradients of the parameters by name.
    """
    seen = []
    for _ in range(2):
        space.run(op.forward)
        if grad:
            space.write(*grad)
        space.run(op.backward)
        seen.append([space.read(buffer, *shape) for buffer, shape in outputs] + [space.read(space.grads, space.count)])
    for first, second in zip(*seen, strict=True):
        np.testing.assert_array_equal(first, second)
    return [values.astype(np.float64) for values in seen[0][:-1]], space.named(space.grads)


def assert_near(got: Reals, wanted: Reals | float, part: float = 1e-5, name: str = "") -> None:
    """Fail unless the difference is at most a small part of what is wanted."""
    wanted = np.asarray(wanted, np.float64)
    assert got.shape == wanted.shape, name
    assert np.isfinite(got).all(), name
    assert np.linalg.norm(got - wanted) <= part * np.linalg.norm(wanted) + 1e-6, name
