"""What a peer is given and gives back, and how its epochs are timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Report = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class BenchData:
    """Pictures (n, rows * cols) of zeros and ones and labels (n,), u8, to train on and to test with."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    test_pixels: NDArray[np.uint8]
    test_labels: NDArray[np.uint8]


@dataclass(frozen=True)
class Score:
    """The median time of an epoch after the first, in ms, and the part of the test pictures found right at the end."""

    ms: float
    accuracy: float


def time_epochs(learn: Callable[[int], None], epochs: int, report: Report) -> float:
    """Run so many epochs and return the median time in ms of all but the first, or of the only one.

    learn: runs an epoch, whose number it gets, and waits until it is done; report: called after each.
    """
    ms = []
    for epoch in range(epochs):
        start = time.perf_counter()
        learn(epoch)
        ms.append(1e3 * (time.perf_counter() - start))
        report(epoch)
    return float(np.median(ms[1:] or ms))
