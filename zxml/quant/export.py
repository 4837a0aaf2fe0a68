"""Trained parameters to the integer model that the reference and the Z80 run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.errors import SpecError
from zxml.ir import ArgMax, Dense, IntegerModel, PatchSum, Requant, Window, wrap
from zxml.quant.fake import quantise
from zxml.quant.params import Params, weight_limit
from zxml.spec import ModelSpec


def export(params: Params, spec: ModelSpec) -> IntegerModel:
    """Return the model of trained parameters.

    The greatest score does not depend on what is added to all scores alike. So each row of the output layer and its biases are
    moved until their least entry is 0: the same digits, and no entry is negative. The hidden biases are kept modulo the
    range of the sums, as the sums are.

    Raises SpecError if a weight is no number or does not fit in its bits, or if a score could leave its range.
    """
    used = quantise(params)
    check_weights(used, spec)
    window = spec.input
    hidden = integers(used.hidden)
    weight, bias = integers(used.output), integers(used.output_bias)
    layers = (
        PatchSum(
            name="hidden",
            window=Window(window.top, window.left, window.rows, window.cols),
            patch_rows=1,
            patch_cols=1,
            sum_bits=spec.hidden.sum_bits,
            table=np.stack([np.zeros_like(hidden), hidden], axis=1),
            bias=wrap(integers(used.hidden_bias).astype(np.int64), spec.hidden.sum_bits).astype(np.int32),
        ),
        Requant("levels", spec.hidden.shift, spec.hidden.levels),
        Dense("scores", spec.output.sum_bits, weight - weight.min(axis=1, keepdims=True), bias - bias.min()),
        ArgMax("digit"),
    )
    model = IntegerModel(spec.name, spec.seed, layers)
    check_scores(model, spec)
    return model


def check_weights(used: Params, spec: ModelSpec) -> None:
    """Raise SpecError unless each rounded parameter is a number that fits in its bits."""
    limits = {"hidden": weight_limit(spec.hidden.weight_bits), "output": weight_limit(spec.output.weight_bits)}
    for name, array in used.items():
        size = float(np.abs(array).max(initial=0.0))
        if not size <= limits.get(name, np.inf):
            limit = limits.get(name, "a finite number")
            raise SpecError(f"{spec.name}: {name} must lie within +-{limit}, got {size}; lower training.learning_rate")


def check_scores(model: IntegerModel, spec: ModelSpec) -> None:
    """Raise SpecError if some picture could make a score wrap, which training does not foresee."""
    scores = model.ranges()[-2]
    if scores.wraps:
        raise SpecError(
            f"{spec.name}: scores may reach {scores.exact}, which {spec.output.sum_bits} bits cannot hold; "
            "lower hidden.units, hidden.levels or output.weight_bits"
        )


def integers(values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return rounded values as integers."""
    return values.astype(np.int32)
