"""Whole trainings of plain nets: the back end that suits the device, epochs, their times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.errors import DeviceError, SpecError
from zxml.gpu.device import choose_shape
from zxml.gpu.nets.engine import NetTrainer
from zxml.gpu.nets.layout import GROUP
from zxml.gpu.nets.shape import NetShape, Params

TRIAL_STEPS = 8


@dataclass(frozen=True, eq=False)
class NetTrained:
    """The back end that ran, each epoch's time in ms, and the parameters."""

    backend: str
    ms: list[float]
    params: Params


def train_net(
    shape: NetShape,
    pictures: NDArray[np.uint32],
    labels: NDArray[np.uint8],
    device: Any,
    epochs: int,
    seed: int,
    backend: str | None = None,
    report: Callable[[int], None] = lambda epoch: None,
) -> NetTrained:
    """Train a net on pictures (n, rows), bit c = column c, and labels (n,).

    device: as `zxml.gpu.device.choose` returns it; backend: one of `engine.BACKENDS`, chosen by the device if None; report:
    called after each epoch.

    Raises SpecError for a net that has no fused kernels or fewer pictures than a batch, DeviceError if the driver does not
    build them.
    """
    check_shape(shape, len(labels))
    queue = cl.CommandQueue(cl.Context([device]))
    backend = backend or choose_backend(queue, shape)
    trainer = NetTrainer(queue, shape, pictures, labels, seed, backend)
    ms = []
    for epoch in range(epochs):
        start = time.perf_counter()
        trainer.learn_epoch(epoch)
        ms.append(1e3 * (time.perf_counter() - start))
        report(epoch)
    return NetTrained(backend, ms, trainer.read_params())


def check_shape(shape: NetShape, count: int) -> None:
    """Raise SpecError unless there are fused kernels for the net and enough pictures."""
    fits = (len(shape.hidden) == 2 and not shape.filters) or (not shape.hidden and 1 <= shape.filters <= 16)
    if not fits or shape.cols > 32 or shape.classes > 16 or shape.batch % 32:
        raise SpecError(
            f"{shape}: fused kernels take two hidden layers or up to 16 filters, 32 columns and 16 classes at most, and "
            "batches of a multiple of 32; change the net"
        )
    if count < shape.batch:
        raise SpecError(f"{shape}: needs {shape.batch} pictures (a batch), got {count}; give more")


def choose_backend(queue: Any, shape: NetShape) -> str:
    """Return the fastest back end that works: persistent only where all groups fit at once and a trial gives the same bits."""
    if choose_shape(queue.device) == "tiles" or queue.device.max_work_group_size < GROUP or not groups_fit(queue, shape):
        return "tiles"
    groups = shape.batch if shape.filters else shape.hidden[0]
    return "persistent" if groups <= queue.device.max_compute_units and persistence_holds(queue, shape) else "groups"


def groups_fit(queue: Any, shape: NetShape) -> bool:
    """Return whether the device has the local memory for a group."""
    try:
        return _make_trial(queue, shape, "groups").local_nbytes() <= int(queue.device.local_mem_size)
    except DeviceError:  # some drivers refuse to build what cannot run
        return False


def persistence_holds(queue: Any, shape: NetShape) -> bool:
    """Return whether a few steps in one launch end, and with the bits that a launch a phase gives."""
    results = []
    for backend in ("groups", "persistent"):
        trainer = _make_trial(queue, shape, backend)
        trainer.start_epoch(0)
        trainer.run(TRIAL_STEPS)
        if not trainer.met():
            return False
        results.append(trainer.read_params())
    return all(np.array_equal(one, other) for one, other in zip(*results, strict=True))


def _make_trial(queue: Any, shape: NetShape, backend: str) -> NetTrainer:
    rng = np.random.default_rng(0)
    count = (TRIAL_STEPS + 1) * shape.batch
    pictures = rng.integers(0, 1 << shape.cols, (count, shape.rows)).astype(np.uint32)
    return NetTrainer(queue, shape, pictures, rng.integers(0, shape.classes, count).astype(np.uint8), 0, backend)
