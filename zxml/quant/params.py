"""What training learns: real numbers in units of one integer step, rounded wherever the net uses them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from zxml.spec import ModelSpec

Reals = NDArray[np.float64]

LIMIT_MARGIN = 0.45  # a weight may pass the greatest integer by this, so that it never rounds to the next
BIAS_LIMIT = 16383  # biases stay so small that they and the weights of a picture fit in 32 bits, mostly in 16
SPREAD = 1.2  # standard deviation of a new sum whose inputs are 1, in real numbers
SET_PIXELS = 60  # pixels that a new net expects to be set
ACTIVE_UNITS = 0.4  # the part of the hidden units that a new net expects to be active


@dataclass(frozen=True)
class Params:
    """The parameters, or anything of the same shapes, such as their gradients.

    hidden: (pixels, units); hidden_bias: (units,); output: (units, classes); output_bias: (classes,); temperature: (), the
    logarithm of what the scores are multiplied with on their way into the softmax.
    """

    hidden: Reals
    hidden_bias: Reals
    output: Reals
    output_bias: Reals
    temperature: Reals

    def items(self) -> list[tuple[str, Reals]]:
        """Return the names and arrays, in order."""
        return [(f.name, getattr(self, f.name)) for f in fields(self)]

    def like(self, value: float = 0.0) -> Params:
        """Return parameters of the same shapes that all have one value."""
        return replace(self, **{name: np.full(array.shape, value) for name, array in self.items()})


def initial_params(spec: ModelSpec) -> Params:
    """Return the parameters that training starts from; they follow from the spec and its seed."""
    rng = np.random.default_rng([spec.seed, 0])
    pixels, units, classes = spec.input.rows * spec.input.cols, spec.hidden.units, spec.output.units
    hidden = rng.normal(0.0, SPREAD / np.sqrt(SET_PIXELS), (pixels, units)) / spec.hidden.weight_step
    output = rng.normal(0.0, SPREAD / np.sqrt(max(1.0, ACTIVE_UNITS * units)), (units, classes)) / spec.output.weight_step
    params = Params(hidden, np.zeros(units), output, np.zeros(classes), np.zeros(()))
    rounded = {name: array.astype(np.float32).astype(np.float64) for name, array in params.items()}  # as devices hold them
    limits = param_limits(spec)
    return Params(**{name: np.asarray(array.clip(-limits[name], limits[name])) for name, array in rounded.items()})


def weight_limit(bits: int) -> int:
    """Return the greatest weight of so many bits: two's complement without its lowest value."""
    return (1 << (bits - 1)) - 1


def param_limits(spec: ModelSpec) -> dict[str, float]:
    """Return the greatest size of each kind of parameter."""
    return {
        "hidden": float(np.float32(weight_limit(spec.hidden.weight_bits) + LIMIT_MARGIN)),
        "hidden_bias": BIAS_LIMIT,
        "output": float(np.float32(weight_limit(spec.output.weight_bits) + LIMIT_MARGIN)),
        "output_bias": BIAS_LIMIT,
        "temperature": np.inf,
    }


def param_steps(spec: ModelSpec) -> dict[str, float]:
    """Return what one unit of each kind of parameter is worth in real numbers."""
    hidden, output = spec.hidden.weight_step, spec.output.weight_step
    return {"hidden": hidden, "hidden_bias": hidden, "output": output, "output_bias": output, "temperature": 1.0}


def logit_scale(spec: ModelSpec) -> float:
    """Return what one unit of a score is worth in real numbers."""
    return spec.output.weight_step * spec.hidden.weight_step * 2.0**spec.hidden.shift
