"""Learn as a Spectrum does and tell how well each stage reads: `add_arguments` and `run` for a command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from zxml import data
from zxml.errors import DataError
from zxml.learn import correct, count
from zxml.learn.cost import CLOCK_HZ, count_tstates, pass_tstates
from zxml.learn.pictures import choose_training, see_patterns, shrink

PICTURES = 1400  # with their weights and the program on the tape they fill a 48K
PASSES = 15
SHOWN_PASSES = (1, 2, 5, 10, 15, 20, 30, 50, 100)


@dataclass(frozen=True)
class Stage:
    """How well a Spectrum reads after a stage.

    changed: how many pictures of the last pass changed the weights; machine_seconds: about what all stages so far take on a
    Spectrum; test_accuracy: None unless asked for.
    """

    pictures: int
    method: str
    changed: int | None
    machine_seconds: float
    validation_accuracy: float
    test_accuracy: float | None

    def row(self) -> str:
        """Return the stage as a row of the table."""
        changed = "" if self.changed is None else f"{self.changed:,}"
        minutes, seconds = divmod(round(self.machine_seconds), 60)
        test = "" if self.test_accuracy is None else f"  {self.test_accuracy:7.2%}"
        left = f"{self.pictures:>8,}  {self.method:<24}  {changed:>7}"
        return f"{left}  {minutes:>9}:{seconds:02d}  {self.validation_accuracy:10.2%}{test}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    parser.add_argument("--pictures", type=int, default=PICTURES, metavar="N", help=f"to learn from (default: {PICTURES:,})")
    parser.add_argument("--passes", type=int, default=PASSES, metavar="N", help=f"of correction (default: {PASSES})")
    parser.add_argument("--seed", type=int, default=correct.SEED, metavar="N", help="other shifts: 1 to 65535 (default: 1)")
    parser.add_argument("--test", action="store_true", help="tell the accuracy on the test pictures, too")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of four IDX files to use instead")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Learn as the command line says and print a row a stage; raise DataError for too many pictures."""
    check(options)
    stages = learn(data.load("mnist", options.data), options.pictures, options.passes, options.seed, options.test)
    if options.json:
        print(json.dumps([asdict(stage) for stage in stages]))
        return 0
    title = f"{'pictures':>8}  {'method':<24}  {'changed':>7}  {'machine time':>12}  {'validation':>10}"
    print(title + (f"  {'test':>7}" if options.test else ""))
    for stage in stages:
        print(stage.row(), flush=True)
    return 0


def check(options: argparse.Namespace) -> None:
    """Raise DataError for a number of passes or a seed that nothing can be done with."""
    if options.passes < 0:
        raise DataError(f"--passes must be 0 or more, got {options.passes}")
    if not 1 <= options.seed <= correct.SEED_MOST:
        raise DataError(f"--seed must be 1 to {correct.SEED_MOST}, got {options.seed}")


def learn(dataset: data.Dataset, pictures: int, passes: int, seed: int, test: bool) -> Iterator[Stage]:
    """Yield the stage after counting, and those after some of the passes and the last."""
    small = shrink(dataset.train_images[choose_training(dataset.train_labels, pictures)])
    seen = shrink(dataset.validation_images)
    unseen = shrink(dataset.test_images) if test else None

    def measure(method: str, changed: int | None) -> Stage:
        on_test = None if unseen is None else weights.accuracy(unseen, dataset.test_labels)
        on_validation = weights.accuracy(seen, dataset.validation_labels)
        return Stage(pictures, method, changed, round(tstates / CLOCK_HZ, 1), on_validation, on_test)

    inked = float((see_patterns(small) > 0).sum(axis=(1, 2)).mean())
    weights, state, tstates = count.learn(small), seed, count_tstates(pictures)
    yield measure("count, shifted nine ways", None)
    for number in range(1, passes + 1):
        state, changed = correct.correct_pass(weights, small, state)
        tstates += pass_tstates(pictures, changed, inked)
        if number in SHOWN_PASSES or number == passes:
            yield measure(f"correct, {number} {'pass' if number == 1 else 'passes'}", changed)
