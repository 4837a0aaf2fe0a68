"""What Python generates for the program: its words, its pictures, and the hard ones among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from tests.fake_gallery import picture
from tests.feature_nets import random_cascade
from tests.nets import random_model, random_pictures
from zxml.ir import Exit, IntegerModel, Looks
from zxml.reference import run
from zxml.z80gen.program import (
    CHALLENGE_PICTURES,
    GALLERY_PICTURES,
    PROGRAM_NBYTES,
    Facts,
    choose_hard,
    describe,
    encode,
    fit,
    gallery,
    info_lines,
    pack_runs,
    texts,
)

PICTURES = random_pictures(5, 60)
MODEL = random_model(1, units=12)
READ = run(MODEL, PICTURES).digits.astype(np.uint8)


def test_half_of_the_hard_pictures_are_read_wrong_and_none_is_in_the_gallery() -> None:
    labels = READ.copy()
    labels[::2] = (labels[::2] + 1) % 10
    chosen = choose_hard(MODEL, PICTURES, labels)
    assert len(set(chosen)) == CHALLENGE_PICTURES
    assert (READ[chosen] != labels[chosen]).sum() == CHALLENGE_PICTURES // 2
    assert min(chosen) >= GALLERY_PICTURES


def test_a_net_that_is_always_right_is_challenged_with_its_doubts() -> None:
    assert len(choose_hard(MODEL, PICTURES, READ)) == CHALLENGE_PICTURES


def test_fewer_pictures_are_all_chosen() -> None:
    assert choose_hard(MODEL, PICTURES[:3], READ[:3]) == [0, 1, 2]


def test_pictures_are_left_out_where_there_is_no_room_but_one_always_stays() -> None:
    drawn = np.array([picture(7), picture(5), picture(0)])
    room = len(pack_runs(drawn[0])) + len(pack_runs(drawn[1]))
    assert list(fit(range(3), drawn, room)) == [0, 1]
    assert list(fit(range(3), drawn, 1)) == [0]


def test_a_digit_packs_into_a_third_of_its_bytes() -> None:
    assert max(len(pack_runs(picture(digit))) for digit in range(10)) <= 37


def test_text_is_characters_key_names_blanks_colours_and_places() -> None:
    assert encode((9, 3), 10, "a  b", "&Key", "\0") == bytes([16, 35, 0x48, 10, 97, 18, 98, 128 + 75, 101, 121, 0])


def test_the_program_tells_what_is_known_of_the_net() -> None:
    assert info_lines("20x20 pixels-60-10", Facts()) == ["20x20 pixels-60-10 units"]
    facts = info_lines("20x20 pixels-60-10", Facts(0.9839, 59_979.5, 35_365))
    assert facts[1:] == ["98.39 % of 10,000 right", "59,980 T-states a picture", "35,365 bytes of code and tables"]


@pytest.mark.parametrize("facts", [Facts(), Facts(0.9839, 59_979.5, 35_365)])
def test_every_line_of_text_fits_the_screen(facts: Facts) -> None:
    assert max(map(len, info_lines(describe(MODEL), facts))) <= 32
    assert "text_info:" in texts(describe(MODEL), info_lines(describe(MODEL), facts))


def test_a_cascade_is_described_by_its_nets_and_looks() -> None:
    before = random_cascade(1)
    third = [replace(layer, name=f"third_{layer.name}") for layer in MODEL.layers[:-1]]
    cascade = (*before.layers[:-1], Exit("sure2", 5, "picture"), *third)
    more = (Exit("sure3", 5, "third_scores"), Looks("looks", "third_hidden", ((0, 1),) * 9))
    digit = MODEL.layers[-1]
    assert describe(before) == "a cascade of 2 nets"
    assert describe(IntegerModel("thrice", 1, (*cascade, digit))) == "a cascade of 3 nets"
    assert describe(IntegerModel("looks", 1, (*cascade, *more, digit))) == "3 nets that look 10 times"
    assert describe(IntegerModel("one", 1, (*third, *more, digit))) == "a net that looks 10 times"
    again = (Exit("sure4", 5, "looks"), Looks("more_looks", "third_hidden", ((1, 0),) * 2))
    assert describe(IntegerModel("rounds", 1, (*cascade, *more, *again, digit))) == "3 nets that look 10 or 12 times"
    other = (Exit("sure2", 5, "quick"), Looks("quick_looks", "front", ((0, 1),) * 9), Exit("sure5", 5, "picture"))
    layers = (*before.layers[:4], *other, *third, *more, digit)
    assert describe(IntegerModel("same", 1, layers)) == "2 nets that look 10 times"


def test_the_room_for_code_and_texts_is_what_the_longest_texts_need(symbols: Mapping[str, int]) -> None:
    longest = texts("x" * 32, ["x" * 32] * 4)
    texts_nbytes = sum(line.count(",") + 1 for line in re.findall("defb .*", longest))
    labels_nbytes = GALLERY_PICTURES + CHALLENGE_PICTURES
    assert symbols["text_every"] - symbols["app_start"] + texts_nbytes + labels_nbytes == PROGRAM_NBYTES


def test_the_same_net_gives_the_same_program() -> None:
    assert gallery(MODEL, PICTURES, READ) == gallery(MODEL, PICTURES, READ)
