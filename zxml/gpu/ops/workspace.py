"""What all operations of a net share: the queue, the parameters in one buffer, and kernels ready to be launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.device import is_cpu
from zxml.gpu.program import build
from zxml.quant.tower import Param

Buffer = Any  # pyopencl has no types
Macro = int | float | str

GROUP = 64  # work-items of a group where the kernel does not ask for a number


@dataclass(frozen=True)
class Launch:
    """A kernel with its arguments, and over how many work-items it runs."""

    kernel: Any
    size: tuple[int, ...]
    group: tuple[int, ...] | None


@dataclass(frozen=True)
class Op:
    """One operation: the kernels that compute its output, and those that compute its gradients."""

    forward: tuple[Launch, ...]
    backward: tuple[Launch, ...] = ()


@dataclass(frozen=True)
class Maker:
    """Makes launches of one program's kernels."""

    program: Any

    def __call__(
        self, name: str, arguments: Sequence[Any], size: tuple[int, ...], group: tuple[int, ...] | None = None
    ) -> Launch:
        """Return a kernel with its arguments set; size: work-items in each dimension; group: those of a group."""
        kernel = cl.Kernel(self.program, name)
        kernel.set_args(*arguments)
        if group is None and len(size) == 1 and size[0] % GROUP == 0:
            group = (GROUP,)
        return Launch(kernel, size, group)


class Workspace:
    """The buffers of one net in training: parameters, their gradients and moments, the batch's pictures, and what ops add.

    Parameters lie one after another in one buffer, so that one kernel updates them all; `at` says where.
    """

    def __init__(
        self, queue: Any, batch: int, max_steps: int, params: Mapping[str, Param], by_sample: bool | None = None
    ) -> None:
        """Make the buffers.

        max_steps: the most steps an epoch has; by_sample: whether the operations that have two forms take that of a work-item
        a sample, which suits CPUs, or of a group a tile or a sample, which suits GPUs (None: as suits the device).
        """
        self.queue, self.batch = queue, batch
        self.by_sample = is_cpu(queue.device) if by_sample is None else by_sample
        self.shapes = {name: param.values.shape for name, param in params.items()}
        ends = np.cumsum([param.values.size for param in params.values()])
        self.firsts = dict(zip(params, [0, *map(int, ends[:-1])], strict=True))
        self.count = int(ends[-1])
        self._programs: dict[tuple[tuple[str, ...], tuple[tuple[str, Macro], ...]], Any] = {}
        self._kept: list[Buffer] = []  # kernels do not keep buffers alive
        start = np.concatenate([param.values.ravel() for param in params.values()])
        self.params, self.average = self.buffer(start), self.buffer(start)
        self.step_sizes = self.buffer(np.concatenate([np.full(param.values.size, param.step) for param in params.values()]))
        self.limits = self.buffer(np.concatenate([np.full(param.values.size, param.limit) for param in params.values()]))
        self.decays = self.buffer(np.concatenate([np.full(param.values.size, param.decays) for param in params.values()]))
        self.grads, self.first, self.second = (self.zeros(self.count) for _ in range(3))
        self.order = self.zeros(max_steps * batch, dtype=np.uint32)
        self.rates = self.zeros(max_steps * 4)
        self.state = self.zeros(1, dtype=np.uint32)
        self.losses = self.zeros(1)

    def at(self, name: str) -> int:
        """Return where a parameter starts in the buffers."""
        return self.firsts[name]

    def buffer(self, values: NDArray[Any], dtype: Any = np.float32) -> Buffer:
        """Return a buffer that holds the values."""
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        made = cl.Buffer(self.queue.context, flags, hostbuf=np.ascontiguousarray(values, dtype))
        self._kept.append(made)
        return made

    def zeros(self, *shape: int, dtype: Any = np.float32) -> Buffer:
        """Return a buffer of so many zeros."""
        return self.buffer(np.zeros(shape, dtype), dtype)

    def maker(self, file: str, macros: Mapping[str, Macro], *before: str) -> Maker:
        """Return what makes launches of the kernels in kernels/ops/FILE.cl, built with the macros behind the files `before`."""
        key = ((*before, f"ops/{file}.cl"), tuple(macros.items()))
        if key not in self._programs:
            self._programs[key] = build(self.queue.context, key[0], dict(macros))
        return Maker(self._programs[key])

    def run(self, launches: Sequence[Launch]) -> None:
        """Enqueue the launches in order."""
        for launch in launches:
            cl.enqueue_nd_range_kernel(self.queue, launch.kernel, launch.size, launch.group)

    def read(self, buffer: Buffer, *shape: int, dtype: Any = np.float32) -> NDArray[Any]:
        """Return a buffer's values."""
        values = np.empty(shape, dtype)
        cl.enqueue_copy(self.queue, values, buffer)
        return values

    def write(self, buffer: Buffer, values: NDArray[Any], dtype: Any = np.float32) -> None:
        """Put values at the start of a buffer."""
        cl.enqueue_copy(self.queue, buffer, np.ascontiguousarray(values, dtype))

    def named(self, buffer: Buffer) -> dict[str, NDArray[np.float64]]:
        """Return a buffer over all parameters, such as `params` or `grads`, by the parameters' names."""
        flat = self.read(buffer, self.count).astype(np.float64)
        return {
            name: flat[first : first + int(np.prod(self.shapes[name]))].reshape(self.shapes[name])
            for name, first in self.firsts.items()
        }
