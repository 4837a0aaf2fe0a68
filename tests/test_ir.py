"""The integer model: round trip, ranges, and what it refuses."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nets import extreme_pictures, models, random_model, random_pictures
from zxml import ir
from zxml.errors import SpecError
from zxml.ir import Dense, IntegerModel, PatchSum, Window, wrap
from zxml.reference import patch_patterns, run, trace

PICTURES = np.concatenate([extreme_pictures(), random_pictures(1, 30)])


@settings(max_examples=30, deadline=None)
@given(models())
def test_every_value_lies_in_its_inferred_range(model: IntegerModel) -> None:
    exact, wrapped = trace(model, PICTURES, wrapping=False), trace(model, PICTURES)
    for row in model.ranges():
        assert row.out.lo <= wrapped[row.name].min() <= wrapped[row.name].max() <= row.out.hi
    if not any(row.wraps for row in model.ranges()):
        assert all((exact[name] == wrapped[name]).all() for name in wrapped)


def test_load_gives_back_what_save_wrote(tmp_path: Path) -> None:
    model = random_model(1)
    ir.save(model, tmp_path / "model.npz")
    again = ir.load(tmp_path / "model.npz")
    assert again.to_bytes() == model.to_bytes()
    assert again.sha256() == model.sha256()
    np.testing.assert_array_equal(run(again, PICTURES).scores, run(model, PICTURES).scores)


@given(st.integers(-(2**40), 2**40), st.sampled_from([8, 16]))
def test_wrap_is_twos_complement(value: int, bits: int) -> None:
    got = int(wrap(np.array([value]), bits)[0])
    assert got == int.from_bytes((value % 2**bits).to_bytes(bits // 8, "little"), "little", signed=True)


def test_the_reference_equals_the_formula_written_out() -> None:
    model = random_model(2, units=3)
    hidden, scores = model.layers[0], model.layers[2]
    assert isinstance(hidden, PatchSum)
    assert isinstance(scores, Dense)
    for picture in PICTURES:
        window = picture[4:24, 4:24].ravel()
        sums = [int(hidden.bias[u]) + sum(int(hidden.table[p, window[p], u]) for p in range(400)) for u in range(3)]
        sums = [(s + 128) % 256 - 128 for s in sums]
        levels = [min(max(s // 32 + 1, 0), 4) for s in sums]
        want = [int(scores.bias[o]) + sum(levels[u] * int(scores.weight[u, o]) for u in range(3)) for o in range(10)]
        said = run(model, picture[None])
        assert said.scores[0].tolist() == want
        assert said.digits[0] == want.index(max(want))


def test_patches_are_numbered_in_raster_order_and_their_first_pixel_is_bit_0() -> None:
    picture = np.zeros((1, 28, 28), np.uint8)
    picture[0, 5, 6] = 1  # window row 1, column 2: patch row 0, patch column 1, second row, first pixel
    layer = PatchSum("p", Window(4, 4, 4, 6), 2, 2, 8, np.zeros((6, 16, 1), np.int32), np.zeros(1, np.int32))
    assert patch_patterns(layer, picture.astype(np.int64))[0].tolist() == [0, 4, 0, 0, 0, 0]


def test_show_has_a_row_for_each_layer() -> None:
    lines = random_model(3).show().splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["hidden", "levels", "scores", "digit"]
    assert "wraps" in lines[2]


@pytest.mark.parametrize("cut", [0, 10, 1000])
def test_a_broken_file_is_one_clear_line(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(random_model(1).to_bytes()[:cut])
    with pytest.raises(SpecError, match=r"model.npz: not a whole zxml model"):
        ir.load(path)


def test_a_missing_file_says_how_to_train() -> None:
    with pytest.raises(SpecError, match=r"no such model.*zxml.train"):
        ir.load(Path("nowhere.npz"))


def test_wrong_shapes_are_refused() -> None:
    model = random_model(1)
    scores = model.layers[2]
    assert isinstance(scores, Dense)
    short = dataclasses.replace(scores, weight=np.zeros((5, 10), np.int32))
    with pytest.raises(SpecError, match=r"layer scores: weight must have shape \(6, 10\), got \(5, 10\)"):
        IntegerModel("bad", 1, (*model.layers[:2], short, model.layers[3]))
    with pytest.raises(SpecError, match=r"pictures must have shape"):
        run(model, np.zeros((3, 27, 28), np.uint8))
    with pytest.raises(SpecError, match=r"last layer must be ArgMax"):
        IntegerModel("bad", 1, model.layers[:-1])
