"""Plain float training of two-layer nets on every back end: what benchmarks time, on the kernels of the product's own nets."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.backends import choose_backend, make_step
from zxml.gpu.float_net import float_accuracy, initial_float_params
from zxml.gpu.net import FloatSpec
from zxml.gpu.schedule import constant_rates
from zxml.gpu.shuffle import Shuffler
from zxml.quant.params import Params

Pictures = NDArray[np.uint8]

A784 = FloatSpec(rows=28, cols=28, grey=True)
A256 = FloatSpec(rows=16, cols=16, grey=False)


@dataclass(frozen=True, eq=False)
class FloatTrained:
    """What came of a training: the back end, each epoch's time, the part of the test pictures got right, the parameters."""

    backend: str
    ms: list[float]
    accuracy: float
    params: Params


def train_float(
    spec: FloatSpec,
    train_images: Pictures,
    train_labels: Pictures,
    test_images: Pictures,
    test_labels: Pictures,
    device: Any,
    epochs: int,
    backend: str | None = None,
) -> FloatTrained:
    """Train a plain net for some epochs and return how long each took, shuffling and upload of the rates included.

    images: (n, rows, cols) u8, labels: (n,) u8; device: as `zxml.gpu.device.choose` returns it; backend: a name of
    `backends.NAMES`, chosen by the device if None. The same arguments give the same bits.

    Raises DeviceError if the device cannot run the back end.
    """
    queue = cl.CommandQueue(cl.Context([device]))
    steps = len(train_labels) // spec.batch
    choice = choose_backend(device, [spec], backend)
    rows, greys = upload(queue, spec, train_images)
    step = make_step(choice, queue, [spec], rows, train_labels, steps, greys)
    step.write_params(initial_float_params(spec))
    shuffler = Shuffler(queue, len(train_labels), steps * spec.batch, [spec.seed])
    ms = []
    for epoch in range(epochs):
        start = time.perf_counter()
        shuffler.fill(epoch, step.buffers["order"])
        step.start_epoch(None, constant_rates(spec.optimiser, spec.learning_rate, epoch * steps, steps))
        step.run(steps)
        ms.append(1e3 * (time.perf_counter() - start))
    params = step.read_params()
    return FloatTrained(str(choice), ms, float_accuracy(params, spec, test_images, test_labels), params)


def upload(queue: Any, spec: FloatSpec, images: Pictures) -> tuple[Any, Any]:
    """Return buffers of pictures (n, rows, cols): words (n, rows) with a bit for each pixel above 0, and bytes where grey."""
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    words = np.zeros(images.shape[:2], np.uint32)
    for col in range(spec.cols):
        words |= (images[:, :, col] > 0).astype(np.uint32) << np.uint32(col)
    greys = cl.Buffer(queue.context, flags, hostbuf=np.ascontiguousarray(images)) if spec.grey else None
    return cl.Buffer(queue.context, flags, hostbuf=words), greys
