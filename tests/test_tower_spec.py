"""Specs of towers: what they read as, and one clear line for whatever no tower can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_spec import read
from zxml.errors import SpecError
from zxml.spec import ConvSpec, HiddenSpec, InputSpec, TowerSpec

QUICK = "[[towers]]\ncodes = 7\n"
SHARP = "[[towers]]\nfilters = 16\n[[towers.convs]]\nunits = 24\npool = true\n[[towers.convs]]\nstride = 2\n"

HIDDEN = "[[towers]]\nshared = true\ncodes = 7\nhidden = { units = 8 }\n"
LAST = "[[towers]]\nlooks = [[-1, 0], [0, 1]]\nhidden = { units = 8 }\n"


def test_a_cascade_reads_as_its_towers(tmp_path: Path) -> None:
    spec = read(f"second_looks = [0.1]\n{QUICK}{SHARP}[towers.hidden]\nunits = 40\n", tmp_path)
    convs = (ConvSpec(units=24, pool=True), ConvSpec(stride=2))
    assert spec.towers == (TowerSpec(codes=7), TowerSpec(filters=16, convs=convs, hidden=HiddenSpec(units=40)))
    assert spec.second_looks == (0.1,)


def test_a_tower_may_look_at_a_window_of_its_own(tmp_path: Path) -> None:
    text = f"{QUICK}[towers.window]\ntop = 0\nleft = 0\nrows = 28\ncols = 28\n"
    assert read(text, tmp_path).towers[0].window == InputSpec(0, 0, 28, 28)


def test_the_last_tower_may_have_looks_and_a_share_for_them(tmp_path: Path) -> None:
    spec = read(f"second_looks = [0.1, 0.05]\n{QUICK}{LAST}", tmp_path)
    assert spec.towers[1].looks == ((-1, 0), (0, 1))
    assert read(f"second_looks = [0.05]\n{LAST}", tmp_path).second_looks == (0.05,)


def test_each_tower_may_have_looks(tmp_path: Path) -> None:
    spec = read(f"second_looks = [0.2, 0.1, 0.05]\n{QUICK}looks = [[1, 0]]\n{LAST}", tmp_path)
    assert [tower.looks for tower in spec.towers] == [((1, 0),), ((-1, 0), (0, 1))]


def test_a_tower_may_look_in_two_rounds_with_a_share_for_each(tmp_path: Path) -> None:
    spec = read(f"second_looks = [0.2, 0.1, 0.05]\n{QUICK}{LAST}more_looks = [[1, 1]]\n", tmp_path)
    assert [tower.rounds for tower in spec.towers] == [(), (((-1, 0), (0, 1)), ((1, 1),))]


def test_a_tower_may_share_the_codes_of_the_one_before(tmp_path: Path) -> None:
    spec = read(f"second_looks = [0.2]\n{QUICK}{HIDDEN}", tmp_path)
    assert spec.towers[1] == TowerSpec(codes=7, shared=True, hidden=HiddenSpec(units=8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (QUICK + "[towers.window]\nrows = 25", r"towers\[0\]: the window must lie in the 28 x 28 picture"),
        (QUICK + "[towers.window]\nrows = 2", r"towers\[0\]: its convolutions leave a map of no size"),
        (SHARP + "[towers.window]\nrows = 6\ncols = 6", r"towers\[0\]: its convolutions leave a map of no size"),
        ("[[towers]]\ncodes = 1", r"towers\[0\]\.codes must be 0 or 2 to 15, got 1"),
        ("[[towers]]\ncodes = 16", r"towers\[0\]\.codes must be 0 or 2 to 15, got 16"),
        (QUICK + "filters = 16", r"with codes there are 8 filters of one level and no convs"),
        (QUICK + "[[towers.convs]]\nunits = 8", r"with codes there are 8 filters of one level and no convs"),
        ("[[towers]]\nfilters = 8", r"without codes it must have convs or hidden units"),
        ("[[towers]]\nfilters = 12\n[[towers.convs]]", r"towers\[0\]\.filters must be 8, 16, 24 or 32, got 12"),
        ("[[towers]]\n[[towers.convs]]\nunits = 12", r"units must be multiples of 8 up to 96, got \[12\]"),
        ("[[towers]]\n[[towers.convs]]\nweight_bits = 5", r"weight_bits must be 2 to 4, got \[5\]"),
        ("[[towers]]\n[[towers.convs]]\nstride = 3", r"towers\[0\]\.convs: stride must be 1 or 2"),
        (QUICK + "seed = -1", r"towers\[0\]\.seed must be 0 or more, got -1"),
        (QUICK + "epochs = -1", r"towers\[0\]\.epochs must be 0 or more, got -1"),
        (QUICK + "dropout = 1.0", r"towers\[0\]\.dropout must be 0 or more and below 1, got 1\.0"),
        (
            "second_looks = [0.1]\n" + QUICK + LAST + "focus = 0.6",
            r"towers\[1\]\.focus must be 0 to 0\.5, since as many .*, got 0\.6",
        ),
        (QUICK + "focus = 0.2", r"towers\[0\]\.focus: there must be a tower before, without dropout"),
        (
            "second_looks = [0.1]\n" + QUICK + "dropout = 0.1\n" + LAST + "focus = 0.2",
            r"towers\[1\]\.focus: there must be a tower before, without dropout",
        ),
        (QUICK + "weight_bits = 9", r"towers\[0\]\.weight_bits must be 2 to 8, got 9"),
        (QUICK + SHARP, r"second_looks must be 1 numbers from 0 to 1, one before .*, and one a tower but the last, got \[\]"),
        ("second_looks = [1.5]\n" + QUICK + SHARP, r"second_looks must be 1 numbers from 0 to 1"),
        (
            "second_looks = [0.1]\n" + QUICK + LAST,
            r"must be 2 numbers from 0 to 1, one before a tower's further looks, one before more, and one",
        ),
        ("second_looks = [0.1, 0.1]\n" + LAST + LAST, r"second_looks must be 3 numbers from 0 to 1"),
        ("second_looks = [0.1]\n" + QUICK + "looks = [[0, 2]]", r"towers\[0\]\.looks must be pairs .*, got \[\(0, 2\)\]"),
        ("second_looks = [0.1]\n" + QUICK + "looks = [[1]]", r"towers\[0\]\.looks must be pairs \[down, right\] of -1, 0 or 1"),
        (
            "second_looks = [0.1]\n" + QUICK + "more_looks = [[1, 0]]",
            r"towers\[0\]\.more_looks come after looks, and there are none",
        ),
        (
            "second_looks = [0.1]\n" + QUICK + HIDDEN.replace("7", "6"),
            r"towers\[1\]\.shared: the tower before must have the same window, filters, levels and codes",
        ),
        (HIDDEN, r"towers\[0\]\.shared: the tower before must have the same window"),
        (
            "second_looks = [0.1, 0.1]\n" + QUICK + "looks = [[1, 0]]\n" + HIDDEN,
            r"towers\[1\]\.shared: the tower before must not look again, since its codes are then another look's",
        ),
        (
            "second_looks = [0.1]\n" + QUICK + "[[towers]]\nshared = true\ncodes = 7\n",
            r"towers\[1\]\.shared: it must have codes and hidden units",
        ),
        (QUICK + "looks = [1]", r"towers\[0\]\.looks\[0\] must be a list of whole numbers, got 1"),
        ("second_looks = ['half']", r"second_looks\[0\] must be a number, got 'half'"),
        ("towers = [7]", r"towers\[0\] must be a table, got 7"),
        (QUICK + "kodes = 3", r"unknown key towers\[0\]\.kodes; known here: window, filters"),
        ("[[towers]]\n[[towers.convs]]\npool = 1", r"towers\[0\]\.convs\[0\]\.pool must be bool, got 1"),
    ],
)
def test_what_no_tower_can_have_is_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=message) as error:
        read(text, tmp_path)
    assert "\n" not in str(error.value)
