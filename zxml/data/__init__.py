"""The pictures a net learns from: the datasets by name, their loading, and the format the devices train on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from zxml.data import mnist
from zxml.data.dataset import Dataset, pack_rows
from zxml.errors import DataError

__all__ = ["DATASETS", "Dataset", "load", "pack_rows"]

DATASETS: dict[str, Callable[[Path | None], Dataset]] = {"mnist": mnist.load}


def load(task: str, folder: Path | None = None) -> Dataset:
    """Return a task's dataset, from the package or from a folder of four IDX files.

    Raises DataError for a task nobody knows, and for files that are missing, truncated or altered.
    """
    if task not in DATASETS:
        raise DataError(f"unknown task {task!r}; known: {', '.join(DATASETS)}")
    return DATASETS[task](folder)
