"""A model spec: the net, its arithmetic and its training recipe, read from TOML.

Every key has a default in the dataclass that holds it; an unknown key is an error that lists the known ones.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from zxml.errors import SpecError
from zxml.files import product_folder
from zxml.ir import PICTURE_SIDE


@dataclass(frozen=True)
class InputSpec:
    """The window of the 28 x 28 picture that the net looks at."""

    top: int = 4
    left: int = 4
    rows: int = 20
    cols: int = 20


@dataclass(frozen=True)
class HiddenSpec:
    """The first layer: weights on pixels, wrapping sums, few-level activations.

    weight_bits: two's complement without the lowest value, so 4 means [-7, 7]; weight_step: what one unit of a weight is worth
    in real numbers, which scales the learning rate; shift, levels: as in `zxml.ir.Requant`.
    """

    units: int = 58
    weight_bits: int = 4
    weight_step: float = 0.125
    sum_bits: int = 8
    shift: int = 3
    levels: int = 8


@dataclass(frozen=True)
class OutputSpec:
    """The last layer: one score a class."""

    units: int = 10
    weight_bits: int = 4
    weight_step: float = 0.25
    sum_bits: int = 16


@dataclass(frozen=True)
class DistortSpec:
    """How far training pictures are distorted; strengths are standard deviations unless said.

    shift in pixels (greatest), rotate in radians, scale and shear as fractions, warp in pixels (greatest),
    thickness as a fraction of the grey range (greatest); 0 everywhere leaves the pictures as they are.
    """

    shift: float = 1.0
    rotate: float = 0.09
    scale: float = 0.08
    shear: float = 0.09
    warp: float = 0.9
    thickness: float = 0.15


@dataclass(frozen=True)
class TrainingSpec:
    """The recipe: passes over the training pictures, and the optimiser's settings."""

    epochs: int = 800
    batch: int = 512
    optimiser: str = "adam"
    learning_rate: float = 0.005
    momentum: float = 0.9
    weight_decay: float = 0.0
    warmup: float = 0.03
    range_penalty: float = 1.0


@dataclass(frozen=True)
class ModelSpec:
    """One net: what it is called, what it learns, its seed, its budget and its parts."""

    name: str = "mnist"
    task: str = "mnist"
    seed: int = 1
    budget_tstates: int = 69_888
    input: InputSpec = field(default_factory=InputSpec)
    hidden: HiddenSpec = field(default_factory=HiddenSpec)
    output: OutputSpec = field(default_factory=OutputSpec)
    distort: DistortSpec = field(default_factory=DistortSpec)
    training: TrainingSpec = field(default_factory=TrainingSpec)


def default_spec_path(task: str) -> Path:
    """Return the spec that the product ships for a task."""
    return product_folder("models") / f"{task}.toml"


def read_spec(path: Path) -> ModelSpec:
    """Read a spec from a TOML file; raise SpecError if it is missing, broken or has a key nobody knows."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError(f"{path}: no such spec; the shipped ones lie in models/") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpecError(f"{path}: not a readable TOML file ({error})") from None
    try:
        spec: ModelSpec = _build(ModelSpec, table, "")
        _check(spec)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None
    return spec


def _build(kind: type[Any], table: dict[str, Any], where: str) -> Any:
    """Return the dataclass filled from the table; each value must have the type of its default."""
    known = {f.name: f for f in fields(kind)}
    values = {}
    for key, value in table.items():
        if key not in known:
            raise SpecError(f"unknown key {where}{key}; known here: {', '.join(known)}")
        default = getattr(kind(), key)
        if isinstance(value, dict) and hasattr(default, "__dataclass_fields__"):
            values[key] = _build(type(default), value, f"{where}{key}.")
        elif type(value) is type(default) or (isinstance(default, float) and type(value) is int):
            values[key] = type(default)(value)
        else:
            raise SpecError(f"{where}{key} must be {type(default).__name__}, got {value!r}")
    return kind(**values)


def _check(spec: ModelSpec) -> None:
    """Raise SpecError for a value that no net can have."""
    window, hidden, output, training = spec.input, spec.hidden, spec.output, spec.training
    inside = window.top >= 0 and window.left >= 0 and window.rows >= 1 and window.cols >= 1
    inside &= window.top + window.rows <= PICTURE_SIDE and window.left + window.cols <= PICTURE_SIDE
    rules = {
        f"input: the window must lie in the {PICTURE_SIDE} x {PICTURE_SIDE} picture, got {window}": inside,
        f"hidden.units must be 1 or more, got {hidden.units}": hidden.units >= 1,
        f"output.units must be 2 to 255, got {output.units}": 2 <= output.units <= 255,
        f"weight_bits must be 2 to 8, got {hidden.weight_bits} and {output.weight_bits}": all(
            2 <= bits <= 8 for bits in (hidden.weight_bits, output.weight_bits)
        ),
        f"sum_bits must be 8 or 16, got {hidden.sum_bits} and {output.sum_bits}": {hidden.sum_bits, output.sum_bits} <= {8, 16},
        f"hidden.levels must be 1 to 255, got {hidden.levels}": 1 <= hidden.levels <= 255,
        f"hidden.shift must be 0 to 15, got {hidden.shift}": 0 <= hidden.shift <= 15,
        f"training.epochs must be 1 or more, got {training.epochs}": training.epochs >= 1,
        f"training.batch must be a multiple of 32 from 32 to 1024, got {training.batch}": training.batch in range(32, 1025, 32),
        f"training.optimiser must be adam or sgd, got {training.optimiser!r}": training.optimiser in ("adam", "sgd"),
    }
    for message, kept in rules.items():
        if not kept:
            raise SpecError(message)
