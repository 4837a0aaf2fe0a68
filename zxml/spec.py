"""A model spec: the net, its arithmetic and its training recipe, read from TOML.

Every key has a default in the dataclass that holds it; an unknown key is an error that lists the known ones.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
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
class ConvSpec:
    """A convolution of 3 x 3 on features, its levels and, if pool, the greatest of 2 x 2 places.

    weight_bits: 2 (ternary) to 4; weight_step: what one unit of a weight is worth in real numbers, for the optimiser's pace;
    levels: the greatest value that comes out, 1 or 2.
    """

    units: int = 32
    stride: int = 1
    weight_bits: int = 4
    weight_step: float = 0.0625
    pool: bool = False
    levels: int = 1


@dataclass(frozen=True)
class TowerSpec:
    """A net on small features, learned 3 x 3 tables and the greatest of 2 x 2; then codes and their scores, or what follows.

    window: the part of the picture; filters: a multiple of 8 up to 32, or up to 16 of two levels; levels: the greatest value of
    a feature; spare: what a feature adds to the loss a level; codes: how many a place's 8 features can become, each of which is
    an input then (0: features are); convs, in order, and hidden, a dense layer of few levels (0 units: there is none);
    weight_bits, weight_step: of the scores' weights; dropout: the part of what they see that a step of training does without.
    shared: the codes are those of the net before, which stay as they are; looks: shifts [down, right] of up to a pixel, for
    further looks with the same net where it doubts; more_looks: others where it doubts still. focus: the part of the training
    pictures which the net before doubts most, and which an epoch takes, with as many others (0: an epoch takes all). seed,
    epochs: its own, instead of the model's (0).
    """

    window: InputSpec = field(default_factory=InputSpec)
    filters: int = 8
    levels: int = 1
    spare: float = 0.00003
    codes: int = 0
    shared: bool = False
    convs: tuple[ConvSpec, ...] = ()
    hidden: HiddenSpec = field(default_factory=lambda: HiddenSpec(units=0))
    weight_bits: int = 6
    weight_step: float = 0.125
    dropout: float = 0.0
    looks: tuple[tuple[int, int], ...] = ()
    more_looks: tuple[tuple[int, int], ...] = ()
    focus: float = 0.0
    seed: int = 0
    epochs: int = 0

    @property
    def rounds(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The further looks, in rounds: before each a picture may leave."""
        return tuple(shifts for shifts in (self.looks, self.more_looks) if shifts)


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


MACHINES = ("48K", "128K")


@dataclass(frozen=True)
class ModelSpec:
    """One net: what it is called, what it learns, its seed, its budget and its parts.

    A net has an input, a hidden layer and an output; or it is a cascade of towers, of which each but the last may answer.
    second_looks: for each exit, in order, the part of the validation pictures that go on: a tower with looks has an exit before
    these, and each tower but the last has one before the next. budget_tstates: what a classification may take on average;
    tests hold the shipped nets to it. machine: one of MACHINES, for whose memory the net is made.
    """

    name: str = "mnist"
    task: str = "mnist"
    seed: int = 1
    machine: str = "48K"
    budget_tstates: int = 69_888
    input: InputSpec = field(default_factory=InputSpec)
    hidden: HiddenSpec = field(default_factory=HiddenSpec)
    output: OutputSpec = field(default_factory=OutputSpec)
    distort: DistortSpec = field(default_factory=DistortSpec)
    training: TrainingSpec = field(default_factory=TrainingSpec)
    towers: tuple[TowerSpec, ...] = ()
    second_looks: tuple[float, ...] = ()

    @property
    def epochs(self) -> int:
        """Passes over the training pictures in all: a cascade's nets are trained one after another."""
        return sum(tower.epochs or self.training.epochs for tower in self.towers) or self.training.epochs

    def of_tower(self, number: int) -> ModelSpec:
        """Return the spec with the seed and the epochs that a tower is trained with."""
        tower = self.towers[number]
        training = replace(self.training, epochs=tower.epochs or self.training.epochs)
        return replace(self, seed=tower.seed or self.seed, training=training)


LISTS: dict[str, type[Any]] = {
    **{"towers": TowerSpec, "convs": ConvSpec},
    **{"second_looks": float, "looks": tuple, "more_looks": tuple},
}
WANTED = {float: "a number", tuple: "a list of whole numbers"}  # else a table


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
        elif isinstance(value, list) and key in LISTS:
            values[key] = tuple(_build_entry(LISTS[key], entry, f"{where}{key}[{i}]") for i, entry in enumerate(value))
        elif type(value) is type(default) or (isinstance(default, float) and type(value) is int):
            values[key] = type(default)(value)
        else:
            raise SpecError(f"{where}{key} must be {type(default).__name__}, got {value!r}")
    return kind(**values)


def _build_entry(kind: type[Any], entry: Any, where: str) -> Any:
    """Return an entry of a list: a dataclass from a table, a number, or a tuple of whole numbers."""
    if isinstance(entry, dict) and kind not in WANTED:
        return _build(kind, entry, f"{where}.")
    if kind is float and type(entry) in (int, float):
        return float(entry)
    if kind is tuple and isinstance(entry, list) and all(type(number) is int for number in entry):
        return tuple(entry)
    raise SpecError(f"{where} must be {WANTED.get(kind, 'a table')}, got {entry!r}")


def _check(spec: ModelSpec) -> None:
    """Raise SpecError for a value that no net can have."""
    window, hidden, output, training = spec.input, spec.hidden, spec.output, spec.training
    inside = window.top >= 0 and window.left >= 0 and window.rows >= 1 and window.cols >= 1
    inside &= window.top + window.rows <= PICTURE_SIDE and window.left + window.cols <= PICTURE_SIDE
    rules = {
        f"input: the window must lie in the {PICTURE_SIDE} x {PICTURE_SIDE} picture, got {window}": inside,
        **_hidden_rules("hidden", hidden),
        f"output.units must be 2 to 255, got {output.units}": 2 <= output.units <= 255,
        f"output.weight_bits must be 2 to 8, got {output.weight_bits}": 2 <= output.weight_bits <= 8,
        f"output.sum_bits must be 8 or 16, got {output.sum_bits}": output.sum_bits in (8, 16),
        f"machine must be {' or '.join(MACHINES)}, got {spec.machine!r}": spec.machine in MACHINES,
        f"training.epochs must be 1 or more, got {training.epochs}": training.epochs >= 1,
        f"training.batch must be a multiple of 32 from 32 to 1024, got {training.batch}": training.batch in range(32, 1025, 32),
        f"training.optimiser must be adam or sgd, got {training.optimiser!r}": training.optimiser in ("adam", "sgd"),
    }
    for number, tower in enumerate(spec.towers):
        rules |= _tower_rules(f"towers[{number}]", tower)
        before = spec.towers[number - 1] if number else None
        rules |= _shared_rules(f"towers[{number}]", tower, before) | _focus_rules(f"towers[{number}]", tower, before)
    rules |= _share_rules(spec)
    for message, kept in rules.items():
        if not kept:
            raise SpecError(message)


def _share_rules(spec: ModelSpec) -> dict[str, bool]:
    """Return what must hold of the parts of the pictures that go on."""
    exits, shares = max(0, len(spec.towers) - 1) + sum(len(tower.rounds) for tower in spec.towers), spec.second_looks
    each = "one before a tower's further looks, one before more, and one a tower but the last"
    message = f"second_looks must be {exits} numbers from 0 to 1, {each}, got {[*shares]}"
    return {message: len(shares) == exits and all(0 <= share <= 1 for share in shares)}


def _hidden_rules(where: str, hidden: HiddenSpec) -> dict[str, bool]:
    """Return what must hold of a hidden layer."""
    return {
        f"{where}.units must be 1 or more, got {hidden.units}": hidden.units >= 1,
        f"{where}.weight_bits must be 2 to 8, got {hidden.weight_bits}": 2 <= hidden.weight_bits <= 8,
        f"{where}.sum_bits must be 8 or 16, got {hidden.sum_bits}": hidden.sum_bits in (8, 16),
        f"{where}.levels must be 1 to 255, got {hidden.levels}": 1 <= hidden.levels <= 255,
        f"{where}.shift must be 0 to 15, got {hidden.shift}": 0 <= hidden.shift <= 15,
    }


def _tower_rules(where: str, tower: TowerSpec) -> dict[str, bool]:
    """Return what must hold of a tower: a message, and whether it does."""
    window = tower.window
    inside = window.top >= 0 and window.left >= 0 and window.top + window.rows <= PICTURE_SIDE
    inside &= window.left + window.cols <= PICTURE_SIDE
    units, bits = [conv.units for conv in tower.convs], [conv.weight_bits for conv in tower.convs]
    return {
        f"{where}: the window must lie in the {PICTURE_SIDE} x {PICTURE_SIDE} picture, got {window}": inside,
        f"{where}: its convolutions leave a map of no size": _least_side(tower) >= 1,
        f"{where}.filters must be 8, 16, 24 or 32, got {tower.filters}": tower.filters in (8, 16, 24, 32),
        f"{where}.levels must be 1, or 2 with at most 16 filters, got {tower.levels}": tower.levels == 1
        or (tower.levels == 2 and tower.filters <= 16),
        f"{where}.convs: levels must be 1 or 2, got {[conv.levels for conv in tower.convs]}": all(
            conv.levels in (1, 2) for conv in tower.convs
        ),
        f"{where}.codes must be 0 or 2 to 15, got {tower.codes}": tower.codes == 0 or 2 <= tower.codes <= 15,
        f"{where}: with codes there are 8 filters of one level and no convs": not tower.codes
        or ((tower.filters, tower.levels) == (8, 1) and not tower.convs),
        f"{where}: without codes it must have convs or hidden units": bool(tower.codes or tower.convs or tower.hidden.units),
        f"{where}.convs: units must be multiples of 8 up to 96, got {units}": all(n in range(8, 97, 8) for n in units),
        f"{where}.convs: weight_bits must be 2 to 4, got {bits}": all(2 <= n <= 4 for n in bits),
        f"{where}.convs: stride must be 1 or 2": all(conv.stride in (1, 2) for conv in tower.convs),
        f"{where}.weight_bits must be 2 to 8, got {tower.weight_bits}": 2 <= tower.weight_bits <= 8,
        f"{where}.seed must be 0 or more, got {tower.seed}": tower.seed >= 0,
        f"{where}.epochs must be 0 or more, got {tower.epochs}": tower.epochs >= 0,
        f"{where}.dropout must be 0 or more and below 1, got {tower.dropout}": 0 <= tower.dropout < 1,
        f"{where}.looks must be pairs [down, right] of -1, 0 or 1, got {[*tower.looks, *tower.more_looks]}": all(
            len(shift) == 2 and {*shift} <= {-1, 0, 1} for shift in (*tower.looks, *tower.more_looks)
        ),
        f"{where}.more_looks come after looks, and there are none": bool(tower.looks or not tower.more_looks),
        **(_hidden_rules(f"{where}.hidden", tower.hidden) if tower.hidden.units else {}),
    }


def _shared_rules(where: str, tower: TowerSpec, before: TowerSpec | None) -> dict[str, bool]:
    """Return what must hold of a tower that takes the codes of the one before."""
    if not tower.shared:
        return {}
    same = before is not None and all(
        getattr(tower, name) == getattr(before, name) for name in ("window", "filters", "levels", "codes")
    )
    return {
        f"{where}.shared: the tower before must have the same window, filters, levels and codes": same,
        f"{where}.shared: the tower before must not look again, since its codes are then another look's": before is None
        or not before.rounds,
        f"{where}.shared: it must have codes and hidden units": bool(tower.codes and tower.hidden.units),
    }


def _focus_rules(where: str, tower: TowerSpec, before: TowerSpec | None) -> dict[str, bool]:
    """Return what must hold of a tower that learns from what the one before doubts."""
    return {
        f"{where}.focus must be 0 to 0.5, since as many other pictures are taken, got {tower.focus}": 0 <= tower.focus <= 0.5,
        f"{where}.focus: there must be a tower before, without dropout": not tower.focus
        or (before is not None and not before.dropout),
    }


def _least_side(tower: TowerSpec) -> int:
    """Return the least side of the maps in a tower, 0 or less if one has no size."""
    side = -(-(min(tower.window.rows, tower.window.cols) - 2) // 2)
    for conv in tower.convs:
        side = (side - 3) // conv.stride + 1
        side = -(-side // 2) if conv.pool else side
    return side
