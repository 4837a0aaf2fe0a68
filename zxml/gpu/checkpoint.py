"""A training's epochs, and its state on disk, so that a killed process continues where it was, to the same bits."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from zxml.data import Dataset
from zxml.files import write_whole
from zxml.spec import ModelSpec

CHECKPOINT_SECONDS = 10
Arrays = dict[str, NDArray[Any]]
Progress = TypeVar("Progress")
Progress_co = TypeVar("Progress_co", covariant=True)


class Training(Protocol[Progress_co]):
    """A training under way; epochs count from 1."""

    epoch: int  # the last one done

    def learn(self, epoch: int) -> None:
        """Run an epoch."""

    def progress(self) -> Progress_co:
        """Return where training stands."""

    def stop(self) -> None:
        """End early, after an interruption anywhere."""

    def state(self) -> Arrays:
        """Return all that the rest of the training depends on."""

    def restore(self, arrays: Arrays | None) -> None:
        """Go on from what `state` returned, if anything."""


def run_epochs(
    training: Training[Progress], epochs: int, report: Callable[[Progress], None], path: Path | None, word: str
) -> bool:
    """Run the epochs that are left, and return whether Ctrl-C ended them early.

    report: called after each epoch; path: a file that keeps the state every few seconds, which a killed training of the same
    fingerprint continues from; it is removed at the end.
    """
    if path:
        training.restore(load_checkpoint(path, word))
    saved, stopped = time.monotonic(), False
    try:
        for epoch in range(training.epoch + 1, epochs + 1):
            training.learn(epoch)
            if path and time.monotonic() - saved > CHECKPOINT_SECONDS:
                save_checkpoint(path, training.state(), word)
                saved = time.monotonic()
            report(training.progress())
    except KeyboardInterrupt:
        stopped = True
        training.stop()
    if path:
        path.unlink(missing_ok=True)
    return stopped


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
