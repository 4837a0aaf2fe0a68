"""Training a plain net on a device: batches, steps, parameters in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.device import is_cpu
from zxml.gpu.nets.batches import Batches
from zxml.gpu.nets.layout import Launch, layout_of
from zxml.gpu.nets.shape import NetShape, Params, initial_params
from zxml.gpu.program import build

BACKENDS = ("tiles", "groups", "persistent")
STEPS_A_LAUNCH = 512  # of a persistent kernel, some milliseconds: a screen that the device also draws must not wait too long
PATIENCE = {True: 1 << 30, False: 1 << 22}  # looks of a group that waits: on a CPU, whose cache answers, and elsewhere


class NetTrainer:
    """One net in training on one device.

    tiles: for CPUs; groups: for GPUs, two launches a step; persistent: for GPUs that run all groups at once, many steps a
    launch. The same seed gives the same bits on one device; groups and persistent give the same.
    """

    def __init__(
        self,
        queue: Any,
        shape: NetShape,
        pictures: NDArray[np.uint32],
        labels: NDArray[np.uint8],
        seed: int,
        backend: str,
        group: int | None = None,
    ) -> None:
        """Build the kernels and buffers; pictures (n, rows), bit c = column c; labels (n,); group: see `layout_of`."""
        self.queue, self.shape, self.backend = queue, shape, backend
        self.batches = Batches(queue, shape, pictures, labels, seed)
        self.layout = layout_of(shape, "tiles" if backend == "tiles" else "groups", group)
        state = self.layout.pack(initial_params(shape, seed))
        self.sizes = {name: values.shape for name, values in state.items()}
        nbytes = {name: 4 * size for name, size in self.layout.scratch.items()} | {"state": 8, "meeting": 8}
        nbytes |= {name: values.nbytes for name, values in state.items()}
        made = {name: cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size) for name, size in nbytes.items()}
        self.buffers = made | self.batches.buffers
        self._clear("meeting", 8)
        self.program = build(queue.context, self.layout.files, self._macros())
        self.opening, self.step = self._kernels(self.layout.opening), self._kernels(self.layout.step)
        self.persistent = self._kernels((self.layout.persistent,)) if self.layout.persistent else []
        self.done = 0  # steps of this epoch
        self._restore(state)

    def start_epoch(self, epoch: int) -> None:
        """Make an epoch's batches; epochs count from 0."""
        self.batches.fill(epoch)
        self._clear("state", 8)
        self.done = 0

    def run(self, steps: int) -> None:
        """Run so many of the epoch's steps and wait for them."""
        if self.backend == "persistent":
            self._run_persistent(steps)
        else:
            if not self.done:
                self._enqueue(self.opening)
            for _ in range(steps):
                self._enqueue(self.step)
        self.done += steps
        if self.done % 2:
            for name, size in self.layout.halves.items():
                buffer = self.buffers[name]
                cl.enqueue_copy(self.queue, buffer, buffer, byte_count=4 * size, src_offset=4 * size, dst_offset=0)
        self.queue.finish()

    def learn_epoch(self, epoch: int) -> None:
        """Run a whole epoch."""
        self.start_epoch(epoch)
        self.run(self.batches.steps)

    def write_params(self, params: Params) -> None:
        """Set the parameters and clear their momentum."""
        self._restore(self.layout.pack(params))

    def read_params(self) -> Params:
        """Return the parameters as they are now."""
        return self.layout.unpack({name: self._read(name, size) for name, size in self.sizes.items()})

    def met(self) -> bool:
        """Return whether all groups met at every barrier of every persistent launch so far."""
        return not self._read("meeting", (2,)).view(np.uint32)[1]

    def local_nbytes(self) -> int:
        """Return the local memory that a group takes, in bytes."""
        wanted = cl.kernel_work_group_info.LOCAL_MEM_SIZE
        kernels = [kernel for kernel, _ in (*self.opening, *self.step, *self.persistent)]
        return max(int(kernel.get_work_group_info(wanted, self.queue.device)) for kernel in kernels)

    def _run_persistent(self, steps: int) -> None:
        kernel, launch = self.persistent[0]
        for start in range(self.done, self.done + steps, STEPS_A_LAUNCH):
            count = min(STEPS_A_LAUNCH, self.done + steps - start)
            self._clear("meeting", 4)
            for argument, value in enumerate((start, count), len(self.layout.arguments) + 1):
                kernel.set_arg(argument, np.uint32(value))
            cl.enqueue_nd_range_kernel(self.queue, kernel, (launch.groups * launch.group,), (launch.group,))

    def _clear(self, name: str, nbytes: int) -> None:
        cl.enqueue_fill_buffer(self.queue, self.buffers[name], np.zeros(1, np.uint32), 0, nbytes)

    def _enqueue(self, kernels: list[tuple[Any, Launch]]) -> None:
        for kernel, launch in kernels:
            cl.enqueue_nd_range_kernel(self.queue, kernel, (launch.groups * launch.group,), (launch.group,))

    def _kernels(self, launches: tuple[Launch, ...]) -> list[tuple[Any, Launch]]:
        made = []
        for launch in launches:
            kernel = cl.Kernel(self.program, launch.kernel)
            names = (*self.layout.arguments, *(("meeting",) if launch == self.layout.persistent else ()))
            for argument, name in enumerate(names):
                kernel.set_arg(argument, self.buffers[name])
            made.append((kernel, launch))
        return made

    def _macros(self) -> dict[str, int | float | str]:
        rates: dict[str, int | float | str] = {"RATE": self.shape.rate, "MOMENTUM": self.shape.momentum}
        spins: dict[str, int | float | str] = {"PATIENCE": PATIENCE[is_cpu(self.queue.device)]}
        return self.batches.macros | self.layout.macros | rates | spins

    def _restore(self, state: dict[str, NDArray[np.float32]]) -> None:
        for name, values in state.items():
            cl.enqueue_copy(self.queue, self.buffers[name], np.ascontiguousarray(values))

    def _read(self, name: str, size: tuple[int, ...]) -> NDArray[np.float32]:
        values = np.empty(size, np.float32)
        cl.enqueue_copy(self.queue, values, self.buffers[name])
        return values
