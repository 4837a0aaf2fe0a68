"""One training step in NumPy float64: what the kernels are tested against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.gpu.float_net import float_loss_and_gradients
from zxml.gpu.net import FloatSpec, net_of
from zxml.gpu.schedule import EPSILON, FIRST_DECAY, SECOND_DECAY
from zxml.quant.fake import loss_and_gradients
from zxml.quant.params import Params, Reals, param_limits, param_steps
from zxml.spec import ModelSpec


class HostTrainer:
    """Parameters and the optimiser's moments; `step` learns from one batch."""

    def __init__(self, spec: ModelSpec | FloatSpec, params: Params) -> None:
        self.spec, self.params = spec, params
        self.first, self.second = params.like(), params.like()
        self.net = net_of(spec)
        free = {name: np.inf for name, _ in params.items()}
        self.limits = free if isinstance(spec, FloatSpec) else param_limits(spec)
        self.steps = dict.fromkeys(free, 1.0) if isinstance(spec, FloatSpec) else param_steps(spec)

    def step(self, pixels: Reals, labels: NDArray[np.integer], rates: Reals) -> float:
        """Learn from pixels (batch, pixels) and labels (batch,) at rates (4,), a row of `step_rates`; return the loss."""
        if isinstance(self.spec, FloatSpec):
            loss, gradients = float_loss_and_gradients(self.params, pixels, labels)
        else:
            loss, gradients = loss_and_gradients(self.params, pixels, labels, self.spec)
        moved = [
            self._descend(name, rates, weight, first, second, gradient)
            for (name, weight), (_, first), (_, second), (_, gradient) in zip(
                self.params.items(), self.first.items(), self.second.items(), gradients.items(), strict=True
            )
        ]
        self.params, self.first, self.second = (Params(*arrays) for arrays in zip(*moved, strict=True))
        return loss

    def _descend(
        self, name: str, rates: Reals, weight: Reals, first: Reals, second: Reals, gradient: Reals
    ) -> tuple[Reals, Reals, Reals]:
        """Return the weight and its moments after one step; see kernels/optimiser.cl."""
        step, limit = self.steps[name], self.limits[name]
        weight = weight - (rates[2] * weight if name in ("hidden", "output") else 0.0)
        if self.net.optimiser == "adam":
            first = first + (1 - FIRST_DECAY) * (gradient - first)
            second = second + (1 - SECOND_DECAY) * (gradient**2 - second)
            weight = weight - rates[0] / step * first / (np.sqrt(second * rates[1]) + EPSILON * step)
        else:
            first = float(self.net.arithmetic["MOMENTUM"]) * first + gradient
            weight = weight - rates[0] / step**2 * first
        return np.asarray(np.clip(weight, -limit, limit)), np.asarray(first), np.asarray(second)
