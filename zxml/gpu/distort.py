"""Distorted training pictures on an OpenCL device; `zxml.data.distort` says what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl

from zxml.data import distort
from zxml.data.dataset import Images
from zxml.data.distort import Strengths
from zxml.gpu.device import is_cpu
from zxml.gpu.program import build
from zxml.ir import PICTURE_SIDE
from zxml.spec import DistortSpec, InputSpec

GPU_GROUP = 64  # work-items of a group
LANES = 16  # pixels at a time of the kernel for CPUs
PICTURES = 16  # of a work-item of the kernel for CPUs
GATHERED = LANES  # of them the most that it looks up at once
CHUNK = 1000  # pictures prepared at a time, few enough for the cache

Macros = dict[str, int | float | str]
Table = np.ndarray[Any, Any]


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
        """Upload the pictures and build the kernel.

        group: the work-items of a group; with 1 the kernel is the one for CPUs. Chosen by the device if None.
        Raises DeviceError if the device's driver does not build the kernel.
        """
        self._queue, self._seed = queue, seed
        self._group = group or (1 if is_cpu(queue.device) else GPU_GROUP)
        items = len(images) if self._group > 1 else -(-len(images) // PICTURES)
        self._size = -(-items // self._group) * self._group
        fixed = distort.to_fixed_point(strengths)
        parts = [distort.find_quads(images[start : start + CHUNK]) for start in range(0, len(images), CHUNK)]
        names, splines, macros = _cut_octets(window) if self._group > 1 else _cut_strips(window, fixed)
        tables: list[Table] = [np.concatenate(parts), distort.ink_table(strengths.thickness), *splines]
        self._buffers = [_upload(queue.context, table) for table in tables]  # kernels do not keep buffers alive
        numbers = [np.int32(number) for number in (fixed.shift, fixed.rotate, fixed.scale, fixed.shear, fixed.warp)]
        files = ("hash.cl", "distort_draws.cl", *names)
        self._kernel = cl.Kernel(build(queue.context, files, _sizes(window) | macros), "distort")
        arguments: list[cl.Buffer | np.integer[Any]] = [*self._buffers, np.uint32(0), np.uint32(len(images)), *numbers]
        for argument, value in enumerate(arguments):
            self._kernel.set_arg(argument, value)
        self._key_argument, self._out_argument = len(self._buffers), len(arguments)

    def fill(self, epoch: int, out: cl.Buffer) -> None:
        """Enqueue the writing of an epoch's pictures to out, (n, rows) u32 as `pack_rows` packs them."""
        self._kernel.set_arg(self._key_argument, np.uint32(distort.epoch_key(self._seed, epoch)))
        self._kernel.set_arg(self._out_argument, out)
        cl.enqueue_nd_range_kernel(self._queue, self._kernel, (self._size,), (self._group,))


def _cut_octets(window: InputSpec) -> tuple[tuple[str, ...], tuple[Table, ...], Macros]:
    """Return the kernel for GPUs, its tables and macros.

    Tables: the weights of the window's rows, (rows, NODES), and of its columns in eights, (NODES, columns and padding).
    """
    spline = distort.spline_table()
    rows, columns = (spline[start : start + size] for start, size in ((window.top, window.rows), (window.left, window.cols)))
    return ("distort.cl",), (rows, np.pad(columns.T, ((0, 0), (0, -window.cols % 8)))), {"UINTS": "uint8", "INTS": "int8"}


def _cut_strips(window: InputSpec, fixed: Strengths) -> tuple[tuple[str, ...], tuple[Table, ...], Macros]:
    """Return the kernel for CPUs, its tables and macros.

    Tables, as the kernel's header explains: the weights of rows, (steps, NODES, LANES), and of columns,
    (strips, NODES, LANES), and distances from the centre, (strips, 2, LANES).
    """
    whole, rest = divmod(window.cols, LANES)
    lanes = np.arange(LANES)
    # each strip's columns and rows at its first step, (LANES,), and how many rows a step takes
    strips = [(window.left + LANES * strip + lanes, np.full(LANES, window.top), 1) for strip in range(whole)]
    if rest:
        strips += [(window.left + LANES * whole + lanes % rest, window.top + lanes // rest, LANES // rest)]
    spline = distort.spline_table()
    rows = [np.full(LANES, window.top + row) for row in range(window.rows)]
    if rest:
        _, first, step = strips[-1]
        rows += [np.minimum(first + row, PICTURE_SIDE - 1) for row in range(0, window.rows, step)]  # lanes without a row idle
    number, kind = ("float", np.float32) if floats_are_exact(fixed) else ("int", np.int32)
    row_spline, column_spline = (
        np.stack([spline[at].T for at in places]).astype(kind) for places in (rows, [columns for columns, _, _ in strips])
    )
    halves = np.array([(columns, first) for columns, first, _ in strips], np.int32) * 2 - (PICTURE_SIDE - 1)
    macros: Macros = {"UINTS": "uint16", "INTS": "int16", "NUMBER": number, "PICTURES": PICTURES, "GATHERED": GATHERED}
    return ("distort_strips.cl",), (row_spline, column_spline, halves), macros


def floats_are_exact(strengths: Strengths) -> bool:
    """Return whether float32 holds all sums of weighted displacements: they are whole numbers, so under 2 ** 24."""
    weight = int(np.abs(distort.spline_table()).sum(axis=1).max())
    node = 510 * (255 * strengths.warp >> 8) >> 8
    across = (node + 1) * weight
    return max(across, ((across >> distort.SPLINE_BITS) + 1) * weight) < 1 << 24


def _upload(context: cl.Context, values: Table) -> cl.Buffer:
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(values))


def _sizes(window: InputSpec) -> Macros:
    """Return the macros that the kernels' headers name."""
    sizes: Macros = {"ROWS": window.rows, "COLS": window.cols, "TOP": window.top, "LEFT": window.left}
    return sizes | {name: getattr(distort, name) for name in ("NODES", "WEAK", "THICKNESSES")}
