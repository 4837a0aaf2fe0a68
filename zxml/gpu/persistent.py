"""Many training steps in one launch: weights stay in registers, and groups tell each other numbers (kernels/persistent.cl).

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
STEPS_A_LAUNCH = 512  # a few milliseconds: a screen that the device also draws must not wait too long
ADDERS, SMALL_SUMS = 16, 4  # as in kernels/persistent.cl
MOST_SLICES = 16
PATIENCE = {True: 1 << 28, False: 1 << 22}  # looks at a word, on a CPU or not: a second or a few
TRIAL_ROUNDS = 50
BATCH_GROUP = 64  # work-items of a group of kernels/batches.cl; one on a CPU

# The buffers that are the kernel's arguments, in order; after them come the first step and the count.
ARGUMENTS = (
    *("samples", "masks", "batch_labels", "rates"),
    *("hidden", "output", "scalars", "penalties", "told"),
)
BATCH_ARGUMENTS = ("pictures", "labels", "order", "samples", "masks", "batch_labels")


@dataclass(frozen=True)
class Layout:
    """How a net is spread over a device: parts of the rows, work-items of a group, of a sample's sum and of its scores.

    pool: floats of shared scratch; planes: floats a sample; nbytes: local memory of a group.
    """

    parts: int
    group: int
    split: int
    slices: int
    pool: int
    planes: int
    nbytes: int


def plan_layout(device: Any, net: Net, parts: int | None = None) -> Layout:
    """Return how a net is spread over a device; parts: of the picture's rows, as the device has units if None."""
    spread = 2 if net.rows % 2 == 0 and 2 * net.units <= device.max_compute_units else 1
    parts = parts or spread
    group = next(size for size in (GROUP, 256, 128, LEAST_GROUP, 1) if size <= device.max_work_group_size)
    quads = net.rows // parts * -(-net.cols // 4)
    owned, split = -(-net.batch // (net.units * parts)), max(1, group // net.batch)
    slices = next(count for count in (MOST_SLICES, 8, 4, 2, 1) if count == 1 or count * owned * net.classes <= group)
    pool = 4 * max(4 * quads, net.batch, -(-owned * (net.units + net.classes * (slices + 1)) // 4))
    planes = max(split, net.classes + 2)
    small = 2 * net.classes + SMALL_SUMS
    floats = pool + (planes + 2) * net.batch + 4 * quads + net.units * row_floats(net.classes) + small * (3 + ADDERS)
    return Layout(parts, group, split, slices, pool, planes, 4 * floats + 32)


def row_floats(values: int) -> int:
    """Return the floats that a row of so many values takes in the exchange: a multiple of four."""
    return -(-values // 4) * 4


def why_not_persistent(device: Any, net: Net) -> str | None:
    """Return why a device cannot train a net with all groups at once, or None if it can, which a test on the device shows."""
    return _why_it_does_not_fit(device, net) or why_groups_do_not_meet(device, net)


def _why_it_does_not_fit(device: Any, net: Net) -> str | None:
    layout = plan_layout(device, net)
    if net.grey:
        return "it takes pictures of bits, and these are grey"
    if net.units > device.max_compute_units:
        return f"{net.units} groups, and the device has {device.max_compute_units} compute units"
    if layout.group < LEAST_GROUP:
        return f"the device's groups have at most {device.max_work_group_size} work-items"
    if layout.nbytes > device.local_mem_size:
        return f"a group needs {layout.nbytes} bytes of local memory, and the device has {device.local_mem_size}"
    return None


def why_groups_do_not_meet(device: Any, net: Net) -> str | None:
    """Let the groups meet many times, each telling the others numbers; return what went wrong, or None."""
    layout = plan_layout(device, net)
    groups = net.units * layout.parts
    queue = cl.CommandQueue(cl.Context([device]))
    found, start = np.zeros(2, np.uint32), np.zeros(2 * groups, np.uint32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    meeting, numbers = (cl.Buffer(queue.context, flags, hostbuf=values) for values in (found, start))
    try:
        kernel = cl.Kernel(_build(queue, net, layout), "try_meeting")
    except DeviceError as error:
        return str(error)
    kernel.set_args(meeting, numbers, np.uint32(TRIAL_ROUNDS))
    cl.enqueue_nd_range_kernel(queue, kernel, (groups * layout.group,), (layout.group,))
    cl.enqueue_copy(queue, found, meeting)
    if found[0]:
        return f"the device does not run {groups} groups at once"
    return f"the device's {groups} groups do not see what the others write" if found[1] else None


def _build(queue: Any, net: Net, layout: Layout, leave_out: int = 0) -> Any:
    """Return the program, with the macros that the kernels' headers name."""
    macros: Macros = {
        "REAL": "float",
        "GROUP": layout.group,
        "PARTS": layout.parts,
        "SPLIT": layout.split,
        "SLICES": layout.slices,
        "POOL": layout.pool,
        "PLANES": layout.planes,
        "PATIENCE": PATIENCE[is_cpu(queue.device)],
        "LOCAL_FLOATS": layout.nbytes // 4 - 32,
        "LEAVE_OUT": leave_out,
    }
    macros |= {"ON_CPU": 1} if is_cpu(queue.device) else {}
    macros |= net.macros(padded(net.units), padded(net.classes))
    return build(queue.context, (*GPU_SHARED, "spread.cl", "exchange.cl", "try_meeting.cl", "persistent.cl"), macros)


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
        leave_out: int = 0,
    ) -> None:
        """Build the kernels and buffers.

        pictures: a buffer of (n, rows) uint32, as `zxml.data.pack_rows` makes them, of which this object keeps hold;
        labels: (n,); max_steps: the most steps an epoch has; parts: see `plan_layout`; leave_out: parts of a step, as bits,
        without which it trains nothing and shows what time they take.

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
        self.kernel = cl.Kernel(_build(queue, self.net, self.layout, leave_out), "persistent")
        for number, name in enumerate(ARGUMENTS):
            self.kernel.set_arg(number, self.buffers[name])
        net = self.net
        sizes: Macros = {"ROWS": net.rows, "COLS": net.cols, "BATCH": net.batch, "STEPS": max_steps}
        self.batches = cl.Kernel(build(queue.context, ("batches.cl",), sizes), "batch_bits")
        self.batches.set_args(*(self.buffers[name] for name in BATCH_ARGUMENTS))
        self.batch_group = 1 if is_cpu(queue.device) else BATCH_GROUP
        self.done = 0

    def start_epoch(self, order: NDArray[np.uint32] | None, rates: NDArray[np.float64]) -> None:
        """Set the pictures (steps, batch) and rates (steps, 4) of the next steps, and the loss to 0.

        order None: the pictures are those that the order's buffer holds already.
        """
        if order is not None:
            self._write("order", order.astype(np.uint32))
        self._write("rates", rates.astype(np.float32))
        self._clear("told")
        items = len(rates) * self.net.batch // 32 * self.net.rows
        group = self.batch_group
        cl.enqueue_nd_range_kernel(self.queue, self.batches, (-(-items // group) * group,), (group,))
        self.done = 0

    def run(self, steps: int) -> None:
        """Run so many steps and wait for them; raise DeviceError if the groups of a launch did not meet."""
        end = self.done + steps
        while self.done < end:
            count = min(STEPS_A_LAUNCH, end - self.done)
            self.kernel.set_arg(len(ARGUMENTS), np.uint32(self.done))
            self.kernel.set_arg(len(ARGUMENTS) + 1, np.uint32(count))
            group = self.layout.group
            cl.enqueue_nd_range_kernel(self.queue, self.kernel, (self.groups * group,), (group,))
            self.done += count
        self.queue.finish()
        if self._read("told", 1, np.uint32)[0]:
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
        samples = max_steps * net.batch
        nbytes = {
            "order": samples * 4,
            "rates": max_steps * 4 * 4,
            "samples": 4 * (samples + net.batch) * net.rows,  # the kernel looks at the batch after the last
            "masks": samples // 8 * net.pixels,
            "batch_labels": samples,
            "penalties": net.units * 4,
            "told": 4 * self._told_words(),
        }
        buffers = {name: cl.Buffer(context, flags.READ_WRITE, size) for name, size in nbytes.items()}
        cl.enqueue_fill_buffer(self.queue, buffers["order"], np.zeros(1, np.uint32), 0, nbytes["order"])
        uploaded = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(labels))
        return buffers | {"labels": uploaded}

    def _told_words(self) -> int:
        """Return the words that the kernel's header lists as told."""
        net = self.net
        rows, slopes = net.units * row_floats(net.classes), net.batch * row_floats(net.classes + 2)
        return 4 + 2 * (self.groups * net.batch + rows + slopes)

    def _clear(self, name: str) -> None:
        cl.enqueue_fill_buffer(self.queue, self.buffers[name], np.zeros(1, np.uint32), 0, self.buffers[name].size)

    def _write(self, name: str, values: NDArray[Any]) -> None:
        cl.enqueue_copy(self.queue, self.buffers[name], np.ascontiguousarray(values))

    def _read(self, name: str, size: int, kind: Any) -> NDArray[Any]:
        values = np.empty(size, kind)
        cl.enqueue_copy(self.queue, values, self.buffers[name])
        return values
