"""The learning rate of each step: a short warm-up, then half a cosine down to 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.spec import TrainingSpec

FIRST_DECAY, SECOND_DECAY = 0.9, 0.999  # of Adam's moments
EPSILON = 1e-7


def step_rates(training: TrainingSpec, first: int, count: int, total: int) -> NDArray[np.float64]:
    """Return what the optimiser needs of `count` steps from step `first` of `total`, (count, 4).

    Columns: the rate, divided by Adam's correction of the first moment; Adam's correction of the second moment; the part of a
    weight that decays; 0.
    """
    steps = np.arange(first, first + count)
    rise = np.minimum(1.0, (steps + 1) / max(1.0, training.warmup * total))
    rates = training.learning_rate * rise * (0.5 + 0.5 * np.cos(np.pi * steps / total))
    table = _corrected(training.optimiser, rates, steps)
    table[:, 2] = rates * training.weight_decay
    return table


def constant_rates(optimiser: str, rate: float, first: int, count: int) -> NDArray[np.float64]:
    """Return what the optimiser needs of `count` steps from step `first`, all at one rate and without decay, (count, 4)."""
    return _corrected(optimiser, np.full(count, rate), np.arange(first, first + count))


def _corrected(optimiser: str, rates: NDArray[np.float64], steps: NDArray[np.int_]) -> NDArray[np.float64]:
    table = np.zeros((len(steps), 4))
    table[:, 0] = rates / (1 - FIRST_DECAY ** (steps + 1.0)) if optimiser == "adam" else rates
    table[:, 1] = 1 / (1 - SECOND_DECAY ** (steps + 1.0))
    return table
