"""The integer net inside the training: exact values forward, straight-through gradients back, in NumPy float64.

Forward, this is `zxml.reference` on the exported model while no sum wraps. Back, rounding a parameter has the slope 1, and a
level has the slope of the ramp clip(sum / 2**shift + 1/2, 0, levels). With soft=True the parameters are not rounded and the
levels are that ramp, so that the gradients are those of the loss itself; numeric differences test them.

Source: Bengio et al., Estimating or propagating gradients through stochastic neurons, arXiv:1308.3432.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.quant.params import Params, Reals, logit_scale
from zxml.spec import ModelSpec

SAFE_PART = 0.88  # the part of a sum's range that costs no penalty


@dataclass(frozen=True)
class Forward:
    """What the net computes of a batch: sums and levels (batch, units), scores and logits (batch, classes)."""

    sums: Reals
    levels: Reals
    scores: Reals
    logits: Reals


def quantise(params: Params) -> Params:
    """Return the parameters the net uses: rounded to the nearest integer, ties to even; the temperature stays."""
    return Params(*(array if name == "temperature" else np.rint(array) for name, array in params.items()))


def forward(params: Params, pixels: Reals, spec: ModelSpec, soft: bool = False) -> Forward:
    """Return what the net computes of pixels (batch, pixels) of zeros and ones; its sums keep all their bits."""
    used = params if soft else quantise(params)
    sums = pixels @ used.hidden + used.hidden_bias
    ramp = sums / 2.0**spec.hidden.shift
    levels = np.clip(ramp + 0.5 if soft else np.floor(ramp) + 1, 0, spec.hidden.levels)
    scores = levels @ used.output + used.output_bias
    return Forward(sums, levels, scores, scores * (np.exp(used.temperature) * logit_scale(spec)))


def loss_and_gradients(
    params: Params, pixels: Reals, labels: NDArray[np.integer], spec: ModelSpec, soft: bool = False
) -> tuple[float, Params]:
    """Return the mean cross-entropy of a batch plus the range penalty, and its gradients by the parameters."""
    used = params if soft else quantise(params)
    run = forward(params, pixels, spec, soft)
    batch, scale = len(pixels), float(np.exp(used.temperature)) * logit_scale(spec)
    logits = run.logits - run.logits.max(axis=1, keepdims=True)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)  # (batch, classes)
    penalty, push = range_penalty(run.sums, spec)
    loss = -np.log(chances[np.arange(batch), labels]).mean() + penalty

    score_deltas = (chances - np.eye(spec.output.units)[labels]) * (scale / batch)
    ramp = run.sums / 2.0**spec.hidden.shift
    sloped = (ramp > -0.5) & (ramp < spec.hidden.levels - 0.5)
    deltas = sloped * (score_deltas @ used.output.T) / 2.0**spec.hidden.shift + push  # (batch, units)
    return float(loss), Params(
        pixels.T @ deltas,
        deltas.sum(axis=0),
        run.levels.T @ score_deltas,
        score_deltas.sum(axis=0),
        np.asarray((score_deltas * run.scores).sum()),
    )


def range_penalty(sums: Reals, spec: ModelSpec) -> tuple[float, Reals]:
    """Return the penalty for sums (batch, units) that come near the end of their range, and its gradient by the sums."""
    half, weight = 2.0 ** (spec.hidden.sum_bits - 1), spec.training.range_penalty
    over = np.maximum(np.abs(sums) - SAFE_PART * half, 0.0) / half
    push = np.where(over > 0, np.sign(sums) * (1 + 2 * over), 0.0) * (weight / half / len(sums))
    return weight * float((over + over**2).sum()) / len(sums), push
