"""An epoch's batches, made on the device from pictures that stay there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.device import is_cpu
from zxml.gpu.nets.shape import NetShape
from zxml.gpu.program import build
from zxml.gpu.shuffle import Shuffler

GROUP = 64  # work-items of a group on a GPU; on a CPU one, or PoCL keeps the private arrays of all in memory side by side

Buffer = Any


class Batches:
    """Pictures and labels on a device, and the buffers that hold an epoch's batches of them; kernels/batches.cl says how."""

    def __init__(self, queue: Any, shape: NetShape, pictures: NDArray[np.uint32], labels: NDArray[np.uint8], seed: int) -> None:
        """Upload pictures (n, rows), bit c = column c, and labels (n,); n is at least a batch."""
        self.queue, self.steps = queue, len(labels) // shape.batch
        self.macros = {"ROWS": shape.rows, "COLS": shape.cols, "BATCH": shape.batch, "STEPS": self.steps}
        self.group = 1 if is_cpu(queue.device) else GROUP
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        samples = self.steps * shape.batch
        nbytes = {
            "order": 4 * samples,
            "samples": 4 * (samples + shape.batch) * shape.rows,  # kernels may look at the batch after the last
            "masks": samples // 8 * shape.rows * shape.cols,
            "batch_labels": samples,
        }
        self.buffers = {name: cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size) for name, size in nbytes.items()}
        uploaded = [cl.Buffer(queue.context, flags, hostbuf=np.ascontiguousarray(array)) for array in (pictures, labels)]
        self.arguments = [*uploaded, *(self.buffers[name] for name in nbytes)]  # kernels do not keep buffers alive
        self.kernel = cl.Kernel(build(queue.context, ("batches.cl",), dict(self.macros)), "batch_bits")
        self.kernel.set_args(*self.arguments)
        self.size = -(-samples // 32 * shape.rows // self.group) * self.group
        self.shuffler = Shuffler(queue, len(labels), samples, [seed])

    def fill(self, epoch: int) -> None:
        """Enqueue the making of an epoch's batches."""
        self.shuffler.fill(epoch, self.buffers["order"])
        cl.enqueue_nd_range_kernel(self.queue, self.kernel, (self.size,), (self.group,))
