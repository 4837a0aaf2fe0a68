"""What an integer model means: NumPy, straight from the formulas in `zxml.ir`.

The Z80 code, the OpenCL code and the quantisation are all tested against this page.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from zxml.errors import SpecError
from zxml.ir import PICTURE_SIDE, ArgMax, Dense, IntegerModel, Layer, PatchSum, Requant, wrap

Pictures = NDArray[np.uint8]
Values = NDArray[np.int64]


def run(model: IntegerModel, pictures: Pictures) -> tuple[Values, Values]:
    """Return the scores (n, classes) and the digits (n,) of pictures (n, 28, 28) of zeros and ones."""
    outputs = trace(model, pictures)
    return list(outputs.values())[-2], list(outputs.values())[-1]


def trace(model: IntegerModel, pictures: Pictures, wrapping: bool = True) -> dict[str, Values]:
    """Return each layer's output, (n, units), by layer name; with wrapping=False sums keep all their bits.

    Raises SpecError unless pictures have shape (n, 28, 28).
    """
    if pictures.ndim != 3 or pictures.shape[1:] != (PICTURE_SIDE, PICTURE_SIDE):
        raise SpecError(f"pictures must have shape (n, {PICTURE_SIDE}, {PICTURE_SIDE}), got {pictures.shape}")
    values: Values = pictures.astype(np.int64)
    outputs = {}
    for layer in model.layers:
        values = _apply(layer, values, wrapping)
        outputs[layer.name] = values
    return outputs


def _apply(layer: Layer, values: Values, wrapping: bool) -> Values:
    match layer:
        case PatchSum():
            total = layer.bias + _patch_sums(layer, values)
        case Dense():
            # doubles hold every integer below 2**53 exactly, and BLAS is fast on them
            total = layer.bias + (values.astype(np.float64) @ layer.weight.astype(np.float64)).astype(np.int64)
        case Requant(shift=shift, levels=levels):
            return np.asarray(np.clip((values >> shift) + 1, 0, levels))
        case ArgMax():
            return np.asarray(values.argmax(axis=1))
        case _:
            assert_never(layer)
    return wrap(total, layer.sum_bits) if wrapping else total


def _patch_sums(layer: PatchSum, pictures: Values) -> Values:
    """Return the sum of the rows that each picture's patches pick, (n, units)."""
    patterns = patch_patterns(layer, pictures)
    total = layer.table[:, 0].sum(axis=0, dtype=np.int64)  # the rows of a blank picture
    for pattern in range(1, layer.table.shape[1]):
        rows = (layer.table[:, pattern] - layer.table[:, 0]).astype(np.float64)
        total = total + ((patterns == pattern).astype(np.float64) @ rows).astype(np.int64)
    return np.asarray(total)


def patch_patterns(layer: PatchSum, pictures: Values) -> Values:
    """Return the pattern of each patch, (n, patches)."""
    window, high, wide = layer.window, layer.patch_rows, layer.patch_cols
    cut = pictures[:, window.top : window.top + window.rows, window.left : window.left + window.cols]
    pixels = cut.reshape(len(cut), window.rows // high, high, window.cols // wide, wide)
    weights = 1 << np.arange(high * wide).reshape(1, 1, high, 1, wide)
    return np.asarray((pixels * weights).sum(axis=(2, 4)).reshape(len(cut), -1))
