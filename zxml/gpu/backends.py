"""The four ways to train a two-layer net on a device, and which of them suits a device and a net."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zxml.errors import DeviceError
from zxml.gpu.device import GROUP, is_cpu
from zxml.gpu.net import FloatSpec, Net, net_of
from zxml.gpu.persistent import PersistentStep, why_not_persistent
from zxml.gpu.population import PopulationStep, why_not_population
from zxml.gpu.step import TrainingStep
from zxml.spec import ModelSpec

Spec = ModelSpec | FloatSpec
Step = TrainingStep | PersistentStep | PopulationStep


@dataclass(frozen=True)
class Backend:
    """One way to train: its name, what it is, and why it may not run a net on a device (None: it may)."""

    name: str
    about: str
    why_not: Callable[[Any, Net], str | None]


@dataclass(frozen=True)
class Choice:
    """The back end that is used, and the reason if it is not the first that was thought of."""

    name: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.reason})" if self.reason else self.name


def why_not_tiles(device: Any, net: Net) -> str | None:
    """Tiles run everywhere."""
    return None


def why_not_groups(device: Any, net: Net) -> str | None:
    """Return why groups cannot run a net on a device, or None."""
    if device.max_work_group_size < GROUP:
        return f"its groups have at most {device.max_work_group_size} work-items, and {GROUP} are wanted"
    if net.units > GROUP:
        return f"its groups take at most {GROUP} units, got {net.units}"
    return None


BACKENDS = (
    Backend("tiles", "a work-item a tile, in vectors of 16, for CPUs; two launches a step", why_not_tiles),
    Backend("groups", "a work-group a sample or a row of weights, for GPUs; two launches a step", why_not_groups),
    Backend("persistent", "a work-group a hidden unit, many steps a launch, for GPUs", why_not_persistent),
    Backend("population", "a work-group a net, many nets at once, for GPUs", why_not_population),
)


def choose_backend(device: Any, specs: Sequence[Spec], wanted: str | None = None) -> Choice:
    """Return the back end for nets of specs on a device: at once if there are several, else or if that fails one after another.

    wanted: a name that overrides the choice. Raises DeviceError if the wanted one cannot run the nets on the device.
    """
    widest = max((net_of(spec) for spec in specs), key=lambda net: net.units)
    if wanted:
        reason = find_backend(wanted).why_not(device, widest)
        if reason:
            raise DeviceError(f"--backend {wanted}: {reason}; leave it out, or use --backend tiles")
        return Choice(wanted)
    if is_cpu(device):
        return Choice("tiles")
    reasons: list[str] = []
    for name in ("population",) * (len(specs) > 1) + ("persistent", "groups"):
        reason = find_backend(name).why_not(device, widest)
        if reason is None:
            return Choice(name, "; ".join(reasons))
        reasons.append(f"not {name}: {reason}")
    return Choice("tiles", "; ".join(reasons))


def find_backend(name: str) -> Backend:
    """Return the back end of a name."""
    return next(backend for backend in BACKENDS if backend.name == name)


def make_step(
    choice: Choice,
    queue: Any,
    specs: Sequence[Any],
    pictures: Any,
    labels: NDArray[np.uint8],
    max_steps: int,
    greys: Any = None,
) -> Step:
    """Return the step of a back end for nets of specs.

    pictures: a buffer of (n, rows) uint32; greys: of (n, pixels) bytes, where the specs are grey. Raises DeviceError if the
    device cannot run the back end.
    """
    seen = pictures if greys is None else greys
    match choice.name:
        case "population":
            return PopulationStep(queue, specs, seen, labels, max_steps)
        case "persistent":
            return PersistentStep(queue, specs[0], seen, labels, max_steps)
        case shape:
            return TrainingStep(queue, specs[0], pictures, labels, max_steps, shape, greys)
