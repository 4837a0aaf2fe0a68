"""Distorted training pictures on an OpenCL device; `zxml.data.distort` says what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl

from zxml.data import distort
from zxml.data.dataset import Images
from zxml.gpu.program import build
from zxml.spec import DistortSpec, InputSpec

KEY_ARGUMENT, OUT_ARGUMENT = 4, 11
GPU_GROUP = 64  # work-items of a group; on a CPU one, or PoCL keeps a group's private arrays in memory side by side
CHUNK = 1000  # pictures prepared at a time, few enough for the cache


class Distorter:
    """Pictures (n, 28, 28), resident on a device, that it distorts anew each epoch."""

    def __init__(
        self,
        queue: cl.CommandQueue,
        images: Images,
        window: InputSpec,
        strengths: DistortSpec,
        seed: int,
        group: int | None = None,
    ) -> None:
        """Upload the pictures and build the kernel; group is the work-items of a group, chosen by the device if None.

        Raises DeviceError if the device's driver does not build the kernel.
        """
        self._queue, self._seed = queue, seed
        self._group = group or (1 if queue.device.type & cl.device_type.CPU else GPU_GROUP)
        self._size = -(-len(images) // self._group) * self._group
        parts = [distort.find_quads(images[start : start + CHUNK]) for start in range(0, len(images), CHUNK)]
        tables = (np.concatenate(parts), distort.ink_table(strengths.thickness), *_cut_spline(window))
        self._buffers = [_upload(queue.context, table) for table in tables]  # kernels do not keep buffers alive
        fixed = distort.to_fixed_point(strengths)
        numbers = [np.int32(number) for number in (fixed.shift, fixed.rotate, fixed.scale, fixed.shear, fixed.warp)]
        self._kernel = cl.Kernel(build(queue.context, ("distort.cl",), _sizes(window)), "distort")
        arguments: list[cl.Buffer | np.integer[Any]] = [*self._buffers, np.uint32(0), np.uint32(len(images)), *numbers]
        for argument, value in enumerate(arguments):
            self._kernel.set_arg(argument, value)

    def fill(self, epoch: int, out: cl.Buffer) -> None:
        """Enqueue the writing of an epoch's pictures to out, (n, rows) u32 as `pack_rows` packs them."""
        self._kernel.set_arg(KEY_ARGUMENT, np.uint32(distort.epoch_key(self._seed, epoch)))
        self._kernel.set_arg(OUT_ARGUMENT, out)
        cl.enqueue_nd_range_kernel(self._queue, self._kernel, (self._size,), (self._group,))


def _cut_spline(window: InputSpec) -> tuple[distort.Ints, distort.Ints]:
    """Return the weights of the window's rows, (rows, NODES), and of its columns in eights, (NODES, columns and padding)."""
    spline = distort.spline_table()
    rows, columns = (spline[start : start + size] for start, size in ((window.top, window.rows), (window.left, window.cols)))
    return rows, np.pad(columns.T, ((0, 0), (0, -window.cols % 8)))


def _upload(context: cl.Context, values: np.ndarray[Any, Any]) -> cl.Buffer:
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(values))


def _sizes(window: InputSpec) -> dict[str, int | float | str]:
    """Return the macros that the kernel's header names."""
    sizes = {"ROWS": window.rows, "COLS": window.cols, "TOP": window.top, "LEFT": window.left}
    return sizes | {name: getattr(distort, name) for name in ("NODES", "WEAK", "THICKNESSES")}
