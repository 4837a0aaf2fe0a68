"""A model's layers as the bytes of an .npz file: the arrays, and the rest as JSON in the entry `model`."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zxml.ir.layers import Layer, Window

FORMAT = 1


def encode(name: str, seed: int, layers: tuple[Layer, ...]) -> bytes:
    """Return the bytes of a model's .npz file; the same model gives the same bytes."""
    header: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for layer in layers:
        entry: dict[str, Any] = {"kind": type(layer).__name__}
        for field in fields(layer):
            value = getattr(layer, field.name)
            if isinstance(value, np.ndarray):
                arrays[f"{layer.name}.{field.name}"] = value.astype(np.int32)
            else:
                entry[field.name] = vars(value) if isinstance(value, Window) else value
        header.append(entry)
    text = json.dumps({"format": FORMAT, "name": name, "seed": seed, "layers": header}, sort_keys=True)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, model=np.frombuffer(text.encode(), np.uint8), **arrays)
    return buffer.getvalue()
