"""How well a class that the machine has never seen is read after ten examples: each digit is held back in turn, then taught."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import TypedDict

import numpy as np

from zxml import data
from zxml.console import track
from zxml.learn import correct, count
from zxml.learn.command import PASSES, PICTURES
from zxml.learn.pictures import CLASSES, PATCHES, PATTERNS, Bits, choose_training, shrink
from zxml.learn.teach import Memory, forget, practise, teach

EXAMPLES = 10  # to teach a class from
LOTS = 4  # of examples, at random from the training pictures that the machine has not learned from


@dataclass(frozen=True)
class Row:
    """A digit held back, then taught: shares of pictures read right, each the mean over the lots of examples.

    new_digit: of the digit's pictures, after teaching; others_before, others_after: of the others', before and after.
    """

    digit: int
    new_digit: float
    others_before: float
    others_after: float


@dataclass(frozen=True, eq=False)
class Pictures:
    """Small pictures to learn from, to teach from, and to measure on.

    learned: (n, 11, 9), picture i is a digit i % 10; lots: (4 lots, 10 examples, 10 digits, 11, 9); seen: (m, 11, 9).
    """

    learned: Bits
    lots: Bits
    seen: Bits
    labels: Bits


class Evidence(TypedDict):
    """Shares of test pictures read right, the means over the ten digits, each held back in turn and then taught.

    new_digit_mean, new_digit_worst: of the taught digit's; others_before, others_after: of the other nine's; from_nothing: of
    all, by a machine that knew nothing and was taught all ten; digits: each digit's Row.
    """

    new_digit_mean: float
    new_digit_worst: float
    others_before: float
    others_after: float
    from_nothing: float
    digits: list[dict[str, float]]


def teach_evidence(dataset: data.Dataset) -> Evidence:
    """Return how well teaching works, measured on the test pictures; raise DataError if the training pictures are too few."""
    pictures = choose(dataset, shrink(dataset.test_images), dataset.test_labels)
    rows = [hold_back(digit, pictures) for digit in track(range(CLASSES), "digits taught")]
    return {
        "new_digit_mean": float(np.mean([row.new_digit for row in rows])),
        "new_digit_worst": min(row.new_digit for row in rows),
        "others_before": float(np.mean([row.others_before for row in rows])),
        "others_after": float(np.mean([row.others_after for row in rows])),
        "from_nothing": float(np.mean([teach_from_nothing(lot, pictures) for lot in pictures.lots])),
        "digits": [asdict(row) for row in rows],
    }


def choose(dataset: data.Dataset, seen: Bits, labels: Bits) -> Pictures:
    """Return the pictures to learn and to teach from, and to measure on."""
    learned = choose_training(dataset.train_labels, PICTURES)
    taught = []
    for digit in range(CLASSES):
        left = np.setdiff1d(np.flatnonzero(dataset.train_labels == digit), learned)
        taught.append(np.random.default_rng(digit).choice(left, LOTS * EXAMPLES, replace=False))
    examples = shrink(dataset.train_images[np.stack(taught, axis=1).ravel()])
    lots = examples.reshape(LOTS, EXAMPLES, CLASSES, *examples.shape[1:])
    return Pictures(shrink(dataset.train_images[learned]), lots, seen, labels)


def hold_back(digit: int, pictures: Pictures) -> Row:
    """Return how well a digit is read that is held back, then taught."""
    memory, state = learn_without(digit, pictures.learned)
    seen, labels, mine = pictures.seen, pictures.labels, pictures.labels == digit
    before = memory.weights.accuracy(seen[~mine], labels[~mine])
    new, after = [], []
    for lot in pictures.lots:
        taught = deepcopy(memory)
        for example in lot[:, digit]:
            teach(taught, example, digit)
        practise(taught, state)
        new.append(taught.weights.accuracy(seen[mine], labels[mine]))
        after.append(taught.weights.accuracy(seen[~mine], labels[~mine]))
    return Row(digit, float(np.mean(new)), before, float(np.mean(after)))


def teach_from_nothing(lot: Bits, pictures: Pictures) -> float:
    """Return how well a machine that knew nothing reads after a lot of examples (10, 10 digits, 11, 9)."""
    memory = Memory(
        np.zeros_like(pictures.learned),
        np.zeros(CLASSES, np.uint8),
        count.Weights(np.zeros(CLASSES, np.uint16), np.zeros((CLASSES, PATCHES, PATTERNS), np.uint8)),
    )
    for examples in lot:
        for digit, example in enumerate(examples):
            teach(memory, example, digit)
    practise(memory, correct.SEED)
    return memory.weights.accuracy(pictures.seen, pictures.labels)


def learn_without(digit: int, small: Bits) -> tuple[Memory, int]:
    """Return what counting and all passes learn of small pictures (n, 11, 9) but a digit's, and the random state afterwards."""
    places = np.full(CLASSES, len(small) // CLASSES, np.uint8)
    memory, state = Memory(small.copy(), places, count.learn(small)), correct.SEED
    forget(memory, digit)
    for _ in range(PASSES):
        state, _ = correct.correct_pass(memory.weights, memory.pictures, state)
    return memory, state


if __name__ == "__main__":
    print(json.dumps(teach_evidence(data.load("mnist")), indent=1))
