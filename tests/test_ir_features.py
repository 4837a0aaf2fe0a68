"""What the layers of feature nets mean, written out number by number, and what a model with early exits says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.feature_nets import CROSS, random_cascade, random_quick, two_nets, with_looks
from tests.nets import extreme_pictures, random_pictures
from zxml import ir
from zxml.errors import SpecError
from zxml.ir import (
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntegerModel,
    Looks,
    PatchConv,
    Pool,
    Requant,
    Steps,
    Window,
    looked_again,
)
from zxml.reference import move, run, trace

PICTURES = np.concatenate([extreme_pictures(), random_pictures(3, 12)])


def small_model(gap: int = 20, stride: int = 1) -> IntegerModel:
    """Return codes of 8 features, an early exit, and a convolution on the same features."""
    rng, places = np.random.default_rng(5), 3 if stride == 1 else 2

    def draw(low: int, high: int, *shape: int) -> ir.IntArray:
        return rng.integers(low, high, shape).astype(np.int32)

    bias = np.arange(4, dtype=np.int32)
    return IntegerModel(
        "small",
        1,
        (
            PatchConv("front", Window(7, 5, 11, 12), draw(0, 2, 512, 8)),
            Pool("features"),
            Codebook("codes", np.r_[0, draw(0, 4, 255)].astype(np.int32)),
            CodeSum("quick", 16, np.pad(draw(0, 9, 25, 3, 4), ((0, 0), (1, 0), (0, 0))), bias),
            Exit("sure", gap, "features"),
            Conv("conv", 8, draw(-7, 8, 3, 3, 8, 5), draw(-60, 60, 5), stride),
            Requant("bits", 0, 1),
            Dense("scores", 16, draw(0, 9, places * places * 5, 4), bias),
            ArgMax("digit"),
        ),
    )


@pytest.mark.parametrize("stride", [1, 2])
def test_each_layer_equals_its_formula_written_out(stride: int) -> None:
    model = small_model(stride=stride)
    front, _, codes, quick, _, conv, _, _, _ = model.layers
    assert isinstance(front, PatchConv)
    assert isinstance(codes, Codebook)
    assert isinstance(quick, CodeSum)
    assert isinstance(conv, Conv)
    for picture, i in zip(PICTURES, range(len(PICTURES)), strict=True):
        out = {name: values[i] for name, values in trace(model, PICTURES).items()}
        seen = picture[7:18, 5:17]
        features = np.zeros((9, 10, 8), int)
        for y in range(9):
            for x in range(10):
                features[y, x] = front.table[sum(int(seen[y + k // 3, x + k % 3]) << k for k in range(9))]
        assert (out["front"] == features).all()
        pooled = np.array(
            [[features[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].max(axis=(0, 1)) for x in range(5)] for y in range(5)]
        )
        assert (out["features"] == pooled).all()
        code = [[codes.code[sum(int(pooled[y, x, c]) << c for c in range(8))] for x in range(5)] for y in range(5)]
        assert (out["codes"][:, :, 0] == code).all()
        sums = quick.bias + sum(quick.table[p, code[p // 5][p % 5]] for p in range(25))
        assert (out["quick"] == sums).all()
        for y in range(0, 3, stride):
            for x in range(0, 3, stride):
                total = conv.bias + (pooled[y : y + 3, x : x + 3, :, None] * conv.weight).sum(axis=(0, 1, 2))
                assert (out["conv"][y // stride, x // stride] == (total + 128) % 256 - 128).all()


def few_level_model() -> IntegerModel:
    """Return a small model of features and a convolution of three levels."""
    rng = np.random.default_rng(9)
    thresholds = np.sort(rng.integers(-30, 31, (2, 5)), axis=0).astype(np.int32)
    layers = (
        PatchConv("front", Window(7, 5, 11, 12), rng.integers(0, 3, (512, 8)).astype(np.int32)),
        Pool("features"),
        Conv("conv", 8, rng.integers(-1, 2, (3, 3, 8, 5)).astype(np.int32), np.arange(5, dtype=np.int32)),
        Steps("levels", thresholds),
        Pool("pool"),
        Dense("scores", 16, rng.integers(0, 9, (20, 4)).astype(np.int32), np.zeros(4, np.int32)),
        ArgMax("digit"),
    )
    return IntegerModel("few", 1, layers)


def test_steps_count_the_thresholds_of_their_unit_that_a_sum_reaches() -> None:
    model = few_level_model()
    out, steps = trace(model, PICTURES), model.layers[3]
    assert isinstance(steps, Steps)
    low, high = steps.thresholds
    assert ((out["levels"] == 0) == (out["conv"] < low)).all()
    assert ((out["levels"] == 2) == (out["conv"] >= high)).all()
    assert 0 < (out["levels"] == 1).mean() < 1
    assert [(row.out.lo, row.out.hi) for row in model.ranges()[3:5]] == [(0, 2), (0, 2)]


@pytest.mark.parametrize("thresholds", [[], [[3, 0, 0, 0, 0], [2, 0, 0, 0, 0]]])
def test_thresholds_that_do_not_ascend_are_one_clear_line(thresholds: list[list[int]]) -> None:
    *before, _, pool, scores, digit = few_level_model().layers
    steps = Steps("levels", np.array(thresholds, np.int32).reshape(-1, 5))
    with pytest.raises(SpecError, match="few: layer levels: thresholds must be one or more a unit, ascending"):
        IntegerModel("few", 1, (*before, steps, pool, scores, digit))


def test_a_picture_leaves_where_the_lead_is_the_gap_and_goes_on_where_it_is_one_less() -> None:
    scores = trace(small_model(), PICTURES)["quick"]
    ordered = np.sort(scores, axis=1)
    leads = ordered[:, -1] - ordered[:, -2]
    for gap in (0, int(np.median(leads)), int(leads.max()), int(leads.max()) + 1):
        model = replace(
            small_model(),
            layers=tuple(replace(layer, gap=gap) if isinstance(layer, Exit) else layer for layer in small_model().layers),
        )
        said, outputs = run(model, PICTURES), trace(model, PICTURES)
        assert (said.exits == (leads < gap)).all()
        chosen = np.where((said.exits == 0)[:, None], outputs["quick"], outputs["scores"])
        assert (said.scores == chosen).all()
        assert (said.digits == chosen.argmax(axis=1)).all()


def test_of_several_exits_the_first_that_is_sure_answers() -> None:
    model = random_cascade(3)
    said, outputs = run(model, PICTURES), trace(model, PICTURES)
    flags = [outputs[layer.name][:, 0] for layer in model.layers if isinstance(layer, Exit)]
    wanted = [next((way for way, flag in enumerate(flags) if flag[i]), len(flags)) for i in range(len(PICTURES))]
    assert said.exits.tolist() == wanted


def test_a_cascade_is_the_same_after_save_and_load(tmp_path: Path) -> None:
    model = random_cascade(4)
    ir.save(model, tmp_path / "model.npz")
    assert ir.load(tmp_path / "model.npz").to_bytes() == model.to_bytes()


def test_every_value_of_a_cascade_lies_in_its_inferred_range() -> None:
    model = random_cascade(5)
    outputs = trace(model, PICTURES)
    for row in model.ranges():
        assert row.out.lo <= outputs[row.name].min() <= outputs[row.name].max() <= row.out.hi
        assert outputs[row.name].shape[1:] == row.shape


def test_models_that_do_not_fit_together_are_refused() -> None:
    layers = small_model().layers
    cases = {
        r"layer sure: source must be an earlier layer or 'picture', got 'later'": [
            replace(layer, source="later") if isinstance(layer, Exit) else layer for layer in layers
        ],
        r"each layer needs a name of its own": [replace(layer, name="same") for layer in layers],
        r"layer conv: a picture goes into a PatchSum or a PatchConv": [
            replace(layer, source="picture") if isinstance(layer, Exit) else layer for layer in layers
        ],
        r"layer codes: code must have shape \(256,\), got \(16,\)": [
            replace(layer, code=np.zeros(16, np.int32)) if isinstance(layer, Codebook) else layer for layer in layers
        ],
        r"layer conv: Conv takes a map": [layers[0], layers[1], layers[2], layers[3], layers[5], *layers[6:]],
    }
    for message, bad in cases.items():
        with pytest.raises(SpecError, match=message):
            IntegerModel("bad", 1, tuple(bad))


def shifted(picture: np.ndarray, down: int, right: int) -> np.ndarray:
    """Return a picture (28, 28) moved, pixel by pixel."""
    moved = np.zeros_like(picture)
    for y in range(28):
        for x in range(28):
            if 0 <= y - down < 28 and 0 <= x - right < 28:
                moved[y, x] = picture[y - down, x - right]
    return moved


@pytest.mark.parametrize("gap", [None, 30])
def test_looks_add_the_scores_of_moved_pictures(gap: int | None) -> None:
    shifts = (*CROSS, (1, -1), (0, 0))
    plain, model = two_nets(3), with_looks(two_nets(3), gap, shifts)
    outputs = trace(model, PICTURES)
    moved = [np.array([shifted(picture, *shift) for picture in PICTURES]) for shift in shifts]
    wanted = sum((trace(plain, pictures)["scores"] for pictures in moved), outputs["scores"])
    assert (outputs["looks"] == wanted).all()
    assert (outputs["digit"][:, 0] == wanted.argmax(axis=1)).all()


def test_sums_of_looks_keep_all_their_bits() -> None:
    model = with_looks(two_nets(3))
    scores = model.layers[-3]
    assert isinstance(scores, Dense)
    scores.bias[:] = 30_000
    assert (trace(model, PICTURES)["looks"] >= 5 * 30_000).all()
    row, before = model.ranges()[-2], model.ranges()[-3]
    assert (row.name, row.wraps, row.out.hi) == ("looks", False, 5 * before.out.hi)


def test_a_picture_with_looks_leaves_by_the_end_with_their_scores() -> None:
    model = with_looks(two_nets(3, 20_000), 20_000)
    said, outputs = run(model, PICTURES), trace(model, PICTURES)
    assert (said.exits == 2).all()
    assert (said.scores == outputs["looks"]).all()
    answers = run(with_looks(two_nets(3, 20_000), 0), PICTURES)
    assert (answers.exits == 1).all()
    assert (answers.scores == outputs["scores"]).all()


@pytest.mark.parametrize("gap", [None, 30])
def test_looks_have_a_range_and_are_the_same_after_save_and_load(gap: int | None, tmp_path: Path) -> None:
    model = with_looks(two_nets(6), gap)
    for row, values in zip(model.ranges(), trace(model, PICTURES).values(), strict=True):
        assert row.out.lo <= values.min() <= values.max() <= row.out.hi
        assert values.shape[1:] == row.shape
    ir.save(model, tmp_path / "model.npz")
    loaded = ir.load(tmp_path / "model.npz")
    assert loaded.to_bytes() == model.to_bytes()
    assert vars(loaded.layers[-2]) == vars(model.layers[-2]) == vars(Looks("looks", "fine", CROSS))
    assert "looks       Looks      10" in model.show()


def test_looks_are_no_net_of_their_own() -> None:
    assert [model.nets for model in (random_cascade(3), two_nets(3), with_looks(two_nets(3), 30))] == [2, 2, 2]
    single = replace(two_nets(3), layers=(*two_nets(3).layers[:4], ArgMax("digit")))
    assert (single.nets, with_looks(single).nets, with_looks(single, 30).nets) == (1, 1, 1)


def test_looks_after_looks_add_to_their_sums_what_the_same_layers_put_out() -> None:
    first, more = CROSS[:1], CROSS[1:]
    model = with_looks(two_nets(3), 30, first)
    *before, looks, digit = model.layers
    assert isinstance(looks, Looks)
    both = replace(model, layers=(*before, looks, Exit("doubt", 40, "looks"), replace(looks, name="more", shifts=more), digit))
    outputs, wanted = trace(both, PICTURES), trace(with_looks(two_nets(3), 30), PICTURES)["looks"]
    assert (outputs["more"] == wanted).all()
    assert both.ranges()[-2].out.hi >= wanted.max()
    again = [both.layers[number].name for number in looked_again(both.layers, len(both.layers) - 2)]
    assert again == [before[number].name for number in looked_again(model.layers, len(before))]


def test_looks_leave_out_what_lies_between_the_picture_and_their_scores() -> None:
    front, pool, codebook, quick = random_cascade(5).layers[:4]
    _, sums = random_quick(9, 81, classes=12)
    assert isinstance(sums, CodeSum)
    hidden = (replace(sums, name="hidden", sum_bits=8), Requant("levels", 3, 8))
    scores = Dense("scores", 16, np.arange(120, dtype=np.int32).reshape(12, 10), np.zeros(10, np.int32))
    ends = (Exit("doubt", 9, "scores"), Looks("looks", "front", CROSS), ArgMax("digit"))
    layers = (front, pool, codebook, quick, Exit("sure", 30, "codes"), *hidden, scores, *ends)
    model = IntegerModel("shared", 1, layers)
    assert [layers[number].name for number in looked_again(layers, len(layers) - 2)] == [
        *("front", "front_pool", "codes", "hidden", "levels", "scores")
    ]
    alone = IntegerModel("alone", 1, (front, pool, codebook, *hidden, scores, ArgMax("digit")))
    shifts = ((0, 0), *CROSS)
    wanted = sum(run(alone, move(PICTURES.astype(np.int64), *shift).astype(np.uint8)).scores for shift in shifts)
    assert (trace(model, PICTURES)["looks"] == wanted).all()


def test_looks_that_cannot_be_had_are_refused() -> None:
    layers = with_looks(two_nets(3), 30).layers
    *before, exit_, looks, digit = layers
    assert isinstance(exit_, Exit)
    assert isinstance(looks, Looks)
    cases = {
        r"layer looks: shifts must be one or more pairs of -1, 0 or 1, got \(\(2, 0\),\)": (replace(looks, shifts=((2, 0),)),),
        r"layer looks: shifts must be one or more pairs of -1, 0 or 1, got \(\)": (replace(looks, shifts=()),),
        r"layer looks: again must be the layer that takes the picture, 'fine', got 'conv1'": (replace(looks, again="conv1"),),
        r"layer looks: again must be the layer that takes the picture, 'fine', got 'front'": (replace(looks, again="front"),),
        r"layer late: adds to scores, and 'surest' has none": (Exit("second", 3, exit_.name), replace(looks, name="late")),
        r"layer late: source 'conv1' is another in each look; name 'picture'": (looks, Exit("late", 3, "conv1")),
    }
    for message, end in cases.items():
        with pytest.raises(SpecError, match=message):
            IntegerModel("bad", 1, (*before, exit_, *end, digit))
    with pytest.raises(SpecError, match=r"layer looks: adds to the newest scores; .* not 'quick', as source"):
        IntegerModel("bad", 1, (*before, replace(exit_, source="quick"), looks, digit))
    with pytest.raises(SpecError, match=r"layer looks: Looks takes scores, got shape \(5, 6, 8\)"):
        IntegerModel("bad", 1, (*before[:7], looks, digit))
