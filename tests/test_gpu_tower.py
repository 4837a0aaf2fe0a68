"""Towers: where they start, that they learn, that the integer model is what the device computed, and when a cascade answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.feature_nets import random_cascade, two_nets, with_looks
from tests.ops import WHOLE, draw_pictures
from zxml import reference
from zxml.data import pack_rows
from zxml.gpu import oracle
from zxml.gpu.schedule import step_rates
from zxml.gpu.tower import Tower
from zxml.ir import ArgMax, Exit, IntegerModel
from zxml.quant.cascade import GREATEST_GAP, choose_gaps, largest_gap, score_gaps, take_doubted
from zxml.quant.tower import initial_tower, map_shapes
from zxml.spec import ConvSpec, HiddenSpec, InputSpec, ModelSpec, TowerSpec, TrainingSpec

WINDOW = InputSpec(4, 6, 13, 12)
CODES = TowerSpec(WINDOW, codes=3)
CONVS = TowerSpec(InputSpec(3, 4, 17, 18), convs=(ConvSpec(8, pool=True), ConvSpec(16, weight_bits=2, weight_step=0.25)))
STRIDE = TowerSpec(WINDOW, convs=(ConvSpec(8, stride=2),), hidden=HiddenSpec(units=9, levels=1))
HIDDEN = TowerSpec(WINDOW, filters=16, hidden=HiddenSpec(units=13, levels=8))
LEVELS = TowerSpec(
    InputSpec(3, 4, 18, 18),
    levels=2,
    convs=(ConvSpec(8, 1, 2, 0.25, True, 2), ConvSpec(8, 1, 2, 0.25, levels=2)),
)
NETS = {"codes": CODES, "convs": CONVS, "stride": STRIDE, "hidden": HIDDEN, "levels": LEVELS}
TOWERS = pytest.mark.parametrize("tower", NETS.values(), ids=NETS)
BATCH = 32


def classes_apart(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures (count, 28, 28) of three strokes with a little noise, and which stroke each has."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, count).astype(np.uint8)
    strokes = np.zeros((3, 28, 28), np.uint8)
    strokes[0, 9:11, 7:17], strokes[1, 5:16, 11:13] = 1, 1
    strokes[2, 5:16, 6:18] = np.eye(11, 12, dtype=np.uint8) | np.eye(11, 12, 1, dtype=np.uint8)
    return strokes[labels] ^ (rng.random((count, 28, 28)) < 0.01).astype(np.uint8), labels


def start(queue: Any, tower: TowerSpec, pictures: np.ndarray, labels: np.ndarray, rate: float, steps: int) -> Tower:
    """Return a tower whose next steps all see the first pictures, in order."""
    spec = ModelSpec(towers=(tower,), training=TrainingSpec(batch=BATCH, learning_rate=rate, range_penalty=1.0))
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    made = Tower(queue, spec, 0, cl.Buffer(queue.context, flags, hostbuf=pack_rows(pictures, WHOLE)), labels, steps)
    order = np.tile(np.arange(BATCH, dtype=np.uint32), (steps, 1))
    made.start_epoch(order, step_rates(spec.training, 0, steps, steps + 1))
    return made


@pytest.mark.parametrize("tower", [CODES, STRIDE, HIDDEN, LEVELS], ids=["codes", "stride", "hidden", "levels"])
def test_a_tower_learns_strokes_and_its_integer_model_knows_them(queue: Any, tower: TowerSpec) -> None:
    pictures, labels = classes_apart(BATCH, 1)
    made = start(queue, tower, pictures, labels, 0.05, 40)
    losses = [0.0]
    for _ in range(2):
        made.run(20)
        losses.append(made.loss_sum())
    assert losses[2] - losses[1] < 0.3 * losses[1]
    model = IntegerModel("tower", 0, (*made.layers(), ArgMax("digit")))
    assert (reference.run(model, pictures).digits == labels).mean() > 0.9


def test_a_tower_learns_strokes_while_it_does_without_some_of_what_its_scores_see(queue: Any) -> None:
    pictures, labels = classes_apart(BATCH, 1)
    towers = [start(queue, replace(LEVELS, dropout=part), pictures, labels, 0.05, 100) for part in (0.0, 0.25)]
    for made in towers:
        made.run(100)
    assert towers[1].loss_sum() > 1.2 * towers[0].loss_sum()
    model = IntegerModel("tower", 0, (*towers[1].layers(), ArgMax("digit")))
    assert (reference.run(model, pictures).digits == labels).mean() > 0.9


@TOWERS
def test_the_integer_model_computes_what_the_device_did(queue: Any, tower: TowerSpec) -> None:
    pictures, labels = draw_pictures(2, BATCH), (np.arange(BATCH) % 10).astype(np.uint8)
    made = start(queue, tower, pictures, labels, 0.0, 1)  # without a rate, the running averages are the batch's own
    made.run(1)
    model = IntegerModel("tower", 0, (*made.layers(), ArgMax("digit")))
    values = reference.trace(model, pictures)
    for number, (conv, norm) in enumerate(zip(tower.convs, made.norms, strict=True), 1):
        bits = made.space.read(norm.map, BATCH, *norm.shape)
        step = "pool" if conv.pool else "levels" if conv.levels > 1 else "bits"
        np.testing.assert_array_equal(bits, values[f"conv{number}_{step}"])
        assert 0.05 < bits.mean() < 0.95 * conv.levels
    scores = values["scores"].astype(np.float64)  # all of a picture moved by one amount, which no cross-entropy sees
    assert made.loss_sum() == pytest.approx(oracle.cross_entropy(scores, labels, tower.weight_step, 0.0) / BATCH, rel=1e-5)


@pytest.mark.parametrize("tower", [CODES, HIDDEN], ids=["codes", "hidden"])
def test_a_tower_in_training_is_as_far_ahead_of_itself_as_its_integer_model(queue: Any, tower: TowerSpec) -> None:
    pictures, labels = classes_apart(3 * BATCH, 4)
    made = start(queue, tower, pictures, labels, 0.05, 5)
    made.run(5)
    order = np.random.default_rng(5).permutation(3 * BATCH).astype(np.uint32)
    model = IntegerModel("tower", 0, (*made.layers(), ArgMax("digit")))
    expected = score_gaps(reference.trace(model, pictures, wrapping=False)["scores"][order])
    np.testing.assert_array_equal(score_gaps(made.score(order.reshape(3, BATCH))), expected)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 50))
def test_what_is_doubted_is_taken_with_as_many_others_in_their_order(gaps: list[int], percent: int) -> None:
    order, values = np.arange(len(gaps), dtype=np.uint32)[::-1] + 7, np.array(gaps, np.int64)
    taken = take_doubted(order, values, percent / 100)
    count = int(percent / 100 * len(gaps))
    assert len(taken) == 2 * count
    assert (np.diff(taken.astype(np.int64)) < 0).all(), "in their order"
    of_each = dict(zip(order.tolist(), gaps, strict=True))
    assert sorted(of_each[each] for each in taken.tolist())[:count] == sorted(gaps)[:count]


@TOWERS
def test_a_tower_starts_with_parameters_of_its_shapes_within_their_limits(tower: TowerSpec) -> None:
    params = initial_tower(tower, np.random.default_rng(3))
    shapes = {name: param.values.shape for name, param in params.items()}
    assert (shapes["front.linear"], shapes["front.free"]) == ((9, tower.filters), (512, tower.filters))
    assert shapes.get("codes.choice", (256, 0)) == (256, tower.codes)
    assert shapes["scores.weight"] == (tower.hidden.units or int(np.prod(map_shapes(tower)[-1])), 10)
    for number, (conv, shape) in enumerate(zip(tower.convs, map_shapes(tower), strict=False), 1):
        assert shapes[f"conv{number}.weight"] == (3, 3, shape[2], conv.units)
    assert all(np.abs(param.values).max() <= param.limit for param in params.values())
    again = initial_tower(tower, np.random.default_rng(3))
    assert all(np.array_equal(param.values, again[name].values) for name, param in params.items())


def test_maps_shrink_by_windows_strides_and_pools() -> None:
    tower = TowerSpec(InputSpec(0, 0, 28, 20), convs=(ConvSpec(8, pool=True), ConvSpec(16, stride=2)))
    assert map_shapes(tower) == [(13, 9, 8), (6, 4, 8), (2, 1, 16)]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(0, 31), st.integers(0, 31))
def test_the_largest_gap_lets_so_many_go_on_and_no_larger_one_does(gaps: list[int], most: int, more: int) -> None:
    values = np.array(gaps)
    found = largest_gap(values, most)
    assert (values < found).sum() <= most
    assert found == GREATEST_GAP or (values <= found).sum() > most
    assert largest_gap(values, most + more) >= found


def test_the_gap_of_scores_is_between_the_two_greatest() -> None:
    assert score_gaps(np.array([[3, 9, 4], [7, 7, 1]])).tolist() == [5, 0]


def test_each_exit_keeps_the_share_of_all_pictures_that_go_on() -> None:
    pictures, first = draw_pictures(6, 200), random_cascade(7)
    sharper = (replace(layer, name=f"more_{layer.name}") for layer in random_cascade(8, units=(8,)).layers[-4:])
    check_shares(IntegerModel("three", 0, (*first.layers[:-1], Exit("surer", 5, "front_pool"), *sharper)), pictures)


def test_the_exit_before_looks_keeps_the_share_of_all_pictures_that_take_them() -> None:
    check_shares(with_looks(two_nets(7), 0), draw_pictures(6, 200))


def check_shares(model: IntegerModel, pictures: NDArray[np.uint8]) -> None:
    """Compare the gaps of a model's two exits with the shares that they are chosen for."""
    values = list(reference.trace(model, pictures).values())
    exits = [number for number, layer in enumerate(model.layers) if isinstance(layer, Exit)]
    gaps = [score_gaps(values[number - 1]) for number in exits]
    last = 0
    for shares in ((0.0, 0.0), (0.2, 0.05), (0.5, 0.25), (1.0, 1.0)):
        chosen = choose_gaps(model, pictures, shares)
        found = [layer.gap for layer in chosen.layers if isinstance(layer, Exit)]
        going = gaps[0] < found[0]
        assert going.sum() <= shares[0] * 200
        assert (going & (gaps[1] < found[1])).sum() <= shares[1] * 200
        assert found[0] >= last
        last = found[0]
    assert last == GREATEST_GAP
