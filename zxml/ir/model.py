"""A whole model: its layers in order, checked to fit together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

import numpy as np

from zxml.errors import SpecError
from zxml.ir.encode import encode
from zxml.ir.layers import (
    PATCH_SIDE,
    PICTURE_SIDE,
    SUM_BITS,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntArray,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
)
from zxml.ir.ranges import LayerRange, layer_ranges

PICTURE = "picture"  # what an Exit names to go on from the picture itself

CODE_BITS = 8  # of the index of a codebook

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class IntegerModel:
    """A network in integers: a name, the seed it was trained from, and its layers in order."""

    name: str
    seed: int
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        check(self)

    @property
    def classes(self) -> int:
        """How many scores there are."""
        return self.ranges()[-2].shape[0]

    @property
    def nets(self) -> int:
        """How many nets the model is a cascade of: after an Exit comes the next one, or further looks with the same."""
        return 1 + sum(
            isinstance(layer, Exit) and not isinstance(after, Exit | Looks) for layer, after in pairwise(self.layers[:-1])
        )

    def ranges(self) -> list[LayerRange]:
        """Return each layer's proved range, in order."""
        return layer_ranges(self.layers)

    def show(self) -> str:
        """Return a table with one row a layer: name, kind, shape, range, accumulator, bytes."""
        rows = [("layer", "kind", "shape", "sum", "out", "bits", "bytes")]
        for layer, row in zip(self.layers, self.ranges(), strict=True):
            bits = str(getattr(layer, "sum_bits", "-"))
            shape = " x ".join(map(str, row.shape))
            total = f"{row.exact}{' wraps' if row.wraps else ''}" if row.exact else "-"
            rows.append((row.name, type(layer).__name__, shape, total, str(row.out), bits, str(nbytes(layer))))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return f"{self.name}: {PICTURE_SIDE} x {PICTURE_SIDE} bits in, seed {self.seed}\n" + "\n".join(lines)

    def sha256(self) -> str:
        """Return the SHA-256 of the model's file, in hex."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the bytes of the model's file; the same model gives the same bytes."""
        return encode(self.name, self.seed, self.layers)


def sources(layers: tuple[Layer, ...]) -> Iterator[int]:
    """Yield for each layer the number of the layer whose output it takes; -1 is the picture."""
    numbers = {PICTURE: -1} | {layer.name: number for number, layer in enumerate(layers)}
    for number in range(len(layers)):
        before = layers[number - 1] if number else None
        yield numbers[before.source] if isinstance(before, Exit) else number - 1


def looked_again(layers: tuple[Layer, ...], number: int) -> tuple[int, ...]:
    """Return the numbers of the layers that each further look of layer `number` runs again; if that is no Looks, none.

    They are those from the picture to the scores of one look, each of which takes what the one before it puts out.
    """
    if not isinstance(layers[number], Looks):
        return ()
    taken = list(sources(layers[: number + 1]))
    again: tuple[int, ...] = ()
    at = taken[number]
    while at >= 0:
        again = again if isinstance(layers[at], Looks) else (at, *again)
        at = taken[at]
    return again


def nbytes(layer: Layer) -> int:
    """Return the least bytes that hold the layer's integers, at whole bits an entry."""
    match layer:
        case PatchSum(table=weight, bias=bias) | CodeSum(table=weight, bias=bias):
            return -(-(_bits(weight) * weight.size + _bits(bias) * bias.size) // 8)
        case Dense(weight=weight, bias=bias) | Conv(weight=weight, bias=bias):
            return -(-(_bits(weight) * weight.size + _bits(bias) * bias.size) // 8)
        case PatchConv(table=table) | Codebook(code=table) | Steps(thresholds=table):
            return -(-_bits(table) * table.size // 8)
        case Requant() | ArgMax() | Pool() | Exit() | Looks():
            return 0
        case _:
            assert_never(layer)


def check(model: IntegerModel) -> None:
    """Raise SpecError unless the layers' shapes and numbers fit together."""
    names = [layer.name for layer in model.layers]
    if not names or not isinstance(model.layers[-1], ArgMax):
        raise SpecError(f"{model.name}: the last layer must be ArgMax")
    if len({*names, PICTURE}) <= len(names):
        raise SpecError(
            f"{model.name}: each layer needs a name of its own, and none may be {PICTURE!r}; got {', '.join(names)}"
        )
    shapes: list[Shape] = []
    for number, layer in enumerate(model.layers):
        if isinstance(layer, Exit) and layer.source not in (PICTURE, *names[:number]):
            raise SpecError(
                f"{model.name}: layer {layer.name}: source must be an earlier layer or {PICTURE!r}, got {layer.source!r}"
            )
        source = list(sources(model.layers[: number + 1]))[number]
        shapes.append(_checked_shape(model.name, layer, shapes[source] if source >= 0 else None))
        if isinstance(layer, Looks):
            _check_looks(model, number, layer)


def _check_looks(model: IntegerModel, number: int, looks: Looks) -> None:
    """Raise SpecError unless a Looks stands where further looks can be had."""
    where, layers = f"{model.name}: layer {looks.name}", model.layers
    names, taken = [layer.name for layer in layers], list(sources(layers[: number + 1]))
    shifts, last = looks.shifts, taken[number]
    if not shifts or any(len(shift) != 2 or not {*shift} <= {-1, 0, 1} for shift in shifts):
        raise SpecError(f"{where}: shifts must be one or more pairs of -1, 0 or 1, got {shifts}")
    if any(not isinstance(layer, Exit) for layer in layers[last + 1 : number]):
        raise SpecError(f"{where}: adds to the newest scores; let the Exit before it name them, not {names[last]!r}, as source")
    run = looked_again(layers, number)
    if looks.again != names[run[0]]:
        raise SpecError(f"{where}: again must be the layer that takes the picture, {names[run[0]]!r}, got {looks.again!r}")
    if any(isinstance(layers[again], Exit) for again in run):
        raise SpecError(f"{where}: adds to scores, and {names[last]!r} has none")
    for layer in layers[number + 1 :]:
        if isinstance(layer, Exit) and layer.source in (names[again] for again in run):
            raise SpecError(
                f"{model.name}: layer {layer.name}: source {layer.source!r} is another in each look; name 'picture'"
            )


def _checked_shape(model: str, layer: Layer, taken: Shape | None) -> Shape:
    """Return the shape of what the layer puts out, from that of what it takes (None: the picture)."""
    where = f"{model}: layer {layer.name}"
    if (taken is None) != isinstance(layer, PatchSum | PatchConv):
        raise SpecError(
            f"{where}: a picture goes into a PatchSum or a PatchConv, and nothing else does; got {type(layer).__name__}"
        )
    wanted_map = isinstance(layer, Pool | Codebook | Conv | Steps)
    if wanted_map and (taken is None or len(taken) != 3):
        raise SpecError(f"{where}: {type(layer).__name__} takes a map of rows, columns and channels, got shape {taken}")
    if isinstance(layer, Looks) and taken is not None and len(taken) != 1:
        raise SpecError(f"{where}: Looks takes scores, got shape {taken}")
    if isinstance(layer, Codebook) and taken is not None and taken[2] < CODE_BITS:
        raise SpecError(f"{where}: Codebook takes {CODE_BITS} bits or more a place, got {taken[2]}")
    for field, shape in _wanted_shapes(layer, taken or ()).items():
        got = getattr(layer, field).shape
        if got != shape:
            raise SpecError(f"{where}: {field} must have shape {shape}, got {got}")
    if isinstance(layer, Steps) and (not len(layer.thresholds) or np.any(np.diff(layer.thresholds, axis=0) < 0)):
        raise SpecError(f"{where}: thresholds must be one or more a unit, ascending")
    bits = getattr(layer, "sum_bits", 8)
    if bits not in SUM_BITS:
        raise SpecError(f"{where}: sum_bits must be 8 or 16, got {bits}")
    return _shape_out(layer, taken or ())


def _wanted_shapes(layer: Layer, taken: Shape) -> dict[str, Shape]:
    size = 1
    for side in taken:
        size *= side
    match layer:
        case PatchSum(window=window, patch_rows=high, patch_cols=wide):
            patches = (window.rows // high) * (window.cols // wide)
            return {"table": (patches, 1 << (high * wide), len(layer.bias)), "bias": (len(layer.bias),)}
        case PatchConv():
            return {"table": (1 << PATCH_SIDE**2, layer.table.shape[-1])}
        case Codebook():
            return {"code": (1 << CODE_BITS,)}
        case CodeSum(table=table):
            return {"table": (size, *table.shape[1:]), "bias": (len(layer.bias),)}
        case Conv():
            return {"weight": (PATCH_SIDE, PATCH_SIDE, taken[2], len(layer.bias)), "bias": (len(layer.bias),)}
        case Dense():
            return {"weight": (size, len(layer.bias)), "bias": (len(layer.bias),)}
        case Steps(thresholds=thresholds):
            return {"thresholds": (len(thresholds), taken[2])}
        case Requant() | ArgMax() | Pool() | Exit() | Looks():
            return {}
        case _:
            assert_never(layer)


def _shape_out(layer: Layer, taken: Shape) -> Shape:
    edge = PATCH_SIDE - 1
    match layer:
        case PatchConv(window=window, table=table):
            return (window.rows - edge, window.cols - edge, table.shape[1])
        case Pool():
            return (-(-taken[0] // 2), -(-taken[1] // 2), taken[2])
        case Codebook():
            return (*taken[:2], 1)
        case Conv(bias=bias, stride=stride):
            return (*((side - PATCH_SIDE) // stride + 1 for side in taken[:2]), len(bias))
        case PatchSum(bias=bias) | CodeSum(bias=bias) | Dense(bias=bias):
            return (len(bias),)
        case Requant() | Steps() | Looks():
            return taken
        case Exit() | ArgMax():
            return (1,)
        case _:
            assert_never(layer)


def _bits(values: IntArray) -> int:
    """Return the bits that a two's complement or, if nothing is negative, an unsigned entry needs."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return max(1, (max(high, -1 - low).bit_length()) + (low < 0))
