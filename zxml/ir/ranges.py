"""What each layer can put out, proved by intervals over every input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from zxml.ir.layers import (
    PATCH_SIDE,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
)

Ends = NDArray[np.int64]  # the lowest or highest value of each unit, of the map's or vector's shape


@dataclass(frozen=True)
class Range:
    """A closed range of integers, [lo, hi]."""

    lo: int
    hi: int

    def __contains__(self, value: int) -> bool:
        return self.lo <= value <= self.hi

    def __str__(self) -> str:
        return f"[{self.lo}, {self.hi}]"


@dataclass(frozen=True)
class LayerRange:
    """What a layer can put out, proved by intervals over every input.

    exact: the range of the sum before wrapping (None where nothing is summed); out: the range of the values handed on;
    wraps: True if some input may wrap the sum.
    """

    name: str
    shape: tuple[int, ...]
    exact: Range | None
    out: Range
    wraps: bool


def layer_ranges(layers: tuple[Layer, ...]) -> list[LayerRange]:
    """Return each layer's proved range, in order."""
    found: list[LayerRange] = []
    ends: dict[str, tuple[Ends, Ends]] = {"picture": (np.zeros(1, np.int64), np.ones(1, np.int64))}
    taken = "picture"
    for layer in layers:
        lows, highs, row = _layer_range(layer, *ends[taken])
        found.append(row)
        ends[layer.name] = lows, highs
        taken = layer.source if isinstance(layer, Exit) else layer.name
    return found


def _layer_range(layer: Layer, lows: Ends, highs: Ends) -> tuple[Ends, Ends, LayerRange]:
    """Return the units' lowest and highest values after the layer, and the row that tells of it."""
    match layer:
        case PatchSum(table=table, bias=bias, sum_bits=bits) | CodeSum(table=table, bias=bias, sum_bits=bits):
            low = bias + table.min(axis=1).astype(np.int64).sum(axis=0)
            high = bias + table.max(axis=1).astype(np.int64).sum(axis=0)
            return _sum_range(layer.name, low, high, bits)
        case PatchConv(window=window, table=table):
            shape = (window.rows - PATCH_SIDE + 1, window.cols - PATCH_SIDE + 1, table.shape[1])
            low, high = (np.broadcast_to(ends, shape).astype(np.int64) for ends in (table.min(axis=0), table.max(axis=0)))
            return low, high, _plain(layer.name, low, high)
        case Pool():
            low, high = (pool(ends[None])[0] for ends in (lows, highs))
            return low, high, _plain(layer.name, low, high)
        case Codebook(code=code):
            low, high = (np.full((*lows.shape[:2], 1), end, np.int64) for end in (code.min(), code.max()))
            return low, high, _plain(layer.name, low, high)
        case Conv(weight=weight, bias=bias, sum_bits=bits):
            seen = (windows(ends[None], layer.stride)[0] for ends in (lows, highs))
            ends = _product_ends(next(seen), next(seen), weight.reshape(-1, len(bias)))
            return _sum_range(layer.name, bias + ends[0], bias + ends[1], bits)
        case Dense(weight=weight, bias=bias, sum_bits=bits):
            ends = _product_ends(lows.ravel(), highs.ravel(), weight)
            return _sum_range(layer.name, bias + ends[0], bias + ends[1], bits)
        case Requant(shift=shift, levels=levels):
            low, high = (((ends >> shift) + 1).clip(0, levels) for ends in (lows, highs))
            return low, high, _plain(layer.name, low, high)
        case Steps(thresholds=thresholds):
            low, high = ((ends >= thresholds[:, None, None]).sum(axis=0) for ends in (lows, highs))
            return low, high, _plain(layer.name, low, high)
        case Looks(shifts=shifts):
            low, high = lows * (1 + len(shifts)), highs * (1 + len(shifts))
            return low, high, _plain(layer.name, low, high)
        case ArgMax() | Exit():
            low = np.zeros(1, np.int64)
            high = low + (1 if isinstance(layer, Exit) else len(lows) - 1)
            return low, high, _plain(layer.name, low, high)
        case _:
            assert_never(layer)


def pool(maps: Ends) -> Ends:
    """Return the greatest of each block of 2 x 2 of maps (n, rows, cols, channels); odd ends make blocks of their own."""
    padded = np.pad(maps, ((0, 0), (0, maps.shape[1] % 2), (0, maps.shape[2] % 2), (0, 0)), mode="edge")
    blocks = padded.reshape(len(maps), padded.shape[1] // 2, 2, padded.shape[2] // 2, 2, maps.shape[3])
    return np.asarray(blocks.max(axis=(2, 4)))


def windows(maps: Ends, stride: int = 1) -> Ends:
    """Return the 3 x 3 windows at every stride-th place of maps (n, rows, cols, channels), (n, y, x, 9 * channels)."""
    rows, cols = maps.shape[1] - PATCH_SIDE + 1, maps.shape[2] - PATCH_SIDE + 1
    sides = range(PATCH_SIDE)
    parts = [maps[:, dy : dy + rows : stride, dx : dx + cols : stride] for dy in sides for dx in sides]
    return np.concatenate(parts, axis=3)


def _product_ends(lows: Ends, highs: Ends, weight: NDArray[np.int32]) -> tuple[Ends, Ends]:
    """Return the least and greatest sums of inputs (..., inputs) by weights (inputs, units), (..., units)."""
    plus, minus = weight.clip(0, None).astype(np.int64), weight.clip(None, 0).astype(np.int64)
    return lows @ plus + highs @ minus, highs @ plus + lows @ minus


def _plain(name: str, low: Ends, high: Ends) -> LayerRange:
    return LayerRange(name, low.shape, None, Range(int(low.min()), int(high.max())), False)


def _sum_range(name: str, low: Ends, high: Ends, bits: int) -> tuple[Ends, Ends, LayerRange]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    over = (low < least) | (high > most)  # units that some input may wrap
    exact = Range(int(low.min()), int(high.max()))
    low, high = np.where(over, least, low), np.where(over, most, high)
    return low, high, LayerRange(name, low.shape, exact, Range(int(low.min()), int(high.max())), bool(over.any()))
