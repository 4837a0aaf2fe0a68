"""The training step on a device in two launches, with its buffers.

A step is two kernels: forward (pictures to deltas) and update (deltas to new weights). They come in two shapes with the
same arguments, "tiles" for CPUs and "groups" for GPUs (kernels/lanes.cl). The device counts the steps of an epoch itself, so
that the arguments are set once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.device import GROUP, choose_shape
from zxml.gpu.net import FloatSpec, Macros, net_of, padded
from zxml.gpu.program import GPU_SHARED, SHARED, build
from zxml.gpu.weights import State, Weights
from zxml.quant.params import Params
from zxml.spec import ModelSpec

TILE = 32  # samples a work-item of tile_forward runs, one bit each in a mask word
PIXEL_TILE = 10  # pixels a work-item of tile_update updates
OUTPUT_TILE = 4  # rows of the output layer a work-item of tile_update updates

Buffer = Any  # pyopencl has no types

# The buffers that are each kernel's arguments, in order; the kernels' headers say what they hold.
FORWARD_ARGUMENTS = (
    *("pictures", "labels", "order", "hidden_integers", "output_integers", "turned", "scalars"),
    *("masks", "levels", "deltas", "score_deltas", "partial", "state"),
)
UPDATE_ARGUMENTS = (
    *("masks", "levels", "deltas", "score_deltas", "partial", "rates"),
    *("hidden", "output", "scalars", "hidden_integers", "output_integers", "turned", "state"),
)


class TrainingStep:
    """One net in training on one device."""

    def __init__(
        self,
        queue: Any,
        spec: ModelSpec | FloatSpec,
        pictures: Buffer,
        labels: NDArray[np.uint8],
        max_steps: int,
        shape: str | None = None,
        greys: Buffer | None = None,
    ) -> None:
        """Build the kernels and buffers.

        pictures: a buffer of (n, rows) uint32, as `zxml.data.pack_rows` makes them, of which this object keeps hold;
        labels: (n,); max_steps: the most steps an epoch has; shape: one of `device.SHAPES`, chosen by the device if None;
        greys: a buffer of (n, pixels) bytes, wanted where the spec is grey.
        """
        self.queue, self.net = queue, net_of(spec)
        self.shape = shape or choose_shape(queue.device)
        self.lanes, self.class_lanes = padded(self.net.units), padded(self.net.classes)
        self.parts = max(1, GROUP // self.lanes)  # work-items of a group that share a hidden unit
        self.weights = Weights(queue, self.net, self.lanes, self.class_lanes)
        self.buffers = self._make_buffers(labels, max_steps) | self.weights.buffers | {"pictures": pictures, "greys": greys}
        names = [f"{self.shape.removesuffix('s')}_{half}" for half in ("forward", "update")]
        shared = SHARED if self.shape == "tiles" else GPU_SHARED
        program = build(queue.context, (*shared, *(f"{name}.cl" for name in names)), self._macros())
        more = (("greys", "shades"), ("shades",)) if self.net.grey else ((), ())
        kernels = [
            self._kernel(program, name, arguments + extra)
            for name, arguments, extra in zip(names, (FORWARD_ARGUMENTS, UPDATE_ARGUMENTS), more, strict=True)
        ]
        self.launches = list(zip(kernels, *self._work(), strict=True))

    def start_epoch(self, order: NDArray[np.uint32] | None, rates: NDArray[np.float64]) -> None:
        """Set the pictures (steps, batch) and rates (steps, 4) of the next steps, and the loss to 0.

        order None: the pictures are those that the order's buffer holds already.
        """
        if order is not None:
            self._write("order", order.astype(np.uint32))
        self._write("rates", rates.astype(np.float32))
        self._write("state", np.zeros(2, np.uint32))
        self.weights.clear_losses()

    def run(self, steps: int) -> None:
        """Run so many steps and wait for them."""
        for _ in range(steps):
            for kernel, groups, group in self.launches:
                cl.enqueue_nd_range_kernel(self.queue, kernel, (groups * group,), (group,))
        self.queue.finish()

    def loss_sum(self) -> float:
        """Return the sum of the losses of the steps since the epoch's start."""
        return float(self.weights.losses()[0])

    def write_params(self, params: Params) -> None:
        """Set the parameters and clear the optimiser's moments."""
        self._derive(self.weights.write([params]))

    def state(self) -> State:
        """Return all that the next step depends on: parameters with their moments."""
        return self.weights.state()

    def restore(self, state: State) -> None:
        """Set the parameters and moments to what `state` returned."""
        self.weights.restore(state)
        self._derive(state)

    def read_params(self) -> Params:
        """Return the parameters as they are now."""
        return self.weights.read()[0]

    def _derive(self, state: State) -> None:
        """Fill the buffers that the kernels keep up to date beside the weights."""
        hidden, output = state["hidden"][0, :, 0], state["output"][0, :, 0]
        if self.net.rounded:
            hidden, output = np.rint(hidden), np.rint(output)
        self._write("hidden_integers", hidden.astype(self.net.sum_type))
        self._write("output_integers", output)
        self._write("turned", output[:-1, : self.net.classes].T)
        self._write("masks", np.zeros(self.net.batch // TILE * self.net.pixels, np.uint32))

    def _work(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return how many groups, and of how many work-items, run forward and update."""
        batch, units, pixels = self.net.batch, self.net.units, self.net.pixels
        if self.shape == "groups":
            return (batch, pixels + units + 3), (self.parts * self.lanes, GROUP)
        tiles = -(-pixels // PIXEL_TILE) - (-units // OUTPUT_TILE) + 1
        return (batch // TILE, tiles), (1, 1)

    def _make_buffers(self, labels: NDArray[np.uint8], max_steps: int) -> dict[str, Buffer]:
        net, lanes, classes = self.net, self.lanes, self.class_lanes
        nbytes = {
            "order": max_steps * net.batch * 4,
            "rates": max_steps * 4 * 4,
            "hidden_integers": (net.pixels + 1) * lanes * np.dtype(net.sum_type).itemsize,
            "output_integers": (lanes + 1) * classes * 4,
            "turned": net.classes * lanes * 4,
            "masks": net.batch // TILE * net.pixels * 4,
            "levels": net.batch * lanes * 4,
            "deltas": net.batch * lanes * 4,
            "score_deltas": net.batch * classes * 4,
            "partial": net.batch * 2 * 4,
            "state": 2 * 4,
            **({"shades": net.batch * net.pixels} if net.grey else {}),
        }
        context, flags = self.queue.context, cl.mem_flags
        buffers = {name: cl.Buffer(context, flags.READ_WRITE, size) for name, size in nbytes.items()}
        uploaded = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(labels))
        return buffers | {"labels": uploaded}

    def _macros(self) -> Macros:
        """Return the macros that the kernels' headers name."""
        return self.net.macros(self.lanes, self.class_lanes) | {
            "ROWS_A_WORD": 64 // self.net.cols,
            "PIXEL_TILE": PIXEL_TILE,
            "OUTPUT_TILE": OUTPUT_TILE,
            "GROUP": GROUP,
            "PARTS": self.parts,
            **({"REAL": "float16", "TILES_OF_16": 1} if self.shape == "tiles" else {"REAL": "float"}),
        }

    def _kernel(self, program: Any, name: str, arguments: tuple[str, ...]) -> Any:
        kernel = cl.Kernel(program, name)
        kernel.set_args(*(self.buffers[argument] for argument in arguments))
        return kernel

    def _write(self, name: str, values: NDArray[Any]) -> None:
        cl.enqueue_copy(self.queue, self.buffers[name], np.ascontiguousarray(values))
