"""When a cascade answers early: the gap of each exit, from how many validation pictures are to have a second look.

And what a later net learns from: the pictures that the net before doubts, which it will be asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zxml.ir import Exit, IntegerModel
from zxml.reference import Pictures, Values, trace_layers

GREATEST_GAP = 0xFFFF  # scores are 16 bits


def choose_gaps(model: IntegerModel, pictures: Pictures, shares: Sequence[float]) -> IntegerModel:
    """Return the model with each exit's gap as large as lets at most a share of all pictures go on; shares: one an exit."""
    layers, going = list(model.layers), np.ones(len(pictures), bool)
    exits = [number for number, layer in enumerate(layers) if isinstance(layer, Exit)]
    outputs = trace_layers(model.layers[: max(exits, default=0)], pictures.astype(np.int64))
    for number, share in zip(exits, shares, strict=True):
        gaps = score_gaps(outputs[number - 1])
        found = largest_gap(gaps[going], int(share * len(pictures)))
        layer = layers[number]
        assert isinstance(layer, Exit)
        layers[number] = replace(layer, gap=found)
        going &= gaps < found
    return replace(model, layers=tuple(layers))


def score_gaps(scores: Values) -> Values:
    """Return how far the greatest of scores (n, classes) is ahead of the next, (n,)."""
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def largest_gap(gaps: Values, most: int) -> int:
    """Return the largest gap that no more than `most` of the gaps (n,) stay below."""
    if most >= len(gaps):
        return GREATEST_GAP
    return int(np.sort(gaps)[most])


def take_doubted(order: NDArray[np.uint32], gaps: Values, part: float) -> NDArray[np.uint32]:
    """Return, of pictures in random order, the part whose gaps are the least and as many others; the order stays.

    order: numbers of pictures, (n,); gaps: of these, (n,); part: 0 to 0.5.
    """
    count = int(part * len(order))
    taken = np.zeros(len(order), bool)
    taken[np.argsort(gaps, kind="stable")[:count]] = True
    taken[np.flatnonzero(~taken)[:count]] = True
    return order[taken]
