"""Models as files: what `encode` makes, written whole and read with care."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from zxml.errors import SpecError
from zxml.files import write_whole
from zxml.ir.encode import FORMAT
from zxml.ir.layers import Layer, Window
from zxml.ir.model import IntegerModel


def save(model: IntegerModel, path: Path) -> None:
    """Write the model to an .npz file."""
    write_whole(path, model.to_bytes())


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


def _from_arrays(arrays: dict[str, NDArray[Any]]) -> IntegerModel:
    header = json.loads(arrays["model"].tobytes())
    if header["format"] != FORMAT:
        raise SpecError(f"model format must be {FORMAT}, got {header['format']}; this file is from a newer zxml")
    kinds = {kind.__name__: kind for kind in get_args(Layer)}
    layers = []
    for entry in header["layers"]:
        values = {key: value for key, value in entry.items() if key != "kind"}
        if "window" in values:
            values["window"] = Window(**values["window"])
        if "shifts" in values:
            values["shifts"] = tuple((down, right) for down, right in values["shifts"])
        prefix = values["name"] + "."
        values |= {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        layers.append(kinds[entry["kind"]](**values))
    return IntegerModel(header["name"], header["seed"], tuple(layers))
