"""What a plain net is: its layers, how it is trained, and where its parameters start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# In the order of the layers, weights then biases. Dense: (inputs, outputs), (outputs,). Filters: (filters, 3, 3), (filters,);
# input filter * positions + position of the dense layer after them is a filter's place.
Params = list[NDArray[Any]]


@dataclass(frozen=True)
class NetShape:
    """A net on pictures of rows x cols bits: 3 x 3 filters, ReLU and a 2 x 2 maximum if there are any, dense layers with ReLU.

    hidden: units of the dense layers before the scores. Trained by SGD with momentum on the cross-entropy of the scores.
    """

    rows: int
    cols: int
    hidden: tuple[int, ...] = ()
    filters: int = 0
    classes: int = 10
    batch: int = 128
    rate: float = 0.05
    momentum: float = 0.9

    @property
    def positions(self) -> int:
        """Places after the 2 x 2 maximum."""
        return (self.rows - 2) // 2 * ((self.cols - 2) // 2)

    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs of the first dense layer, then the outputs of each."""
        inputs = self.filters * self.positions if self.filters else self.rows * self.cols
        return (inputs, *self.hidden, self.classes)


def initial_params(shape: NetShape, seed: int) -> Params:
    """Return where training starts: uniform within 1 / sqrt(inputs), f32."""
    rng = np.random.default_rng([seed, 0])
    sizes: list[tuple[tuple[int, ...], int, int]] = [((shape.filters, 3, 3), shape.filters, 9)] if shape.filters else []
    sizes += [((ins, outs), outs, ins) for ins, outs in zip(shape.widths, shape.widths[1:], strict=False)]
    params: Params = []
    for weights, biases, inputs in sizes:
        bound = inputs**-0.5
        params += [rng.uniform(-bound, bound, size).astype(np.float32) for size in (weights, (biases,))]
    return params
