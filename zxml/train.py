"""Train a net and write its integer model: python -m zxml.train TASK."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zxml import data
from zxml.console import guard
from zxml.errors import SpecError
from zxml.files import check_writable, product_folder
from zxml.gpu import device
from zxml.learn import command as learn_command
from zxml.learn.seed import command as seed_command
from zxml.spec import MACHINES, ModelSpec, default_spec_path, read_spec
from zxml.trials import train_best

if TYPE_CHECKING:
    from zxml.gpu.trainer import Trained

COUNT = "count"  # the task that a Spectrum can learn by itself
SEED = "seed"  # the net that a Spectrum of 2019 trained
EXAMPLE = """example:
  python -m zxml.train mnist
      trains the net of models/mnist.toml on the first OpenCL device and writes build/mnist/model.npz
  python -m zxml.train mnist --epochs 20 --seed 7 --out build/quick
      a rough net in seconds
  python -m zxml.train mnist --seeds 132
      the best of 132 nets, trained at once on a GPU, one after another on a CPU
  python -m zxml.train count --test
      what a Spectrum learns by itself, and how long it takes
  python -m zxml.train seed --test
      the net that a Spectrum trained in 2019, trained again with less arithmetic

Ctrl-C ends the training early and keeps the best net so far. A training that was killed continues when it is started again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 for an error of the user's, 2 for a wrong command line."""
    words = sys.argv[1:] if arguments is None else [*arguments]
    if words[:1] == [COUNT]:
        options = make_count_parser().parse_args(words[1:])
        return guard(lambda: learn_command.run(options))
    if words[:1] == [SEED]:
        options = make_seed_parser().parse_args(words[1:])
        return guard(lambda: seed_command.run(options))
    options = make_parser().parse_args(words)
    return guard(lambda: run(options))


def make_count_parser() -> argparse.ArgumentParser:
    """Return the parser of `python -m zxml.train count`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m zxml.train {COUNT}",
        description="Learn the digits as a Spectrum can by itself: count patterns, then correct, without one multiplication.",
    )
    learn_command.add_arguments(parser)
    return parser


def make_seed_parser() -> argparse.ArgumentParser:
    """Return the parser of `python -m zxml.train seed`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m zxml.train {SEED}",
        description="Train a convolutional net on 640 pictures of 8 x 8 pixels as a Spectrum can, in a choice of arithmetics.",
    )
    seed_command.add_arguments(parser)
    return parser


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m zxml.train",
        description="Train a small net on any OpenCL device, with the Z80's integer arithmetic inside the training.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "task", help=f"what to learn: {', '.join(known_tasks())}; or {COUNT} or {SEED}, which have options of their own"
    )
    parser.add_argument(
        "--spec", type=Path, nargs="+", metavar="FILE", help="the net and its recipe, or several (default: models/TASK.toml)"
    )
    parser.add_argument(
        "--device", metavar="D", help="OpenCL device: its number or a part of its name (default: the first GPU)"
    )
    parser.add_argument("--backend", choices=device.BACKENDS, help="how the device trains (default: as device and nets suit)")
    parser.add_argument("--seed", type=whole_number(0), metavar="N", help="other random numbers than the spec's seed gives")
    parser.add_argument(
        "--seeds", type=whole_number(1), default=1, metavar="N", help="train so many seeds, on a GPU at once, and keep the best"
    )
    parser.add_argument("--epochs", type=whole_number(1), metavar="N", help="passes over the pictures, instead of the spec's")
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="a folder of four IDX files, instead of the pictures inside"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="where model.npz goes (default: build/NAME)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def whole_number(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers for argparse."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least}, got {text!r}")
        return int(text)

    return read


def run(options: argparse.Namespace) -> int:
    """Train as the command line says, write the best model, and print what came of it."""
    specs = choose_specs(options)
    chosen = device.choose(options.device)
    dataset = data.load(specs[0].task, options.data)
    path = (options.out or Path("build") / specs[0].name) / "model.npz"
    check_writable(path.parent)
    spec, trained = train_best(specs, dataset, chosen, path, options.backend)
    print(as_json(trained, path, spec, chosen) if options.json else as_text(trained, path, spec))
    return 0


def known_tasks() -> list[str]:
    """Return the tasks that have a spec and data."""
    return sorted(path.stem for path in product_folder("models").glob("*.toml") if path.stem in data.DATASETS)


def choose_specs(options: argparse.Namespace) -> list[ModelSpec]:
    """Return the specs that the command line names, with its changes and seeds; raise SpecError for an unknown task."""
    if options.task not in known_tasks():
        raise SpecError(f"unknown task {options.task!r}; known tasks: {', '.join(known_tasks())}")
    specs = []
    for path in options.spec or [default_spec_path(options.task)]:
        spec = replace(read_spec(path), task=options.task)
        if options.epochs:
            towers = tuple(replace(tower, epochs=0) for tower in spec.towers)
            spec = replace(spec, training=replace(spec.training, epochs=options.epochs), towers=towers)
        first = spec.seed if options.seed is None else options.seed
        specs += [replace(spec, seed=seed) for seed in range(first, first + options.seeds)]
    return specs


def as_text(trained: Trained, path: Path, spec: ModelSpec) -> str:
    """Return the result for a reader, with what to do next."""
    next_model = spec.name if path == Path("build") / spec.name / "model.npz" else path
    machine = "" if spec.machine == MACHINES[0] else f" --machine {spec.machine}"
    ended = "; ended early by Ctrl-C" if trained.stopped else ""
    return "\n".join(
        [
            trained.model.show(),
            "",
            f"validation accuracy {trained.accuracy:.2%}, from epoch {trained.epoch} of {spec.epochs}, "
            f"after {trained.seconds:.0f} s{ended}",
            f"model in {path}; next: python -m zxml tape {next_model}{machine}",
        ]
    )


def as_json(trained: Trained, path: Path, spec: ModelSpec, chosen: Any) -> str:
    """Return the result for a program."""
    return json.dumps(
        {
            "model": str(path),
            "sha256": trained.model.sha256(),
            "name": spec.name,
            "task": spec.task,
            "seed": spec.seed,
            "device": chosen.name.strip(),
            "epochs": spec.epochs,
            "best_epoch": trained.epoch,
            "validation_accuracy": trained.accuracy,
            "seconds": round(trained.seconds, 1),
            "stopped": trained.stopped,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
