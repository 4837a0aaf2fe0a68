"""Train the seed's net and tell how well each epoch reads: `add_arguments` and `run` for a command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from zxml.console import track
from zxml.data import seed8
from zxml.errors import DataError
from zxml.learn.correct import SEED_MOST
from zxml.learn.seed import cost
from zxml.learn.seed.arithmetic import ARITHMETICS, CHOSEN
from zxml.learn.seed.exact import make_net
from zxml.learn.seed.net import BATCH, Net, Values, see_windows

EPOCHS = 5
SEED_PICTURES = 640  # of the test pictures: those that the seed was tested on


@dataclass(frozen=True)
class Epoch:
    """How well the nets of all seeds read after an epoch, on average.

    machine_seconds: about what one net's training so far takes on a Spectrum, None for an arithmetic that no Z80 routine has;
    tstates_per_picture: the same for each picture; test accuracies: None unless asked for.
    """

    arithmetic: str
    seeds: int
    epoch: int
    machine_seconds: float | None
    tstates_per_picture: int | None
    validation_accuracy: float
    test_accuracy_640: float | None
    test_accuracy: float | None

    def row(self) -> str:
        """Return the epoch as a row of the table."""
        clock = "-"
        if self.machine_seconds is not None:
            minutes, seconds = divmod(round(self.machine_seconds), 60)
            clock = f"{minutes}:{seconds:02d}"
        accuracies = [self.validation_accuracy, self.test_accuracy_640, self.test_accuracy]
        shown = "".join(f"  {accuracy:10.2%}" for accuracy in accuracies if accuracy is not None)
        return f"{self.epoch:>5}  {clock:>12}{shown}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `run`."""
    parser.add_argument(
        "--arithmetic", choices=list(ARITHMETICS), default=CHOSEN.name, help=f"to learn with (default: {CHOSEN.name})"
    )
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="nets whose accuracy is averaged (default: 1)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, metavar="N", help=f"over the 640 pictures (default: {EPOCHS})")
    parser.add_argument("--test", action="store_true", help="tell the accuracy on the seed's 640 and on all test pictures, too")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Learn as the command line says and print a row an epoch; raise DataError for numbers that nothing can be done with."""
    check(options)
    net = make_net(ARITHMETICS[options.arithmetic], list(range(1, options.seeds + 1)))
    epochs = train(net, seed8.load(), options.epochs, options.test)
    if options.json:
        print(json.dumps([asdict(epoch) for epoch in epochs]))
        return 0
    title = f"{'epoch':>5}  {'machine time':>12}  {'validation':>10}"
    print(title + (f"  {'640':>10}  {'10,000':>10}" if options.test else ""))
    for epoch in epochs:
        print(epoch.row(), flush=True)
    return 0


def check(options: argparse.Namespace) -> None:
    """Raise DataError for a number of epochs or seeds that nothing can be done with."""
    if options.epochs < 1:
        raise DataError(f"--epochs must be 1 or more, got {options.epochs}")
    if not 1 <= options.seeds <= SEED_MOST:
        raise DataError(f"--seeds must be 1 to {SEED_MOST}, got {options.seeds}")


def train(net: Net, parts: seed8.Parts, epochs: int, test: bool) -> Iterator[Epoch]:
    """Train nets on the 640 pictures and yield how well they read after each epoch."""
    windows, seen = see_windows(parts.train.images), see_windows(parts.validation.images)
    unseen = see_windows(parts.test.images) if test else None
    for epoch in range(1, epochs + 1):
        for number in track(range(len(windows)), f"epoch {epoch}"):
            net.learn(windows[number], int(parts.train.labels[number]))
            if (number + 1) % BATCH == 0:
                net.step(slow=epoch >= net.first_slow(epochs))
        validation = mean(net.accuracy(seen, parts.validation.labels))
        yield _describe(
            net, epoch, validation, *(measure_test(net, parts.test, unseen) if unseen is not None else (None, None))
        )


def measure_test(net: Net, pictures: seed8.Pictures, windows: Values) -> tuple[float, float]:
    """Return the accuracies, averaged over the seeds, on the first 640 test pictures and on all, given their windows."""
    first = net.accuracy(windows[:SEED_PICTURES], pictures.labels[:SEED_PICTURES])
    return mean(first), mean(net.accuracy(windows, pictures.labels))


def mean(accuracies: list[float]) -> float:
    """Return an average."""
    return float(np.mean(accuracies))


def _describe(net: Net, epoch: int, validation: float, first: float | None, test: float | None) -> Epoch:
    name, tally, seeds = net.arithmetic.name, net.tally, len(net.filters)
    tstates = cost.tstates(tally) if name == CHOSEN.name else None
    seconds = None if tstates is None else round(tstates / cost.CLOCK_HZ / seeds, 1)
    each = None if tstates is None else round(tstates / tally.pictures)
    return Epoch(name, seeds, epoch, seconds, each, validation, first, test)
