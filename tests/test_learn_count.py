"""Counting and correcting: the arrays compute what loops over single pixels do, and learn as well as the documents say."""

from __future__ import annotations

import argparse
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zxml import data
from zxml.errors import DataError
from zxml.learn import command, correct, count
from zxml.learn.pictures import COLS, NBYTES, OF_EACH_MOST, ROWS, Bits, border, choose_training, pack, see_patterns, shrink

LEARNING_PAGE = Path(__file__).parent.parent / "docs" / "learning.md"
PICTURES = st.integers(0, 2**32 - 1).flatmap(
    lambda seed: st.sampled_from([0.02, 0.3, 0.7, 1]).map(lambda ink: noise(seed, ink))
)


def noise(seed: int, ink: float, n: int = 10) -> Bits:
    return (np.random.default_rng(seed).random((n, ROWS, COLS)) < ink).astype(np.uint8)


@cache
def small() -> tuple[Bits, Bits, Bits]:
    """Return small training pictures, small validation pictures and the labels of the latter."""
    dataset = data.load("mnist")
    chosen = choose_training(dataset.train_labels, command.PICTURES)
    return shrink(dataset.train_images[chosen]), shrink(dataset.validation_images), dataset.validation_labels


def random_weights(seed: int) -> count.Weights:
    random = np.random.default_rng(seed)
    bias = random.integers(0, 300, 10).astype(np.uint16)
    weight = random.choice([0, 1, 127, 128, 129, 254, 255], (10, 80, 16)).astype(np.uint8)
    weight[:, :, 0] = 0
    return count.Weights(bias, weight)


def slow_patterns(picture: Bits, top: int = 0, left: int = 0) -> list[int]:
    """Return the patterns of a picture (11, 9) that is moved up and left, pixel by pixel."""

    def pixel(y: int, x: int) -> int:
        return int(picture[y + top, x + left]) if 0 <= y + top < ROWS and 0 <= x + left < COLS else 0

    return [
        8 * pixel(y, x) + 4 * pixel(y + 1, x) + 2 * pixel(y, x + 1) + pixel(y + 1, x + 1) for y in range(10) for x in range(8)
    ]


def slow_scores(weights: count.Weights, patterns: list[int]) -> list[int]:
    return [int(weights.bias[c]) + sum(int(weights.weight[c, i, k]) for i, k in enumerate(patterns) if k) for c in range(10)]


def slow_log(number: int) -> int:
    return round(12 * math.log2(2 * number + 1)) if number < 256 else slow_log(number // 8) + 36


def test_small_pictures_are_the_middle_of_the_picture_in_blocks() -> None:
    picture = np.zeros((1, 28, 28), np.uint8)
    picture[0, 3, 5] = picture[0, 4, 6] = 1  # two of the first block
    picture[0, 24, 22] = 1  # one of the last block
    picture[0, :3] = picture[0, :, 23:] = 1  # outside
    wanted = np.zeros((1, ROWS, COLS), np.uint8)
    wanted[0, 0, 0] = 1
    assert (shrink(picture) == wanted).all()


@given(PICTURES)
def test_packed_pictures_hold_every_pixel_where_the_format_says(pictures: Bits) -> None:
    packed = pack(pictures)
    assert packed.shape == (len(pictures), NBYTES)
    assert (np.unpackbits(packed[:, :11], axis=1).reshape(-1, ROWS, 8) == pictures[:, :, :8]).all()
    assert (np.unpackbits(packed[:, 11:], axis=1)[:, :11] == pictures[:, :, 8]).all()
    assert not np.unpackbits(packed[:, 11:], axis=1)[:, 11:].any()


@given(PICTURES)
def test_patterns_are_those_of_single_pixels(pictures: Bits) -> None:
    assert see_patterns(pictures).reshape(-1, 80).tolist() == [slow_patterns(picture) for picture in pictures]


@settings(max_examples=20)
@given(PICTURES)
def test_neighbours_counts_are_the_counts_of_nine_shifts(pictures: Bits) -> None:
    total = np.zeros((80, 16), int)
    for picture in pictures:
        for top in (-1, 0, 1):
            for left in (-1, 0, 1):
                for patch, pattern in enumerate(slow_patterns(picture, top, left)):
                    total[patch, pattern] += 1
    assert (count.sum_shifts(count.count_patterns(pictures)).reshape(80, 16) == total).all()


def test_the_logarithm_is_its_formula_for_every_count_there_can_be() -> None:
    numbers = np.arange(9 * OF_EACH_MOST + 1)
    logs = count.log(numbers)
    assert logs.tolist() == [slow_log(number) for number in range(len(numbers))]
    assert abs(logs - 12 * np.log2(2 * numbers + 1)).max() < 1.1
    assert (np.diff(logs) >= 0).all()
    assert logs.min() == 0
    assert logs.max() <= 255


@settings(max_examples=20)
@given(PICTURES, st.integers(0, 9))
def test_weights_are_differences_of_logarithms_within_a_byte(pictures: Bits, repeat: int) -> None:
    counts = count.count_patterns(np.concatenate([pictures] * (1 + 2 * repeat)))
    sums = count.sum_shifts(counts).reshape(80, 16).tolist()
    bias, weight = count.weigh(counts)
    assert bias == sum(slow_log(row[0]) for row in sums)
    for got, row in zip(weight.tolist(), sums, strict=True):
        assert got == [0] + [min(max(128 + slow_log(n) - slow_log(row[0]), 0), 255) for n in row[1:]]


@settings(max_examples=30)
@given(PICTURES, st.integers(0, 99))
def test_scores_are_the_bias_and_the_weights_of_inked_patches(pictures: Bits, seed: int) -> None:
    weights = random_weights(seed)
    got = weights.scores(see_patterns(pictures))
    assert got.tolist() == [slow_scores(weights, slow_patterns(picture)) for picture in pictures]


@settings(max_examples=30)
@given(PICTURES, st.integers(0, 99), st.sampled_from([0, 1, 300, 40_000]))
def test_a_pass_is_its_loop_over_single_weights(pictures: Bits, seed: int, margin: int) -> None:
    weights, slow = random_weights(seed), random_weights(seed)
    state, changed = correct.correct_pass(weights, pictures, seed + 1, margin)
    slow_state, slow_changed = seed + 1, 0
    for digit, picture in enumerate(pictures):
        slow_state = correct.next_random(slow_state)
        top, left = correct.choose_shift(slow_state)
        patterns = slow_patterns(picture, top - 1, left - 1)
        scores = slow_scores(slow, patterns)
        rival = max((c for c in range(10) if c != digit), key=lambda c: (scores[c], -c))
        if scores[digit] - scores[rival] < margin:
            slow_changed += 1
            for patch, pattern in enumerate(patterns):
                if pattern:
                    slow.weight[digit, patch, pattern] = min(int(slow.weight[digit, patch, pattern]) + 1, 255)
                    slow.weight[rival, patch, pattern] = max(int(slow.weight[rival, patch, pattern]) - 1, 0)
    assert (state, changed) == (slow_state, slow_changed)
    assert (weights.weight == slow.weight).all()
    assert (weights.bias == slow.bias).all()


def test_random_states_come_round_after_all_numbers_but_0_and_give_every_shift_its_share() -> None:
    states = [correct.SEED]
    while (state := correct.next_random(states[-1])) != correct.SEED:
        states.append(state)
    assert sorted(states) == list(range(1, correct.SEED_MOST + 1))
    shifts = np.array([correct.choose_shift(state) for state in states])
    wanted = np.outer([1, 6, 1], [1, 6, 1]).ravel() * len(states) / 64  # more than half of the pictures stay where they are
    assert np.bincount(shifts @ (3, 1)).tolist() == pytest.approx(wanted.tolist(), rel=0.01)


def test_training_pictures_are_the_digits_in_turn() -> None:
    labels = data.load("mnist").train_labels
    chosen = choose_training(labels, 1800)
    assert (labels[chosen] == np.arange(1800) % 10).all()
    assert len(set(chosen.tolist())) == 1800


@pytest.mark.parametrize("number", [0, -10, 15, 2280])
def test_an_impossible_number_of_pictures_is_an_error(number: int) -> None:
    with pytest.raises(DataError, match=f"multiple of 10 up to 2270, got {number}"):
        choose_training(data.load("mnist").train_labels, number)


def test_the_tapes_pictures_read_93_percent_when_counted_and_95_after_five_passes() -> None:
    train, seen, labels = small()
    weights, state = count.learn(train), correct.SEED
    assert weights.accuracy(seen, labels) >= 0.93
    for _ in range(5):
        state, _ = correct.correct_pass(weights, train, state)
    assert weights.accuracy(seen, labels) >= 0.95


def test_the_same_seed_gives_the_same_weights_and_another_others() -> None:
    train = small()[0][:300]
    learned = [count.learn(train) for _ in range(3)]
    for weights, state in zip(learned, (1, 1, 2), strict=True):
        correct.correct_pass(weights, train, state)
    assert (learned[0].weight == learned[1].weight).all()
    assert (learned[0].weight != learned[2].weight).any()


def test_a_border_is_blank() -> None:
    bordered = border(np.ones((1, ROWS, COLS), np.uint8))
    assert bordered.shape == (1, 13, 11)
    assert bordered.sum() == bordered[:, 1:-1, 1:-1].sum() == ROWS * COLS


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(arguments)


def test_the_command_prints_a_row_a_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(options("--pictures", "200", "--passes", "3")) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split() == ["pictures", "method", "changed", "machine", "time", "validation"]
    assert [row.split()[0] for row in rows[1:]] == ["200"] * 4
    assert "count" in rows[1]
    assert "correct, 3 passes" in rows[4]


def test_the_command_prints_json_with_test_accuracy_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    command.run(options("--pictures", "100", "--passes", "1", "--json"))
    assert [stage["test_accuracy"] for stage in json.loads(capsys.readouterr().out)] == [None, None]
    command.run(options("--pictures", "100", "--passes", "0", "--json", "--test"))
    (stage,) = json.loads(capsys.readouterr().out)
    assert stage["method"].startswith("count")
    assert stage["machine_seconds"] == round((100 * 13_840 + 7_110_000) / 3.5e6, 1)
    assert 0.7 < stage["test_accuracy"] < 1


@pytest.mark.parametrize("wrong", [("--passes", "-1"), ("--seed", "0"), ("--seed", "65536"), ("--pictures", "7")])
def test_a_wrong_option_is_an_error_that_names_it(wrong: tuple[str, str]) -> None:
    with pytest.raises(DataError, match=f"got {wrong[1]}"):
        command.run(options(*wrong))


@pytest.mark.slow
def test_docs_tell_what_each_stage_reaches() -> None:
    lines = LEARNING_PAGE.read_text(encoding="utf-8").splitlines()
    for stage in command.learn(data.load("mnist"), command.PICTURES, command.PASSES, correct.SEED, test=True):
        figures = f"{stage.machine_seconds:.0f} s | {stage.validation_accuracy:.2%} | {stage.test_accuracy:.2%}"
        row = f"| {stage.method} | {figures.replace('%', ' %')} |"
        assert row in lines, f"{LEARNING_PAGE}: {row}"
