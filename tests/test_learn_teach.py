"""Teaching: examples fill a class's places, corrections mend what was read wrong, and the documents tell what is reached."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_learn_count import PICTURES, noise, random_weights, small
from zxml import data
from zxml.learn import correct, count, teach
from zxml.learn.pictures import CLASSES, COLS, PATCHES, PATTERNS, ROWS, Bits, see_patterns
from zxml.learn.teach import Memory
from zxml.learn.teach_evidence import Evidence, teach_evidence

TEACHING_PAGE = Path(__file__).parent.parent / "docs" / "teach.md"
PLACES = 20  # of each class, here


def blank_memory() -> Memory:
    weights = count.Weights(np.zeros(CLASSES, np.uint16), np.zeros((CLASSES, PATCHES, PATTERNS), np.uint8))
    return Memory(np.zeros((CLASSES * PLACES, ROWS, COLS), np.uint8), np.zeros(CLASSES, np.uint8), weights)


def learned_memory() -> Memory:
    pictures = small()[0][: CLASSES * PLACES].copy()
    return Memory(pictures, np.full(CLASSES, PLACES, np.uint8), count.learn(pictures))


def read(weights: count.Weights, picture: Bits) -> int:
    return int(weights.scores(see_patterns(picture[None]))[0].argmax())


def slow_slant(picture: Bits, slant: int) -> list[list[int]]:
    """Return the rows of a slanted picture, pixel by pixel."""

    def pixel(y: int, x: int) -> int:
        inside = 0 <= y < ROWS and 0 <= x < COLS
        return int(picture[y, x]) if inside else 0

    def moved(y: int, x: int) -> int:
        side = 1 if x < 3 else -1 if 5 <= x < 8 else 0
        end = 1 if y < 4 else -1 if y >= 7 else 0
        return pixel(*{0: (y, x), 1: (y + side, x), 2: (y - side, x), 3: (y, x + end), 4: (y, x - end)}[slant])

    return [[moved(y, x) for x in range(COLS)] for y in range(ROWS)]


@given(PICTURES, st.integers(0, 4))
def test_a_slant_moves_two_sides_of_a_picture_opposite_ways(pictures: Bits, slant: int) -> None:
    before = pictures.copy()
    for picture in pictures:
        assert teach.slant(picture, slant).tolist() == slow_slant(picture, slant)
    assert (pictures == before).all()


@given(st.integers(1, 10), st.integers(1, 60))
def test_examples_fill_the_places_in_turn_each_round_with_another_slant(n: int, places: int) -> None:
    examples = noise(n, 0.4, n)
    filled = teach.fill(examples, places)
    assert filled.shape == (places, ROWS, COLS)
    for place, picture in enumerate(filled):
        turn, number = divmod(place, n)
        assert (picture == teach.slant(examples[number], [0, 4, 3, 2, 1][turn % 5])).all()


@settings(max_examples=10)
@given(st.integers(0, 99), st.integers(0, 9), st.integers(1, 5))
def test_a_taught_class_has_the_weights_of_its_filled_places_and_no_other_changes(seed: int, digit: int, n: int) -> None:
    memory = learned_memory()
    others = np.arange(CLASSES) != digit
    pictures, weight, bias = memory.pictures.copy(), memory.weights.weight.copy(), memory.weights.bias.copy()
    teach.forget(memory, digit)
    examples = noise(seed, 0.3, n)
    for example in examples:
        teach.teach(memory, example, digit)
    filled = teach.fill(examples, PLACES)
    assert (memory.pictures[digit::CLASSES] == filled).all()
    wanted_bias, wanted = count.weigh(count.count_patterns(filled))
    assert memory.weights.bias[digit] == wanted_bias
    assert (memory.weights.weight[digit] == wanted).all()
    assert memory.examples.tolist() == [n if c == digit else PLACES for c in range(CLASSES)]
    kept = np.tile(others, PLACES)
    assert (memory.pictures[kept] == pictures[kept]).all()
    assert (memory.weights.weight[others] == weight[others]).all()
    assert (memory.weights.bias[others] == bias[others]).all()


def test_a_class_full_of_examples_is_only_corrected() -> None:
    memory = blank_memory()
    examples = small()[0][3::CLASSES][: PLACES + 1]
    for example in examples[:PLACES]:
        teach.teach(memory, example, 3)
    pictures, counted = memory.pictures.copy(), memory.weights.weight.copy()
    teach.teach(memory, examples[PLACES], 3)
    assert (memory.pictures == pictures).all()
    assert memory.examples[3] == PLACES
    assert (memory.weights.weight == counted).all()  # the only class is read right
    teach.teach(memory, small()[0][0], 4)
    teach.teach(memory, examples[0], 4)
    teach.teach(memory, small()[0][4], 3)
    assert read(memory.weights, small()[0][4]) == 3


def test_a_class_never_seen_and_one_forgotten_are_never_read() -> None:
    memory = learned_memory()
    teach.forget(memory, 6)
    pictures = small()[1][:500]
    assert 6 not in memory.weights.scores(see_patterns(pictures)).argmax(axis=1)
    nothing = blank_memory()
    teach.teach(nothing, pictures[0], 7)
    assert set(nothing.weights.scores(see_patterns(pictures)).argmax(axis=1).tolist()) == {7}


def test_a_pass_over_blank_pictures_of_a_forgotten_class_changes_nothing_of_it() -> None:
    memory = learned_memory()
    teach.forget(memory, 6)
    correct.correct_pass(memory.weights, memory.pictures, correct.SEED)
    assert not memory.weights.weight[6].any()
    assert memory.weights.bias[6] == 0


def test_two_symbols_of_one_example_each_are_told_apart_even_when_moved() -> None:
    memory = blank_memory()
    cross, ring = np.zeros((2, ROWS, COLS), np.uint8)
    cross[5, 1:8] = cross[1:10, 4] = 1
    ring[2:9, 2] = ring[2:9, 6] = ring[2, 2:7] = ring[8, 2:7] = 1
    for digit, symbol in ((0, cross), (1, ring)):
        teach.teach(memory, symbol, digit)
    for digit, symbol in ((0, cross), (1, ring)):
        for moved in (symbol, np.roll(symbol, 1, axis=0), np.roll(symbol, -1, axis=1), teach.slant(symbol, 3)):
            assert read(memory.weights, moved) == digit


def test_a_picture_read_wrong_is_corrected_on_the_spot_and_one_read_right_changes_nothing() -> None:
    train, seen, labels = small()
    weights = count.learn(train)
    wrong = weights.scores(see_patterns(seen)).argmax(axis=1) != labels
    for picture, label in zip(seen[wrong][:20], labels[wrong][:20], strict=True):
        steps = teach.fix(weights, picture, int(label))
        assert (read(weights, picture) == label) or steps == teach.FIXES
        before = weights.weight.copy()
        if steps < teach.FIXES:
            assert teach.fix(weights, picture, int(label)) == 0
            assert (weights.weight == before).all()
    assert weights.accuracy(seen, labels) >= 0.925  # twenty corrections are no harm


@settings(max_examples=20)
@given(PICTURES, st.integers(0, 99))
def test_a_fix_is_corrections_until_it_is_read_right(pictures: Bits, seed: int) -> None:
    weights, slow = random_weights(seed), random_weights(seed)
    for digit, picture in enumerate(pictures):
        steps = teach.fix(weights, picture, digit)
        for _ in range(steps):
            assert read(slow, picture) != digit
            correct.correct_picture(slow, see_patterns(picture[None])[0], digit)
        assert read(slow, picture) == digit or steps == teach.FIXES
        assert (weights.weight == slow.weight).all()


def test_practice_is_two_passes_over_the_first_pictures() -> None:
    memory, other = learned_memory(), learned_memory()
    state = teach.practise(memory, 77)
    first, _ = correct.correct_pass(other.weights, other.pictures[: teach.PRACTICE], 77)
    assert state == correct.correct_pass(other.weights, other.pictures[: teach.PRACTICE], first)[0]
    assert (memory.weights.weight == other.weights.weight).all()


def rows(found: Evidence) -> list[str]:
    """Return the rows of the documents' table."""
    figures = {
        "the new digit, mean of ten": found["new_digit_mean"],
        "the new digit, worst of ten": found["new_digit_worst"],
        "the other nine, before": found["others_before"],
        "the other nine, after": found["others_after"],
        "all ten, taught from nothing": found["from_nothing"],
    }
    return [f"| {what} | {share:.2%} |".replace("%", " %") for what, share in figures.items()]


@pytest.mark.slow
def test_a_digit_never_seen_is_read_after_ten_examples_and_the_others_lose_under_a_point_as_the_docs_tell() -> None:
    found = teach_evidence(data.load("mnist"))
    assert found["new_digit_mean"] >= 0.84
    assert found["others_before"] - found["others_after"] < 0.01
    text = TEACHING_PAGE.read_text(encoding="utf-8")
    for row in rows(found):
        assert row in text, f"{TEACHING_PAGE}: {row}"
