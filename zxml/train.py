"""Train a net and write its integer model: python -m zxml.train TASK."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from zxml import data, ir
from zxml.console import guard
from zxml.errors import SpecError
from zxml.files import check_writable, product_folder
from zxml.gpu import device
from zxml.learn import command as learn_command
from zxml.spec import ModelSpec, default_spec_path, read_spec

if TYPE_CHECKING:
    from zxml.gpu.trainer import Progress, Trained

COUNT = "count"  # the task that a Spectrum can learn by itself
PLAIN_LINES = 10  # lines of progress where there is no terminal
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} epochs{postfix}"
EXAMPLE = """example:
  python -m zxml.train mnist
      trains the net of models/mnist.toml on the first OpenCL device and writes build/mnist/model.npz
  python -m zxml.train mnist --epochs 20 --seed 7 --out build/quick
      a rough net in seconds
  python -m zxml.train count --test
      what a Spectrum learns by itself, and how long it takes

Ctrl-C ends the training early and keeps the best net so far. A training that was killed continues when it is started again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 for an error of the user's, 2 for a wrong command line."""
    words = sys.argv[1:] if arguments is None else [*arguments]
    if words[:1] == [COUNT]:
        options = make_count_parser().parse_args(words[1:])
        return guard(lambda: learn_command.run(options))
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


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m zxml.train",
        description="Train a small net on any OpenCL device, with the Z80's integer arithmetic inside the training.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", help=f"what to learn: {', '.join(known_tasks())}; or {COUNT}, which has options of its own")
    parser.add_argument("--spec", type=Path, metavar="FILE", help="the net and its recipe (default: models/TASK.toml)")
    parser.add_argument(
        "--device", metavar="D", help="OpenCL device: its number or a part of its name (default: the first GPU)"
    )
    parser.add_argument("--backend", choices=device.SHAPES, help="kernels for CPUs or for GPUs (default: as the device is)")
    parser.add_argument("--seed", type=whole_number(0), metavar="N", help="other random numbers than the spec's seed gives")
    parser.add_argument(
        "--seeds", type=whole_number(1), default=1, metavar="N", help="train with so many seeds and keep the best on validation"
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
    spec = choose_spec(options)
    chosen = device.choose(options.device)
    dataset = data.load(spec.task, options.data)
    path = (options.out or Path("build") / spec.name) / "model.npz"
    check_writable(path.parent)
    backend = options.backend or device.choose_shape(chosen)
    print(f"training {spec.name} on {chosen.name.strip()}, kernels in {backend}", file=sys.stderr, flush=True)
    best: tuple[ModelSpec, Trained] | None = None
    for seed in range(spec.seed, spec.seed + options.seeds):
        trial = replace(spec, seed=seed)
        trained = train_with_progress(trial, dataset, chosen, path.with_name("checkpoint.npz"), backend)
        if options.seeds > 1:
            print(f"seed {seed}: validation {trained.accuracy:.2%}", file=sys.stderr, flush=True)
        if best is None or trained.accuracy > best[1].accuracy:
            best = trial, trained
            ir.save(trained.model, path)
        if trained.stopped:
            break
    assert best is not None
    spec, trained = best
    print(as_json(trained, path, spec, chosen) if options.json else as_text(trained, path, spec))
    return 0


def known_tasks() -> list[str]:
    """Return the tasks that have a spec and data."""
    return sorted(path.stem for path in product_folder("models").glob("*.toml") if path.stem in data.DATASETS)


def choose_spec(options: argparse.Namespace) -> ModelSpec:
    """Return the spec that the command line names, with its changes; raise SpecError for an unknown task."""
    if options.task not in known_tasks():
        raise SpecError(f"unknown task {options.task!r}; known tasks: {', '.join(known_tasks())}")
    spec = replace(read_spec(options.spec or default_spec_path(options.task)), task=options.task)
    training = replace(spec.training, epochs=options.epochs or spec.training.epochs)
    return replace(spec, training=training, seed=spec.seed if options.seed is None else options.seed)


def train_with_progress(spec: ModelSpec, dataset: data.Dataset, chosen: Any, checkpoint: Path, backend: str) -> Trained:
    """Train with a bar on stderr if that is a terminal, and a few plain lines if not."""
    from zxml.gpu import trainer  # not before device.choose has told a missing pyopencl in one line

    epochs = spec.training.epochs
    if not sys.stderr.isatty():
        every = max(1, epochs // PLAIN_LINES)
        return trainer.train(
            spec, dataset, chosen, lambda at: print_line(at) if at.epoch % every == 0 else None, checkpoint, backend
        )
    with tqdm(total=epochs, desc=spec.name, file=sys.stderr, bar_format=BAR, leave=False) as bar:

        def report(at: Progress) -> None:
            bar.set_postfix_str(describe(at), refresh=False)
            bar.update(at.epoch - bar.n)

        return trainer.train(spec, dataset, chosen, report, checkpoint, backend)


def print_line(at: Progress) -> None:
    """Print where training stands as one line on stderr."""
    print(f"epoch {at.epoch}/{at.epochs}: {describe(at)}", file=sys.stderr, flush=True)


def describe(at: Progress) -> str:
    """Return where training stands, in words."""
    left = f"{int(at.seconds_left) // 60}:{int(at.seconds_left) % 60:02d} left"
    return f"loss {at.loss:.3f}, validation {at.accuracy:.2%} (best {at.best:.2%}), {left}"


def as_text(trained: Trained, path: Path, spec: ModelSpec) -> str:
    """Return the result for a reader, with what to do next."""
    next_model = spec.name if path == Path("build") / spec.name / "model.npz" else path
    ended = "; ended early by Ctrl-C" if trained.stopped else ""
    return "\n".join(
        [
            trained.model.show(),
            "",
            f"validation accuracy {trained.accuracy:.2%}, from epoch {trained.epoch} of {spec.training.epochs}, "
            f"after {trained.seconds:.0f} s{ended}",
            f"model in {path}; next: python -m zxml tape {next_model}",
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
            "epochs": spec.training.epochs,
            "best_epoch": trained.epoch,
            "validation_accuracy": trained.accuracy,
            "seconds": round(trained.seconds, 1),
            "stopped": trained.stopped,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
