"""A training's state on disk, so that a killed process continues where it was, to the same bits."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zxml.data import Dataset
from zxml.files import write_whole
from zxml.spec import ModelSpec

Arrays = dict[str, NDArray[Any]]


def fingerprint(spec: ModelSpec, dataset: Dataset, engine: str) -> str:
    """Return a word that is the same only for the same training: spec, pictures, labels, and the device with its kernels."""
    digest = hashlib.sha256(json.dumps([asdict(spec), engine], sort_keys=True).encode())
    for array in (dataset.train_images, dataset.train_labels, dataset.validation_images, dataset.validation_labels):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def save_checkpoint(path: Path, arrays: Arrays, word: str) -> None:
    """Write the arrays, whole or not at all, with the training's fingerprint."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, fingerprint=np.frombuffer(word.encode(), np.uint8), **arrays)
    write_whole(path, buffer.getvalue())


def load_checkpoint(path: Path, word: str) -> Arrays | None:
    """Return the arrays of this very training, or None if there are none: no file, another training's, or a broken one."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception:  # numpy and zipfile raise many kinds on a damaged file, and training can always start anew
        return None
    return arrays if arrays.pop("fingerprint", np.zeros(0, np.uint8)).tobytes() == word.encode() else None
