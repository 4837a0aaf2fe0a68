"""The integer model: the contract between quantisation, the reference and the Z80 code.

A model is a tuple of layers from a closed union. What a layer means is written in its docstring and computed by
`zxml.reference`; every consumer matches on the union and ends in `assert_never`, so that a new kind of layer shows each place
that has to learn it.

Arithmetic is exact and integer. A sum of `sum_bits` bits is two's complement and wraps: `wrap(s, bits)` is the
representative of s modulo 2**bits in [-2**(bits-1), 2**(bits-1) - 1].
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from zxml.errors import SpecError
from zxml.files import write_whole

IntArray = NDArray[np.int32]

PICTURE_SIDE = 28  # a picture is 28 x 28 bits
SUM_BITS = (8, 16)


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
class Window:
    """The part of the picture a layer looks at: `rows` x `cols` pixels from (top, left)."""

    top: int
    left: int
    rows: int
    cols: int


@dataclass(frozen=True, eq=False)
class PatchSum:
    """Learned rows, one for each pattern of each patch of the picture, summed.

    out[u] = wrap(bias[u] + sum over patches p of table[p, pattern(p), u], sum_bits)

    The window is cut into patches of patch_rows x patch_cols pixels, numbered in raster order; a patch's pattern is its pixels
    in raster order, the first in bit 0. With 1 x 1 patches and table[:, 0] = 0 this is a dense layer on pixels.

    table: (patches, patterns, units); bias: (units,).
    """

    name: str
    window: Window
    patch_rows: int
    patch_cols: int
    sum_bits: int
    table: IntArray
    bias: IntArray


@dataclass(frozen=True, eq=False)
class Requant:
    """Few-level rectifier: a unit whose sum is negative is off, the others have a level.

    out[u] = clip(floor(in[u] / 2**shift) + 1, 0, levels)
    """

    name: str
    shift: int
    levels: int


@dataclass(frozen=True, eq=False)
class Dense:
    """Weighted sums of small activations.

    out[u] = wrap(bias[u] + sum over inputs i of weight[i, u] * in[i], sum_bits)

    weight: (inputs, units); bias: (units,).
    """

    name: str
    sum_bits: int
    weight: IntArray
    bias: IntArray


@dataclass(frozen=True, eq=False)
class ArgMax:
    """The index of the greatest score; of equal scores the first wins."""

    name: str


Layer = PatchSum | Requant | Dense | ArgMax


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


@dataclass(frozen=True, eq=False)
class IntegerModel:
    """A network in integers: a name, the seed it was trained from, and its layers in order."""

    name: str
    seed: int
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        check(self)

    def ranges(self) -> list[LayerRange]:
        """Return each layer's proved range, in order."""
        found: list[LayerRange] = []
        lows, highs = np.zeros(1, np.int64), np.ones(1, np.int64)  # (units,) each unit's own range
        for layer in self.layers:
            lows, highs, row = _layer_range(layer, lows, highs)
            found.append(row)
        return found

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
        return hashlib.sha256(to_bytes(self)).hexdigest()


def nbytes(layer: Layer) -> int:
    """Return the least bytes that hold the layer's integers, at whole bits an entry."""
    match layer:
        case PatchSum(table=weight, bias=bias) | Dense(weight=weight, bias=bias):
            return -(-(_bits(weight) * weight.size + _bits(bias) * bias.size) // 8)
        case Requant() | ArgMax():
            return 0
        case _:
            assert_never(layer)


def wrap(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Return values modulo 2**bits as two's complement numbers."""
    half = 1 << (bits - 1)
    return np.asarray((values + half) % (2 * half) - half, np.int64)


def check(model: IntegerModel) -> None:
    """Raise SpecError unless the layers' shapes and numbers fit together."""
    units: int | None = None
    for layer in model.layers:
        if (layer is model.layers[0]) != isinstance(layer, PatchSum):
            raise SpecError(f"{model.name}: layer {layer.name}: a model starts with one PatchSum, got {type(layer).__name__}")
        wanted = _expected_shapes(layer, units)
        for field, shape in wanted.items():
            got = getattr(layer, field).shape
            if got != shape:
                raise SpecError(f"{model.name}: layer {layer.name}: {field} must have shape {shape}, got {got}")
        if "sum_bits" in {f.name for f in fields(layer)} and layer.sum_bits not in SUM_BITS:  # type: ignore[union-attr]
            raise SpecError(f"{model.name}: layer {layer.name}: sum_bits must be 8 or 16, got {layer.sum_bits}")  # type: ignore[union-attr]
        units = len(layer.bias) if isinstance(layer, PatchSum | Dense) else units
    if not model.layers or not isinstance(model.layers[-1], ArgMax):
        raise SpecError(f"{model.name}: the last layer must be ArgMax")


def save(model: IntegerModel, path: Path) -> None:
    """Write the model to an .npz file: the arrays, and the rest as JSON in the entry `model`."""
    write_whole(path, to_bytes(model))


def load(path: Path) -> IntegerModel:
    """Read a model that `save` wrote; raise SpecError if the file is missing, broken or of another kind."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return _from_arrays({name: arrays[name] for name in arrays.files})
    except FileNotFoundError:
        raise SpecError(f"{path}: no such model; train one with `python -m zxml.train mnist`") from None
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None
    except Exception as error:  # numpy and zipfile raise many kinds on a damaged file
        raise SpecError(f"{path}: not a whole zxml model ({error}); train it again or fetch a fresh copy") from error


def to_bytes(model: IntegerModel) -> bytes:
    """Return the bytes of the model's .npz file; the same model gives the same bytes."""
    header: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for layer in model.layers:
        entry: dict[str, Any] = {"kind": type(layer).__name__}
        for field in fields(layer):
            value = getattr(layer, field.name)
            if isinstance(value, np.ndarray):
                arrays[f"{layer.name}.{field.name}"] = value.astype(np.int32)
            else:
                entry[field.name] = vars(value) if isinstance(value, Window) else value
        header.append(entry)
    text = json.dumps({"format": 1, "name": model.name, "seed": model.seed, "layers": header}, sort_keys=True)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, model=np.frombuffer(text.encode(), np.uint8), **arrays)
    return buffer.getvalue()


def _from_arrays(arrays: dict[str, NDArray[Any]]) -> IntegerModel:
    header = json.loads(arrays["model"].tobytes())
    if header["format"] != 1:
        raise SpecError(f"model format must be 1, got {header['format']}; this file is from a newer zxml")
    kinds = {kind.__name__: kind for kind in (PatchSum, Requant, Dense, ArgMax)}
    layers = []
    for entry in header["layers"]:
        values = {key: value for key, value in entry.items() if key != "kind"}
        if "window" in values:
            values["window"] = Window(**values["window"])
        prefix = values["name"] + "."
        values |= {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        layers.append(kinds[entry["kind"]](**values))
    return IntegerModel(header["name"], header["seed"], tuple(layers))


def _expected_shapes(layer: Layer, units: int | None) -> dict[str, tuple[int, ...]]:
    match layer:
        case PatchSum(window=window, patch_rows=high, patch_cols=wide):
            patches = (window.rows // high) * (window.cols // wide)
            return {"table": (patches, 1 << (high * wide), len(layer.bias)), "bias": (len(layer.bias),)}
        case Dense():
            return {"weight": (units or 0, len(layer.bias)), "bias": (len(layer.bias),)}
        case Requant() | ArgMax():
            return {}
        case _:
            assert_never(layer)


def _layer_range(
    layer: Layer, lows: NDArray[np.int64], highs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], LayerRange]:
    """Return the units' lowest and highest values after the layer, and the row that tells of it."""
    match layer:
        case PatchSum(table=table, bias=bias, sum_bits=bits):
            low = bias + table.min(axis=1).astype(np.int64).sum(axis=0)
            high = bias + table.max(axis=1).astype(np.int64).sum(axis=0)
            return _sum_range(layer.name, low, high, bits)
        case Dense(weight=weight, bias=bias, sum_bits=bits):
            ends = np.stack([weight * lows[:, None], weight * highs[:, None]])  # (2, inputs, units)
            return _sum_range(layer.name, bias + ends.min(axis=0).sum(axis=0), bias + ends.max(axis=0).sum(axis=0), bits)
        case Requant(shift=shift, levels=levels):
            low, high = ((v >> shift) + 1 for v in (lows, highs))
            low, high = low.clip(0, levels), high.clip(0, levels)
            return low, high, LayerRange(layer.name, low.shape, None, Range(int(low.min()), int(high.max())), False)
        case ArgMax():
            one = np.zeros(1, np.int64)
            return one, one + len(lows) - 1, LayerRange(layer.name, (1,), None, Range(0, len(lows) - 1), False)
        case _:
            assert_never(layer)


def _sum_range(
    name: str, low: NDArray[np.int64], high: NDArray[np.int64], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], LayerRange]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    over = (low < least) | (high > most)  # (units,) units that some input may wrap
    exact = Range(int(low.min()), int(high.max()))
    low, high = np.where(over, least, low), np.where(over, most, high)
    return low, high, LayerRange(name, low.shape, exact, Range(int(low.min()), int(high.max())), bool(over.any()))


def _bits(values: IntArray) -> int:
    """Return the bits that a two's complement or, if nothing is negative, an unsigned entry needs."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return max(1, (max(high, -1 - low).bit_length()) + (low < 0))
