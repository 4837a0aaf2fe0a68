"""The training step on a device: its buffers, its two kernels, and parameters in and out.

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
from zxml.gpu.program import SHARED, build
from zxml.quant.fake import SAFE_PART
from zxml.quant.params import BIAS_LIMIT, Params, logit_scale, param_limits, weight_limit
from zxml.spec import ModelSpec

LANES = 16
TILE = 32  # samples a work-item of tile_forward runs, one bit each in a mask word
PIXEL_TILE = 10  # pixels a work-item of tile_update updates
OUTPUT_TILE = 4  # rows of the output layer a work-item of tile_update updates

Buffer = Any  # pyopencl has no types
State = dict[str, NDArray[np.float32]]

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
        spec: ModelSpec,
        pictures: Buffer,
        labels: NDArray[np.uint8],
        max_steps: int,
        shape: str | None = None,
    ) -> None:
        """Build the kernels and buffers.

        pictures: a buffer of (n, rows) uint32, as `zxml.data.pack_rows` makes them, of which this object keeps hold;
        labels: (n,); max_steps: the most steps an epoch has; shape: one of `device.SHAPES`, chosen by the device if None.
        """
        self.queue, self.spec, self.pictures = queue, spec, pictures
        self.shape = shape or choose_shape(queue.device)
        self.pixels = spec.input.rows * spec.input.cols
        self.lanes, self.class_lanes = padded(spec.hidden.units), padded(spec.output.units)
        self.integer = np.int16 if sums_fit_16_bits(spec) else np.int32
        self.buffers = self._make_buffers(labels, max_steps)
        names = [f"{self.shape.removesuffix('s')}_{half}" for half in ("forward", "update")]
        program = build(queue.context, (*SHARED, *(f"{name}.cl" for name in names)), self._sizes())
        kernels = [
            self._kernel(program, name, arguments)
            for name, arguments in zip(names, (FORWARD_ARGUMENTS, UPDATE_ARGUMENTS), strict=True)
        ]
        self.launches = list(zip(kernels, *self._work(), strict=True))

    def start_epoch(self, order: NDArray[np.uint32], rates: NDArray[np.float64]) -> None:
        """Set the pictures (steps, batch) and rates (steps, 4) of the next steps, and the loss to 0."""
        self._write("order", order.astype(np.uint32))
        self._write("rates", rates.astype(np.float32))
        self._write("state", np.zeros(2, np.uint32))
        self._write("scalars", np.zeros(1, np.float32), offset=12)

    def run(self, steps: int) -> None:
        """Run so many steps and wait for them."""
        for _ in range(steps):
            for kernel, groups, group in self.launches:
                cl.enqueue_nd_range_kernel(self.queue, kernel, (groups * group,), (group,))
        self.queue.finish()

    def loss_sum(self) -> float:
        """Return the sum of the losses of the steps since the epoch's start."""
        return float(self._read("scalars", (4,))[3])

    def write_params(self, params: Params) -> None:
        """Set the parameters and clear the optimiser's moments."""
        hidden = _with_moments(np.vstack([params.hidden, params.hidden_bias]), self.pixels + 1, self.lanes)
        rows = np.zeros((self.lanes + 1, len(params.output_bias)))
        rows[: len(params.output)], rows[-1] = params.output, params.output_bias
        output = _with_moments(rows, self.lanes + 1, self.class_lanes)
        self.restore(
            {"hidden": hidden, "output": output, "scalars": np.array([float(params.temperature), 0, 0, 0], np.float32)}
        )

    def state(self) -> State:
        """Return all that the next step depends on: parameters with their moments."""
        shapes = {
            "hidden": (self.pixels + 1, 3, self.lanes),
            "output": (self.lanes + 1, 3, self.class_lanes),
            "scalars": (4,),
        }
        return {name: self._read(name, shape) for name, shape in shapes.items()}

    def restore(self, state: State) -> None:
        """Set the parameters and moments to what `state` returned."""
        for name, values in state.items():
            self._write(name, values)
        hidden, output = state["hidden"], state["output"]
        self._write("hidden_integers", np.rint(hidden[:, 0]).astype(self.integer))
        self._write("output_integers", np.rint(output[:, 0]))
        self._write("turned", np.rint(output[:-1, 0, : self.spec.output.units]).T.copy())
        self._write("masks", np.zeros(self.spec.training.batch // TILE * self.pixels, np.uint32))

    def read_params(self) -> Params:
        """Return the parameters as they are now."""
        units, classes = self.spec.hidden.units, self.spec.output.units
        state = self.state()
        hidden = state["hidden"][:, 0, :units].astype(np.float64)
        output = state["output"][:, 0, :classes].astype(np.float64)
        temperature = np.asarray(state["scalars"][0], np.float64)
        return Params(hidden[:-1], hidden[-1], output[:units], output[-1], temperature)

    def _work(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return how many groups, and of how many work-items, run forward and update."""
        batch, units = self.spec.training.batch, self.spec.hidden.units
        if self.shape == "groups":
            return (batch, self.pixels + units + 3), (self.lanes, GROUP)
        tiles = -(-self.pixels // PIXEL_TILE) - (-units // OUTPUT_TILE) + 1
        return (batch // TILE, tiles), (1, 1)

    def _make_buffers(self, labels: NDArray[np.uint8], max_steps: int) -> dict[str, Buffer]:
        batch, lanes, classes = self.spec.training.batch, self.lanes, self.class_lanes
        nbytes = {
            "order": max_steps * batch * 4,
            "rates": max_steps * 4 * 4,
            "hidden": (self.pixels + 1) * 3 * lanes * 4,
            "hidden_integers": (self.pixels + 1) * lanes * np.dtype(self.integer).itemsize,
            "output": (lanes + 1) * 3 * classes * 4,
            "output_integers": (lanes + 1) * classes * 4,
            "turned": self.spec.output.units * lanes * 4,
            "scalars": 4 * 4,
            "masks": batch // TILE * self.pixels * 4,
            "levels": batch * lanes * 4,
            "deltas": batch * lanes * 4,
            "score_deltas": batch * classes * 4,
            "partial": batch * 2 * 4,
            "state": 2 * 4,
        }
        context, flags = self.queue.context, cl.mem_flags
        buffers = {name: cl.Buffer(context, flags.READ_WRITE, size) for name, size in nbytes.items()}
        uploaded = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(labels))
        return buffers | {"labels": uploaded, "pictures": self.pictures}

    def _sizes(self) -> dict[str, int | float | str]:
        """Return the macros that the kernels' headers name."""
        spec, hidden, training = self.spec, self.spec.hidden, self.spec.training
        limits = param_limits(spec)
        return {
            "PIXELS": self.pixels,
            "ROWS": spec.input.rows,
            "COLS": spec.input.cols,
            "ROWS_A_WORD": 64 // spec.input.cols,
            "HIDDEN": hidden.units,
            "HIDDEN_BLOCKS": self.lanes // LANES,
            "CLASSES": spec.output.units,
            "CLASS_BLOCKS": self.class_lanes // LANES,
            "BATCH": training.batch,
            "SUM": "short" if self.integer is np.int16 else "int",
            "SHIFT": hidden.shift,
            "LEVELS": hidden.levels,
            "LOGIT_SCALE": logit_scale(spec),
            "HALF_RANGE": 2.0 ** (hidden.sum_bits - 1),
            "SAFE_PART": SAFE_PART,
            "RANGE_PENALTY": training.range_penalty,
            "ADAM" if training.optimiser == "adam" else "SGD": 1,
            "MOMENTUM": training.momentum,
            "PIXEL_TILE": PIXEL_TILE,
            "OUTPUT_TILE": OUTPUT_TILE,
            "GROUP": GROUP,
            **({"REAL": "float16", "TILES_OF_16": 1} if self.shape == "tiles" else {"REAL": "float"}),
            "HIDDEN_STEP": spec.hidden.weight_step,
            "OUTPUT_STEP": spec.output.weight_step,
            "HIDDEN_LIMIT": limits["hidden"],
            "OUTPUT_LIMIT": limits["output"],
            "BIAS_LIMIT": float(BIAS_LIMIT),
        }

    def _kernel(self, program: Any, name: str, arguments: tuple[str, ...]) -> Any:
        kernel = cl.Kernel(program, name)
        kernel.set_args(*(self.buffers[argument] for argument in arguments))
        return kernel

    def _write(self, name: str, values: NDArray[Any], offset: int = 0) -> None:
        cl.enqueue_copy(self.queue, self.buffers[name], np.ascontiguousarray(values), dst_offset=offset)

    def _read(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        values = np.empty(shape, np.float32)
        cl.enqueue_copy(self.queue, values, self.buffers[name])
        return values


def padded(units: int) -> int:
    """Return the lanes that units need: the next multiple of 16."""
    return -(-units // LANES) * LANES


def sums_fit_16_bits(spec: ModelSpec) -> bool:
    """Return whether no hidden sum, before it wraps, can leave 16 bits."""
    pixels = spec.input.rows * spec.input.cols
    return pixels * weight_limit(spec.hidden.weight_bits) + BIAS_LIMIT < 1 << 15


def _with_moments(values: NDArray[np.float64], rows: int, lanes: int) -> NDArray[np.float32]:
    """Return (rows, 3, lanes): values (rows, up to lanes) filled up with 0, and two moments of 0."""
    table = np.zeros((rows, 3, lanes), np.float32)
    table[:, 0, : values.shape[1]] = values
    return table
