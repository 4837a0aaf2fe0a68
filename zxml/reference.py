"""What an integer model means: NumPy, straight from the formulas in `zxml.ir`.

The Z80 code, the OpenCL code and the quantisation are all tested against this page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from zxml.errors import SpecError
from zxml.ir import (
    PATCH_SIDE,
    PICTURE_SIDE,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntegerModel,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
    Window,
    looked_again,
    sources,
    wrap,
)
from zxml.ir.ranges import pool, windows

Pictures = NDArray[np.uint8]
Values = NDArray[np.int64]
Looker = Callable[[tuple[int, int]], Values]

BATCH = 500


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of n pictures: scores (n, classes), digits (n,), and which of its exits each left by (n,).

    Exits are numbered from 0; the last is the model's end. The scores are those of the exit.
    """

    scores: Values
    digits: Values
    exits: Values


def run(model: IntegerModel, pictures: Pictures, wrapping: bool = True) -> Answers:
    """Return what the model says of pictures (n, 28, 28) of zeros and ones; wrapping=False: sums keep all their bits.

    Raises SpecError unless pictures have shape (n, 28, 28).
    """
    parts = [_run(model, _checked(part), wrapping) for part in batches(pictures)]
    return Answers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Answers)))


def _run(model: IntegerModel, pictures: Values, wrapping: bool) -> Answers:
    """Return what `run` does: layers after an exit take only the pictures that go on."""
    scores, exits = np.zeros((len(pictures), model.classes), np.int64), np.zeros(len(pictures), np.int64)
    going, outputs = np.arange(len(pictures)), [pictures]
    for number, (layer, source) in enumerate(zip(model.layers, sources(model.layers), strict=True)):
        look = _looker(model.layers, number, outputs[0], wrapping)
        outputs.append(_apply(layer, outputs[source + 1], wrapping, look))
        if isinstance(layer, Exit | ArgMax):
            leaves = outputs[-1][:, 0] == 1 if isinstance(layer, Exit) else np.ones(len(going), bool)
            scores[going[leaves]] = outputs[-2][leaves]
            going, outputs = going[~leaves], [values[~leaves] for values in outputs]
            exits[going] += 1
            if not len(going):
                break
    return Answers(scores, scores.argmax(axis=1), exits)


def batches(pictures: Pictures) -> Iterator[Pictures]:
    """Yield the pictures some at a time, which bounds the memory that their traces take; at least once."""
    for start in range(0, max(1, len(pictures)), BATCH):
        yield pictures[start : start + BATCH]


def answer(model: IntegerModel, outputs: dict[str, Values]) -> Answers:
    """Return what the model says, from the outputs of its layers as `trace` returns them."""
    values = list(outputs.values())
    ways_out = [number for number, layer in enumerate(model.layers) if isinstance(layer, Exit)]
    scores, exits = values[-2], np.full(len(values[-2]), len(ways_out))
    for way, number in reversed([*enumerate(ways_out)]):
        leaves = values[number][:, 0] == 1
        scores, exits = np.where(leaves[:, None], values[number - 1], scores), np.where(leaves, way, exits)
    return Answers(scores, scores.argmax(axis=1), exits)


def trace(model: IntegerModel, pictures: Pictures, wrapping: bool = True) -> dict[str, Values]:
    """Return each layer's output by its name, (n, ...), as if no picture left early; wrapping=False: sums keep all their bits.

    Raises SpecError unless pictures have shape (n, 28, 28).
    """
    outputs = trace_layers(model.layers, _checked(pictures), wrapping)
    return {layer.name: values for layer, values in zip(model.layers, outputs, strict=True)}


def trace_layers(
    layers: tuple[Layer, ...], pictures: Values, wrapping: bool = True, known: Sequence[Values] = ()
) -> list[Values]:
    """Return the outputs of layers of which the first takes pictures (n, 28, 28), as `trace` does; known: the first of them."""
    outputs = [pictures, *known]
    for number, source in [*enumerate(sources(layers))][len(known) :]:
        look = _looker(layers, number, pictures, wrapping)
        outputs.append(_apply(layers[number], outputs[source + 1], wrapping, look))
    return outputs[1:]


def _checked(pictures: Pictures) -> Values:
    if pictures.ndim != 3 or pictures.shape[1:] != (PICTURE_SIDE, PICTURE_SIDE):
        raise SpecError(f"pictures must have shape (n, {PICTURE_SIDE}, {PICTURE_SIDE}), got {pictures.shape}")
    return pictures.astype(np.int64)


def _looker(layers: tuple[Layer, ...], number: int, pictures: Values, wrapping: bool) -> Looker:
    """Return what gives the scores of a further look of layer `number` at the pictures for its shift."""
    again = looked_again(layers, number)

    def look(shift: tuple[int, int]) -> Values:
        return trace_layers(tuple(layers[each] for each in again), move(pictures, *shift), wrapping)[-1]

    return look


def move(pictures: Values, down: int, right: int) -> Values:
    """Return pictures (n, 28, 28) moved by up to a pixel: pixels that leave are lost, and blank ones come in."""
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    return padded[:, 1 - down : 1 - down + PICTURE_SIDE, 1 - right : 1 - right + PICTURE_SIDE]


def _apply(layer: Layer, values: Values, wrapping: bool, look: Looker) -> Values:
    """Return a layer's output from what it takes; look: gives the scores of a further look for its shift."""
    match layer:
        case PatchSum():
            total = layer.bias + _row_sums(layer.table, patch_patterns(layer, values))
        case PatchConv(window=window, table=table):
            return np.asarray(table[_window_patterns(cut(values, window))], np.int64)
        case Pool():
            return pool(values)
        case Codebook(code=code):
            return np.asarray(code[(values[..., :8] << np.arange(8)).sum(axis=3)][..., None], np.int64)
        case CodeSum():
            total = layer.bias + _row_sums(layer.table, values.reshape(len(values), -1))
        case Conv():
            total = layer.bias + _products(windows(values, layer.stride), layer.weight.reshape(-1, len(layer.bias)))
        case Dense():
            total = layer.bias + _products(values.reshape(len(values), -1), layer.weight)
        case Looks(shifts=shifts):
            return sum(map(look, shifts), values)
        case Requant(shift=shift, levels=levels):
            return np.asarray(np.clip((values >> shift) + 1, 0, levels))
        case Steps(thresholds=thresholds):
            return np.asarray(sum((values >= heights for heights in thresholds), np.zeros((), np.int64)))
        case Exit(gap=gap):
            ordered = np.sort(values, axis=1)
            return np.asarray(ordered[:, -1:] - ordered[:, -2:-1] >= gap, np.int64)
        case ArgMax():
            return np.asarray(values.argmax(axis=1)[:, None])
        case _:
            assert_never(layer)
    return wrap(total, layer.sum_bits) if wrapping else total


def _products(values: Values, weight: NDArray[np.int32]) -> Values:
    """Return values (..., inputs) times weight (inputs, units): doubles hold integers below 2**53, and BLAS is fast on them."""
    return np.asarray(values.astype(np.float64) @ weight.astype(np.float64)).astype(np.int64)


def _row_sums(table: NDArray[np.int32], picks: Values) -> Values:
    """Return the sums of the rows of table (places, choices, units) that picks (n, places) pick, (n, units)."""
    total = table[:, 0].sum(axis=0, dtype=np.int64)  # where every pick is 0
    for choice in range(1, table.shape[1]):
        total = total + _products(picks == choice, table[:, choice] - table[:, 0])
    return np.asarray(np.broadcast_to(total, (len(picks), table.shape[2])))


def patch_patterns(layer: PatchSum, pictures: Values) -> Values:
    """Return the pattern of each patch, (n, patches)."""
    high, wide = layer.patch_rows, layer.patch_cols
    seen = cut(pictures, layer.window)
    pixels = seen.reshape(len(seen), layer.window.rows // high, high, layer.window.cols // wide, wide)
    weights = 1 << np.arange(high * wide).reshape(1, 1, high, 1, wide)
    return np.asarray((pixels * weights).sum(axis=(2, 4)).reshape(len(seen), -1))


def _window_patterns(seen: Values) -> Values:
    """Return the 3 x 3 pattern at each place of pictures (n, rows, cols), (n, rows - 2, cols - 2)."""
    return np.asarray((windows(seen[..., None]) << np.arange(PATCH_SIDE**2)).sum(axis=3))


def cut(pictures: Values, window: Window) -> Values:
    """Return the window's part of pictures (n, 28, 28)."""
    return pictures[:, window.top : window.top + window.rows, window.left : window.left + window.cols]
