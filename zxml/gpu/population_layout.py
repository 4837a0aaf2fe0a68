"""Weights of a population as kernels/population_matrix.cl reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.net import Net
from zxml.gpu.weights import State, Weights
from zxml.quant.params import Params

WORD = 32  # pixels


class MatrixWeights(Weights):
    """The parameters of nets of one shape, each value beside its two moments.

    buffers: as in `Weights`, but hidden (models, floats): see `pack`.
    """

    def __init__(self, queue: Any, net: Net, lanes: int, class_lanes: int, models: int) -> None:
        super().__init__(queue, net, lanes, class_lanes, models)
        self._plain = self.shapes["hidden"][1:]
        floats = (-(-net.pixels // WORD) * WORD + 1) * 3 * lanes
        self.shapes["hidden"] = (models, floats)
        self.buffers["hidden"] = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4 * models * floats)

    def write(self, all_params: list[Params]) -> State:
        """Set the parameters of each net and clear the moments; return the new state."""
        state = {name: np.zeros(shape, np.float32) for name, shape in self.shapes.items()}
        for model, params in enumerate(all_params):
            units, classes = params.output.shape
            hidden = np.zeros(self._plain, np.float32)
            hidden[:-1, 0, :units] = params.hidden
            hidden[-1, 0, :units] = params.hidden_bias
            state["hidden"][model] = pack(hidden)
            state["output"][model, :units, 0, :classes] = params.output
            state["output"][model, -1, 0, :classes] = params.output_bias
            state["scalars"][model, 0] = params.temperature
        self.restore(state)
        return state

    def read(self, units: list[int] | None = None) -> list[Params]:
        """Return the parameters of each net as they are now; units: each net's own, if they are not the shape's."""
        state, classes = self.state(), self._net.classes
        widths = units or [self._net.units] * len(state["scalars"])
        found = []
        for packed, output, scalars, width in zip(*(state[name] for name in self.shapes), widths, strict=True):
            hidden = unpack(packed, self._net.pixels)
            weights, bias = hidden[:-1, 0, :width].astype(np.float64), hidden[-1, 0, :width].astype(np.float64)
            rows, row = output[:width, 0, :classes].astype(np.float64), output[-1, 0, :classes].astype(np.float64)
            found.append(Params(weights, bias, rows, row, np.asarray(scalars[0], np.float64)))
        return found


def pack(hidden: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return weights (pixels + 1, 3, 64), the biases last, in the order that kernels/population_matrix.cl names, (floats,)."""
    padded = np.pad(hidden[:-1], ((0, -(len(hidden) - 1) % WORD), (0, 0), (0, 0)))
    # from (words, halves, fours, t, 3, warps, units, g) to (words, warps, 3, units, halves, g, t, fours)
    parts = padded.reshape(-1, 2, 4, 4, 3, 4, 2, 8).transpose(0, 5, 4, 6, 1, 7, 3, 2)
    return np.concatenate([parts.ravel(), hidden[-1].ravel()])


def unpack(packed: NDArray[np.float32], pixels: int) -> NDArray[np.float32]:
    """Return what `pack` was given, (pixels + 1, 3, 64)."""
    lanes = 64
    parts = packed[: -3 * lanes].reshape(-1, 4, 3, 2, 2, 8, 4, 4).transpose(0, 4, 7, 6, 2, 1, 3, 5)
    return np.concatenate([parts.reshape(-1, 3, lanes)[:pixels], packed[-3 * lanes :].reshape(1, 3, lanes)])
