"""Many training steps in one launch: weights stay in local memory, and all groups meet once a step (kernels/persistent.cl).

OpenCL does not promise that all groups of a launch run at once. So this is used only where there are no more groups than
compute units, and after a test on the device itself (kernels/try_meeting.cl); a launch whose groups do not meet ends with an
error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.errors import DeviceError
from zxml.gpu.device import is_cpu
from zxml.gpu.net import FloatSpec, Macros, Net, net_of, padded
from zxml.gpu.program import GPU_SHARED, build
from zxml.gpu.weights import State, Weights
from zxml.quant.params import Params
from zxml.spec import ModelSpec

Buffer = Any  # pyopencl has no types

GROUP = 512  # work-items of a group, where the device takes so many
LEAST_GROUP = 64
STEPS_A_LAUNCH = 128  # more gain nothing, and Ctrl-C is seen between launches
ADDERS = 16
SMALL_SUMS = 4  # beside the two of each class; see kernels/persistent.cl
PATIENCE = {True: 1 << 28, False: 1 << 22}  # looks at the meeting, on a CPU or not: a second or a few
TRIAL_ROUNDS = 50

# The buffers that are the kernel's arguments, in order; after them come the first step and the count.
ARGUMENTS = ("pictures", "labels", "order", "rates", "hidden", "output", "scalars", "penalties", "sums", "rows", "meeting")


@dataclass(frozen=True)
class Layout:
    """How a net is spread over a device: parts of the rows, work-items of a group and of a sample, slices of a gradient.

    wide: words a load of grey pixels takes; big: floats of shared scratch; nbytes: local memory of a group.
    """

    parts: int
    group: int
    split: int
    slices: int
    wide: int
    big: int
    nbytes: int


def plan_layout(device: Any, net: Net, parts: int | None = None) -> Layout:
    """Return how a net is spread over a device; parts: of the picture's rows, as the device has units if None."""
    spread = 2 if net.rows % 2 == 0 and 2 * net.units <= device.max_compute_units else 1
    parts = parts or spread
    group = next(size for size in (GROUP, 256, 128, LEAST_GROUP, 1) if size <= device.max_work_group_size)
    quads = net.rows // parts * -(-net.cols // 4)
    split, slices = max(1, group // net.batch), min(ADDERS, max(1, group // quads))
    words = net.pixels // 4
    wide = next(width for width in (4, 2, 1) if quads % width == 0 and words % width == 0)
    scores = net.classes * net.batch
    big = max(split * scores, scores + slices * 4 * quads, split * net.batch + 16 * quads)
    small = 2 * net.classes + SMALL_SUMS
    floats = 3 * 4 * quads + big + net.units * row_floats(net) + 4 * net.batch + small * (3 + ADDERS) + 2 * net.batch
    return Layout(parts, group, split, slices, wide, big, 4 * floats + 2 * net.batch + 64)


def row_floats(net: Net) -> int:
    """Return the floats that a row of the output layer takes in the exchange: a multiple of four."""
    return -(-net.classes // 4) * 4


def why_not_persistent(device: Any, net: Net) -> str | None:
    """Return why a device cannot train a net with all groups at once, or None if it can, which a test on the device shows."""
    return _why_it_does_not_fit(device, net) or why_groups_do_not_meet(device, net)


def _why_it_does_not_fit(device: Any, net: Net) -> str | None:
    layout = plan_layout(device, net)
    if net.units > device.max_compute_units:
        return f"{net.units} groups, and the device has {device.max_compute_units} compute units"
    if layout.group < LEAST_GROUP:
        return f"the device's groups have at most {device.max_work_group_size} work-items"
    if layout.nbytes > device.local_mem_size:
        return f"a group needs {layout.nbytes} bytes of local memory, and the device has {device.local_mem_size}"
    if net.grey and net.cols % 4:
        return f"grey pictures must have a multiple of 4 columns, got {net.cols}"
    return None


def why_groups_do_not_meet(device: Any, net: Net) -> str | None:
    """Let the groups meet many times, each telling the others numbers; return what went wrong, or None."""
    layout = plan_layout(device, net)
    groups = net.units * layout.parts
    queue = cl.CommandQueue(cl.Context([device]))
    meeting, numbers = (cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4 * size) for size in (3, 2 * groups))
    try:
        kernel = cl.Kernel(_build(queue, net, layout), "try_meeting")
    except DeviceError as error:
        return str(error)
    kernel.set_args(meeting, numbers, np.uint32(TRIAL_ROUNDS))
    found = np.zeros(3, np.uint32)
    cl.enqueue_copy(queue, meeting, found)
    cl.enqueue_nd_range_kernel(queue, kernel, (groups * layout.group,), (layout.group,))
    cl.enqueue_copy(queue, found, meeting)
    if found[1]:
        return f"the device does not run {groups} groups at once"
    return f"the device's {groups} groups do not see what the others write" if found[2] else None


def _build(queue: Any, net: Net, layout: Layout) -> Any:
    """Return the program, with the macros that the kernels' headers name."""
    macros: Macros = {
        "REAL": "float",
        "GROUP": layout.group,
        "PARTS": layout.parts,
        "SPLIT": layout.split,
        "SLICES": layout.slices,
        "WIDE": layout.wide,
        "BIG": layout.big,
        "PATIENCE": PATIENCE[is_cpu(queue.device)],
        "LOCAL_FLOATS": layout.nbytes // 4 - 32,
    }
    macros |= net.macros(padded(net.units), padded(net.classes))
    return build(queue.context, (*GPU_SHARED, "meet.cl", "try_meeting.cl", "persistent.cl"), macros)


class PersistentStep:
    """One net in training on one device, many steps a launch."""

    def __init__(
        self,
        queue: Any,
        spec: ModelSpec | FloatSpec,
        pictures: Buffer,
        labels: NDArray[np.uint8],
        max_steps: int,
        parts: int | None = None,
    ) -> None:
        """Build the kernels and buffers.

        pictures: a buffer of (n, rows) uint32, as `zxml.data.pack_rows` makes them, or of (n, pixels) bytes where the spec is
        grey, of which this object keeps hold; labels: (n,); max_steps: the most steps an epoch has; parts: see `plan_layout`.

        Raises DeviceError if the device cannot hold all groups at once, or its driver does not build the kernels.
        """
        self.queue, self.net, self.shape = queue, net_of(spec), "persistent"
        reason = why_not_persistent(queue.device, self.net)
        if reason:
            raise DeviceError(f"--backend persistent: {reason}; use --backend groups")
        self.layout = plan_layout(queue.device, self.net, parts)
        self.groups = self.net.units * self.layout.parts
        self.weights = Weights(queue, self.net, padded(self.net.units), padded(self.net.classes))
        self.buffers = self._make_buffers(labels, max_steps) | self.weights.buffers | {"pictures": pictures}
        self.kernel = cl.Kernel(_build(queue, self.net, self.layout), "persistent")
        for number, name in enumerate(ARGUMENTS):
            self.kernel.set_arg(number, self.buffers[name])
        self.done = 0

    def start_epoch(self, order: NDArray[np.uint32] | None, rates: NDArray[np.float64]) -> None:
        """Set the pictures (steps, batch) and rates (steps, 4) of the next steps, and the loss to 0.

        order None: the pictures are those that the order's buffer holds already.
        """
        if order is not None:
            self._write("order", order.astype(np.uint32))
        self._write("rates", rates.astype(np.float32))
        self._write("penalties", np.zeros(self.net.units, np.float32))
        self._write("meeting", np.zeros(3, np.uint32))
        self.weights.clear_losses()
        self.done = 0

    def run(self, steps: int) -> None:
        """Run so many steps and wait for them; raise DeviceError if the groups of a launch did not meet."""
        end = self.done + steps
        while self.done < end:
            count = min(STEPS_A_LAUNCH, end - self.done)
            self.kernel.set_arg(len(ARGUMENTS), np.uint32(self.done))
            self.kernel.set_arg(len(ARGUMENTS) + 1, np.uint32(count))
            cl.enqueue_fill_buffer(self.queue, self.buffers["meeting"], np.zeros(1, np.uint32), 0, 4)
            group = self.layout.group
            cl.enqueue_nd_range_kernel(self.queue, self.kernel, (self.groups * group,), (group,))
            self.done += count
        self.queue.finish()
        if self._read("meeting", 3, np.uint32)[1]:
            raise DeviceError("the groups of a persistent launch did not meet: is the device busy? use --backend groups")

    def loss_sum(self) -> float:
        """Return the sum of the losses of the steps since the epoch's start."""
        return float(self.weights.losses()[0]) + float(self._read("penalties", self.net.units, np.float32).sum())

    def write_params(self, params: Params) -> None:
        """Set the parameters and clear the optimiser's moments."""
        self.weights.write([params])

    def state(self) -> State:
        """Return all that the next step depends on: parameters with their moments."""
        return self.weights.state()

    def restore(self, state: State) -> None:
        """Set the parameters and moments to what `state` returned."""
        self.weights.restore(state)

    def read_params(self) -> Params:
        """Return the parameters as they are now."""
        return self.weights.read()[0]

    def _make_buffers(self, labels: NDArray[np.uint8], max_steps: int) -> dict[str, Buffer]:
        net, context, flags = self.net, self.queue.context, cl.mem_flags
        nbytes = {
            "order": max_steps * net.batch * 4,
            "rates": max_steps * 4 * 4,
            "penalties": net.units * 4,
            "sums": 2 * self.groups * net.batch * 4,
            "rows": 2 * net.units * row_floats(net) * 4,
            "meeting": 3 * 4,
        }
        buffers = {name: cl.Buffer(context, flags.READ_WRITE, size) for name, size in nbytes.items()}
        uploaded = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(labels))
        return buffers | {"labels": uploaded}

    def _write(self, name: str, values: NDArray[Any]) -> None:
        cl.enqueue_copy(self.queue, self.buffers[name], np.ascontiguousarray(values))

    def _read(self, name: str, size: int, kind: Any) -> NDArray[Any]:
        values = np.empty(size, kind)
        cl.enqueue_copy(self.queue, values, self.buffers[name])
        return values
