"""Other engines that train the same nets on the same pictures, to measure ours against, where they are installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zxml.gpu.nets.shape import NetShape
from zxml.peers.peer import BenchData, Report, Score

__all__ = ["PEERS", "BenchData", "Peer", "Report", "Score"]

Train = Callable[[NetShape, BenchData, int, int, bool, Report], Score]  # net, data, epochs, seed, on a GPU, report


@dataclass(frozen=True)
class Peer:
    """A way to train: its name, the package it needs, the module and function here, the devices it runs on.

    many: whether it trains many models at once, their number its function's first argument; filters: whether it can convolve.
    """

    name: str
    package: str
    module: str
    function: str = "train"
    kinds: tuple[str, ...] = ("cpu", "gpu")
    many: bool = False
    filters: bool = True

    def reason(self, shape: NetShape, kind: str) -> str:
        """Return why it does not train a net on a kind of device, or nothing."""
        if kind not in self.kinds:
            return f"does not run on a {kind}"
        if shape.filters and not self.filters:
            return "has no convolutions"
        return "" if importlib.util.find_spec(self.package) else f"{self.package} is not installed"

    def load(self) -> Any:
        """Return its function; a `Train`, or with many one whose first argument is how many."""
        return getattr(importlib.import_module(f"zxml.peers.{self.module}"), self.function)

    def version(self) -> str:
        """Return its package and the version that is installed."""
        distribution = {"sklearn": "scikit-learn"}.get(self.package, self.package)
        return f"{distribution} {importlib.metadata.version(distribution)}"


PEERS = (
    Peer("pytorch", "torch", "torch_peer"),
    Peer("pytorch-graph", "torch", "torch_peer", "train_graph", kinds=("gpu",)),
    Peer("jax-scan", "jax", "jax_peer"),
    Peer("jax-vmap", "jax", "jax_peer", "train_many", kinds=("gpu",), many=True),
    Peer("numpy", "numpy", "numpy_peer", kinds=("cpu",)),
    Peer("scikit-learn", "sklearn", "sklearn_peer", kinds=("cpu",), filters=False),
)
