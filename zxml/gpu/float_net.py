"""The plain net of real numbers in NumPy float64: where it starts, its loss and gradients, and how often it is right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zxml.gpu.net import FloatSpec
from zxml.quant.params import Params, Reals

CHUNK = 2000  # pictures at a time


def initial_float_params(spec: FloatSpec) -> Params:
    """Return the parameters that training starts from: uniform within 1 / sqrt(inputs), from the spec's seed."""
    rng = np.random.default_rng([spec.seed, 0])
    arrays = []
    for inputs, units in ((spec.rows * spec.cols, spec.units), (spec.units, spec.classes)):
        reach = 1 / np.sqrt(inputs)
        arrays += [rng.uniform(-reach, reach, shape) for shape in ((inputs, units), (units,))]
    hidden, hidden_bias, output, output_bias = (array.astype(np.float32).astype(np.float64) for array in arrays)
    return Params(hidden, hidden_bias, output, output_bias, np.zeros(()))


def float_scores(params: Params, pixels: Reals) -> tuple[Reals, Reals]:
    """Return the activations (batch, units) and scores (batch, classes) of pixels (batch, pixels)."""
    active = np.maximum(pixels @ params.hidden + params.hidden_bias, 0.0)
    return active, active @ params.output + params.output_bias


def float_loss_and_gradients(params: Params, pixels: Reals, labels: NDArray[np.integer]) -> tuple[float, Params]:
    """Return the mean cross-entropy of a batch and its gradients by the parameters."""
    active, scores = float_scores(params, pixels)
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    loss = -np.log(chances[np.arange(len(labels)), labels]).mean()
    score_deltas = (chances - np.eye(scores.shape[1])[labels]) / len(labels)
    deltas = (active > 0) * (score_deltas @ params.output.T)
    output, output_bias = active.T @ score_deltas, score_deltas.sum(axis=0)
    return float(loss), Params(pixels.T @ deltas, deltas.sum(axis=0), output, output_bias, np.zeros(()))


def float_accuracy(params: Params, spec: FloatSpec, images: NDArray[np.uint8], labels: NDArray[np.uint8]) -> float:
    """Return the part of pictures (n, rows, cols) that the net gets right."""
    right = 0
    for start in range(0, len(images), CHUNK):
        pixels = to_reals(spec, images[start : start + CHUNK])
        right += int((float_scores(params, pixels)[1].argmax(axis=1) == labels[start : start + CHUNK]).sum())
    return right / len(labels)


def to_reals(spec: FloatSpec, images: NDArray[Any]) -> Reals:
    """Return what the net sees of pictures (n, rows, cols), (n, pixels)."""
    return images.reshape(len(images), -1).astype(np.float64) / (255 if spec.grey else 1)
