"""The weights of one net or of many on a device, with the optimiser's moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.net import Net
from zxml.quant.params import Params

State = dict[str, NDArray[np.float32]]
LOSS = 3  # the entry of a net's scalars that adds up losses


class Weights:
    """The parameters of nets of one shape, each value beside its two moments.

    buffers: hidden (models, pixels + 1, 3, lanes), the biases last; output (models, lanes + 1, 3, class_lanes), likewise;
    scalars (models, 4): the temperature, its moments, and the sum of losses. Units and classes are filled up with zeros.
    """

    def __init__(self, queue: Any, net: Net, lanes: int, class_lanes: int, models: int = 1) -> None:
        self._queue, self._net = queue, net
        self.shapes = {
            "hidden": (models, net.pixels + 1, 3, lanes),
            "output": (models, lanes + 1, 3, class_lanes),
            "scalars": (models, 4),
        }
        flags = cl.mem_flags.READ_WRITE
        self.buffers = {name: cl.Buffer(queue.context, flags, 4 * int(np.prod(shape))) for name, shape in self.shapes.items()}

    def write(self, all_params: list[Params]) -> State:
        """Set the parameters of each net and clear the moments; return the new state."""
        state = {name: np.zeros(shape, np.float32) for name, shape in self.shapes.items()}
        for model, params in enumerate(all_params):
            units, classes = params.output.shape
            state["hidden"][model, :-1, 0, :units] = params.hidden
            state["hidden"][model, -1, 0, :units] = params.hidden_bias
            state["output"][model, :units, 0, :classes] = params.output
            state["output"][model, -1, 0, :classes] = params.output_bias
            state["scalars"][model, 0] = params.temperature
        self.restore(state)
        return state

    def read(self, units: list[int] | None = None) -> list[Params]:
        """Return the parameters of each net as they are now; units: each net's own, if they are not the shape's."""
        state, classes = self.state(), self._net.classes
        widths = units or [self._net.units] * len(state["scalars"])
        return [
            Params(
                hidden[:-1, 0, :width].astype(np.float64),
                hidden[-1, 0, :width].astype(np.float64),
                output[:width, 0, :classes].astype(np.float64),
                output[-1, 0, :classes].astype(np.float64),
                np.asarray(scalars[0], np.float64),
            )
            for hidden, output, scalars, width in zip(state["hidden"], state["output"], state["scalars"], widths, strict=True)
        ]

    def state(self) -> State:
        """Return all that the next step depends on."""
        return {name: self._read(name) for name in self.shapes}

    def restore(self, state: State) -> None:
        """Set the parameters and moments to what `state` returned."""
        for name, values in state.items():
            cl.enqueue_copy(self._queue, self.buffers[name], np.ascontiguousarray(values))

    def clear_losses(self) -> None:
        """Set the sums of losses to 0."""
        scalars = self._read("scalars")
        scalars[:, LOSS] = 0
        cl.enqueue_copy(self._queue, self.buffers["scalars"], scalars)

    def losses(self) -> NDArray[np.float32]:
        """Return each net's sum of losses since the epoch's start, (models,)."""
        return self._read("scalars")[:, LOSS]

    def _read(self, name: str) -> NDArray[np.float32]:
        values = np.empty(self.shapes[name], np.float32)
        cl.enqueue_copy(self._queue, values, self.buffers[name])
        return values
