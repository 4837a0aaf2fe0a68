"""Many nets in training at once, a work-group a net (kernels/population.cl): seeds, widths and recipes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.errors import DeviceError
from zxml.gpu.net import FloatSpec, Macros, Net, net_of, padded
from zxml.gpu.population_layout import MatrixWeights
from zxml.gpu.program import GPU_SHARED, build
from zxml.gpu.weights import State, Weights
from zxml.quant.params import Params
from zxml.spec import ModelSpec

Buffer = Any  # pyopencl has no types

GROUP = 128  # work-items of a group; this and the next four as in kernels/population*.cl
UNITS = 64
MOST_CLASSES = 16
BLOCK = 128
SCRATCH = 16 * BLOCK + 16 * (UNITS + 1) + UNITS + 1  # floats
STEPS_A_LAUNCH = 25
QUEUES = 2  # for launches of parts of the nets
LEAST_CAPABILITY = 8  # of NVIDIA's GPUs with matrix units for bf16
MOST_PIXELS = 1024  # of a picture whose bits fit where the sums were
TERMS = {"FORWARD_TERMS": 2, "GRADIENT_TERMS": 2}  # numbers of bf16 that stand for a float, as in kernels/population_matrix.cl
AHEAD = 2  # words of pixels on their way from memory


def why_not_population(device: Any, net: Net) -> str | None:
    """Return why a device cannot train nets like this one side by side, or None if it can."""
    nbytes = 4 * (BLOCK * UNITS + SCRATCH + -(-net.batch // BLOCK) * BLOCK)
    if net.units > UNITS or net.classes > MOST_CLASSES:
        return f"nets of a population have at most {UNITS} units and {MOST_CLASSES} classes, got {net.units} and {net.classes}"
    if device.max_work_group_size < GROUP:
        return f"the device's groups have at most {device.max_work_group_size} work-items, and {GROUP} are wanted"
    if nbytes > device.local_mem_size:
        return f"a group needs {nbytes} bytes of local memory, and the device has {device.local_mem_size}"
    if net.grey and net.cols % 4:
        return f"grey pictures must have a multiple of 4 columns, got {net.cols}"
    return None


def why_not_together(specs: Sequence[ModelSpec]) -> str | None:
    """Return why specs cannot be trained in one population, or None if they can.

    They may differ in name, seed, units, learning rate, decay and warm-up.
    """
    first = _common_part(specs[0])
    for spec in specs[1:]:
        if _common_part(spec) != first:
            return f"{spec.name} and {specs[0].name} differ in more than name, seed, units, learning rate, decay and warm-up"
    return None


def sort_together(specs: Sequence[ModelSpec]) -> list[list[ModelSpec]]:
    """Return specs in lists that can each be trained in one population, in the order in which they first came."""
    groups: list[list[ModelSpec]] = []
    for spec in specs:
        fitting = [group for group in groups if why_not_together([group[0], spec]) is None]
        if fitting:
            fitting[0].append(spec)
        else:
            groups.append([spec])
    return groups


class PopulationStep:
    """Nets in training on one device, side by side."""

    def __init__(
        self,
        queue: Any,
        specs: Sequence[ModelSpec] | Sequence[FloatSpec],
        pictures: Buffer,
        labels: NDArray[np.uint8],
        max_steps: int,
        leave_out: int = 0,
    ) -> None:
        """Build the kernel and buffers.

        pictures: a buffer of (n, rows) uint32, as `zxml.data.pack_rows` makes them, or of (n, pixels) bytes where the specs are
        grey, of which this object keeps hold; labels: (n,); max_steps: the most steps an epoch has. All nets see the same
        pictures, each in its own order. leave_out: bits of the parts of a step to leave out, to see what time they take.

        Raises DeviceError if the device cannot hold such nets, or its driver does not build the kernel.
        """
        nets = [net_of(spec) for spec in specs]
        self.queue, self.shape, self.net, self.units = queue, "population", nets[0], [net.units for net in nets]
        for net in nets:
            reason = why_not_population(queue.device, net)
            if reason:
                raise DeviceError(f"--backend population: {reason}; use another back end")
        self.max_steps, self.leave_out = max_steps, leave_out
        self._check_memory()
        matrix = has_matrix_units(queue.device, self.net)
        kind = MatrixWeights if matrix else Weights
        self.weights = kind(queue, self.net, UNITS, padded(self.net.classes), len(nets))
        self.buffers = self._make_buffers(labels) | self.weights.buffers | {"pictures": pictures}
        products = ("matrix_units.cl", "population_matrix.cl") if matrix else ("population_squares.cl",)
        program = build(queue.context, (*GPU_SHARED, "population_shared.cl", *products, "population.cl"), self._macros())
        self.kernel = cl.Kernel(program, "population")
        arguments = ("pictures", "labels", "order", "rates", "widths", "hidden", "output", "scalars", "all_deltas")
        for number, name in enumerate(arguments):
            self.kernel.set_arg(number, self.buffers[name])
        self.first_argument, self.done = len(arguments) + 1, 0
        self.queues = [cl.CommandQueue(queue.context) for _ in range(QUEUES)]

    def start_epoch(self, order: NDArray[np.uint32] | None, rates: NDArray[np.float64]) -> None:
        """Set the pictures (nets, max_steps, batch) and rates (nets, max_steps, 4) of the next steps, and the losses to 0.

        order None: the pictures are those that the order's buffer holds already. Without the axis of nets, all take the same.
        """
        nets = len(self.units)
        if order is not None:
            self._write("order", np.broadcast_to(order, (nets, *order.shape[-2:])).astype(np.uint32))
        self._write("rates", rates.astype(np.float32))
        apart = len(rates[0]) if rates.ndim > 2 else 0
        self.kernel.set_arg(self.first_argument - 1, np.uint32(apart))
        self.weights.clear_losses()
        self.done = 0

    def run(self, steps: int) -> None:
        """Run so many steps and wait for them; parts of the nets take turns, lest units idle at the end of each launch."""
        end, nets = self.done + steps, len(self.units)
        self.queue.finish()
        shares = [range(nets * part // QUEUES, nets * (part + 1) // QUEUES) for part in range(QUEUES)]
        while self.done < end:
            count = min(STEPS_A_LAUNCH, end - self.done)
            self.kernel.set_arg(self.first_argument, np.uint32(self.done))
            self.kernel.set_arg(self.first_argument + 1, np.uint32(count))
            for queue, share in zip(self.queues, shares, strict=True):
                if share:
                    size, start = len(share) * GROUP, share.start * GROUP
                    cl.enqueue_nd_range_kernel(queue, self.kernel, (size,), (GROUP,), (start,))
            self.done += count
        for queue in self.queues:
            queue.finish()

    def losses(self) -> NDArray[np.float32]:
        """Return each net's sum of the losses of the steps since the epoch's start, (nets,)."""
        return self.weights.losses()

    def write_all(self, params: list[Params]) -> None:
        """Set the parameters of each net and clear the optimiser's moments."""
        self.weights.write(params)

    def read_all(self) -> list[Params]:
        """Return the parameters of each net as they are now."""
        return self.weights.read(self.units)

    def loss_sum(self) -> float:
        """Return the first net's sum of losses."""
        return float(self.losses()[0])

    def write_params(self, params: Params) -> None:
        """Set the parameters of a population of one."""
        self.write_all([params])

    def read_params(self) -> Params:
        """Return the first net's parameters."""
        return self.read_all()[0]

    def state(self) -> State:
        """Return all that the next step depends on: parameters with their moments."""
        return self.weights.state()

    def restore(self, state: State) -> None:
        """Set the parameters and moments to what `state` returned."""
        self.weights.restore(state)

    def _make_buffers(self, labels: NDArray[np.uint8]) -> dict[str, Buffer]:
        net, nets, context, flags = self.net, len(self.units), self.queue.context, cl.mem_flags
        blocks = -(-net.batch // BLOCK)
        nbytes = {
            "order": nets * self.max_steps * net.batch * 4,
            "rates": nets * self.max_steps * 4 * 4,
            "all_deltas": (nets * blocks * BLOCK * UNITS if blocks > 1 else 1) * 4,
        }
        buffers = {name: cl.Buffer(context, flags.READ_WRITE, size) for name, size in nbytes.items()}
        uploaded: dict[str, NDArray[Any]] = {"labels": np.ascontiguousarray(labels), "widths": np.array(self.units, np.uint32)}
        read = flags.READ_ONLY | flags.COPY_HOST_PTR
        return buffers | {name: cl.Buffer(context, read, hostbuf=values) for name, values in uploaded.items()}

    def _check_memory(self) -> None:
        """Raise DeviceError if a buffer is larger than the device's largest."""
        nets, most = len(self.units), self.queue.device.max_mem_alloc_size
        weights = (self.net.pixels + 1) * 3 * UNITS * 4
        wanted = nets * max(weights, self.max_steps * self.net.batch * 4)
        if wanted > most:
            raise DeviceError(
                f"--backend population: {nets} nets need a buffer of {wanted} bytes, and the device's largest is {most}; "
                f"train at most {nets * most // wanted} at once"
            )

    def _macros(self) -> Macros:
        """Return the macros that the kernel's header names."""
        rows, square = plan_rounds(self.net)
        return self.net.macros(UNITS, padded(self.net.classes)) | {
            **TERMS,
            "AHEAD": AHEAD,
            "REAL": "float",
            "MAX_STEPS": self.max_steps,
            "LEAVE_OUT": self.leave_out,
            "ROUND_ROWS": rows,
            "SQUARE_ROWS": square,
        }

    def _write(self, name: str, values: NDArray[Any]) -> None:
        cl.enqueue_copy(self.queue, self.buffers[name], np.ascontiguousarray(values))


def has_matrix_units(device: Any, net: Net) -> bool:
    """Return whether a device has the matrix units that kernels/population_matrix.cl wants, and a net suits them."""
    if net.grey or net.batch > BLOCK or net.pixels > MOST_PIXELS or "nvidia" not in device.vendor.lower():
        return False
    try:
        return int(device.compute_capability_major_nv) >= LEAST_CAPABILITY
    except (AttributeError, cl.Error):
        return False


def plan_rounds(net: Net) -> tuple[int, int]:
    """Return the picture's rows in a round of the gradient and the pixels a work-item holds, 7 or 8: the least work."""
    found = []
    for square in (8, 7):
        rows = min(net.rows, 16 * square // net.cols, 8)
        found.append((-(-net.rows // rows) * square, rows, square))
    return min(found)[1:]


def _common_part(spec: ModelSpec) -> ModelSpec:
    """Return a spec without what nets of a population may differ in."""
    training = replace(spec.training, learning_rate=0.0, weight_decay=0.0, warmup=0.0)
    return replace(spec, name="", seed=0, budget_tstates=0, hidden=replace(spec.hidden, units=0), training=training)
