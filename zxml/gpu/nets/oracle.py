"""A plain net in NumPy, of any precision: what the kernels are tested against, and NumPy's own speed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zxml.gpu.nets.shape import NetShape, Params

Reals = NDArray[Any]


def run_scores(shape: NetShape, params: Params, pixels: Reals) -> Reals:
    """Return the scores (n, classes) of pixels (n, rows * cols)."""
    return _forward(shape, params, pixels)[0][-1]


def find_gradients(shape: NetShape, params: Params, pixels: Reals, labels: NDArray[np.uint8]) -> Params:
    """Return the gradients of the mean cross-entropy, in the order of the parameters."""
    values, windows, choice = _forward(shape, params, pixels)
    scores = values[-1] - values[-1].max(axis=1, keepdims=True)
    slope = np.exp(scores)
    slope /= slope.sum(axis=1, keepdims=True)
    slope[np.arange(len(labels)), labels] -= 1
    slope /= len(labels)
    gradients: Params = []
    dense = params[2:] if shape.filters else params
    for layer in reversed(range(0, len(dense), 2)):
        inputs = values[layer // 2]
        gradients = [inputs.T @ slope, slope.sum(axis=0), *gradients]
        if layer or shape.filters:
            slope = (slope @ dense[layer].T) * (inputs > 0)
    if windows is None or choice is None:
        return gradients
    slope = slope.reshape(len(pixels), shape.filters, -1).transpose(1, 0, 2).reshape(shape.filters, -1)
    filters = sum((slope * (choice == q)) @ windows[q].T for q in range(4))
    return [np.asarray(filters).reshape(-1, 3, 3), slope.sum(axis=1), *gradients]


class OracleTrainer:
    """SGD with momentum on one net."""

    def __init__(self, shape: NetShape, params: Params, precision: Any = np.float64) -> None:
        self.shape, self.precision = shape, precision
        self.params: Params = [array.astype(precision) for array in params]
        self.moments: Params = [np.zeros_like(array) for array in self.params]

    def step(self, pixels: Reals, labels: NDArray[np.uint8]) -> None:
        """Run one step on pixels (batch, rows * cols) and labels (batch,)."""
        gradients = find_gradients(self.shape, self.params, pixels.astype(self.precision), labels)
        for array, moment, gradient in zip(self.params, self.moments, gradients, strict=True):
            moment *= self.precision(self.shape.momentum)
            moment += gradient
            array -= self.precision(self.shape.rate) * moment


def measure_accuracy(shape: NetShape, params: Params, pixels: Reals, labels: NDArray[np.uint8], chunk: int = 2000) -> float:
    """Return the part of the pictures whose greatest score is their label's."""
    right = 0
    for start in range(0, len(labels), chunk):
        scores = run_scores(shape, params, pixels[start : start + chunk].astype(np.float32))
        right += int((scores.argmax(axis=1) == labels[start : start + chunk]).sum())
    return right / len(labels)


def _forward(shape: NetShape, params: Params, pixels: Reals) -> tuple[list[Reals], Reals | None, Reals | None]:
    """Return each dense layer's inputs and the scores, and of the filters what `find_gradients` needs.

    That is their windows (4, 9, n * positions), and which of the four each chose, its first greatest, (filters, n * positions).
    """
    values, windows, choice = [pixels], None, None
    if shape.filters:
        windows = _cut_windows(shape, pixels)
        sums = params[0].reshape(-1, 9) @ windows + params[1][:, None]  # (4, filters, n * positions)
        best, choice = sums[0], np.zeros(sums[0].shape, np.uint8)
        for q in range(1, 4):
            above = sums[q] > best
            best, choice = np.where(above, sums[q], best), np.where(above, np.uint8(q), choice)
        apart = np.maximum(best, 0).reshape(shape.filters, len(pixels), -1)
        values = [apart.transpose(1, 0, 2).reshape(len(pixels), -1)]
    dense = params[2:] if shape.filters else params
    for layer in range(0, len(dense), 2):
        sums = values[-1] @ dense[layer] + dense[layer + 1]
        values.append(np.maximum(sums, 0) if layer + 2 < len(dense) else sums)
    return values, windows, choice


def _cut_windows(shape: NetShape, pixels: Reals) -> Reals:
    """Return (4, 9, n * positions): the four 3 x 3 windows of each place."""
    rows, cols = (shape.rows - 2) // 2, (shape.cols - 2) // 2
    pictures = pixels.reshape(-1, shape.rows, shape.cols)
    windows = np.empty((4, 9, len(pictures), rows, cols), pixels.dtype)
    for q in range(4):
        for k in range(9):
            top, left = q // 2 + k // 3, q % 2 + k % 3
            windows[q, k] = pictures[:, top : top + 2 * rows : 2, left : left + 2 * cols : 2]
    return windows.reshape(4, 9, -1)
