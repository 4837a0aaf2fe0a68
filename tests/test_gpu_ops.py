"""Operations on vectors against the float64 oracle: dense layers, patches, losses, the optimiser; and a float net of all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zxml
from tests.ops import BY_SAMPLE, assert_near, draw, draw_pictures, make_space, order_of, run, upload_pictures
from zxml.gpu import oracle
from zxml.gpu.ops.conv import Conv
from zxml.gpu.ops.dense import Dense
from zxml.gpu.ops.dropout import Dropout
from zxml.gpu.ops.loss import loss
from zxml.gpu.ops.norm import RELU, NormActivation
from zxml.gpu.ops.optimiser import AVERAGE_STEPS, update
from zxml.gpu.ops.patch_sum import PatchSum
from zxml.gpu.ops.pixels import Pixels
from zxml.gpu.ops.workspace import Workspace
from zxml.gpu.schedule import step_rates
from zxml.ir import Window
from zxml.quant.params import Reals
from zxml.quant.tower import Param
from zxml.spec import TrainingSpec

MANY = settings(max_examples=30)
KERNELS = Path(zxml.__file__).parent / "gpu" / "kernels" / "ops"
PAGE = Path(__file__).parent.parent / "docs" / "operations.md"


@dataclass(frozen=True)
class DenseCase:
    batch: int
    inputs: int
    units: int
    quantised: bool = True
    seed: int = 0


dense_cases = st.builds(
    DenseCase, st.integers(1, 37), st.integers(1, 150), st.integers(1, 33), st.booleans(), st.integers(0, 99)
)


def check_dense(queue: Any, case: DenseCase, by_sample: bool) -> None:
    values = np.maximum(draw(case.seed, (case.batch, case.inputs)), 0)  # zeros are skipped
    weight = draw(case.seed + 1, (case.inputs, case.units))
    bias, grad = draw(case.seed + 2, (case.units,)), draw(case.seed + 3, (case.batch, case.units))
    space = make_space(queue, case.batch, {"d.bias": bias, "d.weight": weight}, by_sample=by_sample)
    taken = space.buffer(values), space.zeros(*values.shape)
    op = Dense(space, "d", taken, case.quantised)
    (scores, by_values), grads = run(space, op.op, (op.score_grad, grad), [(op.scores, grad.shape), (taken[1], values.shape)])
    used = [np.rint(array) if case.quantised else array for array in (weight, bias)]
    assert_near(scores, oracle.dense(values, *used))
    wanted_values, wanted_weight, _ = oracle.dense_grad(values, used[0], grad)
    assert_near(by_values, wanted_values)
    assert_near(grads["d.weight"], wanted_weight)


@BY_SAMPLE
@pytest.mark.parametrize("case", [DenseCase(37, 131, 10), DenseCase(1, 1, 1, quantised=False), DenseCase(3, 65, 33)])
def test_dense_layers_of_any_shape_are_the_oracles(queue: Any, case: DenseCase, by_sample: bool) -> None:
    check_dense(queue, case, by_sample)


@pytest.mark.slow
@MANY
@given(case=dense_cases, by_sample=st.booleans())
def test_many_dense_layers_are_the_oracles(queue: Any, case: DenseCase, by_sample: bool) -> None:
    check_dense(queue, case, by_sample)


@pytest.mark.parametrize(("part", "step"), [(0.25, 0), (0.9, 0), (0.5, 3)])
def test_dropout_leaves_out_a_part_of_values_and_gradients(queue: Any, part: float, step: int) -> None:
    batch, inputs = 70, 41
    values, grad = 1.0 + np.abs(draw(1, (batch, inputs))), 1.0 + np.abs(draw(2, (batch, inputs)))
    space = Workspace(queue, batch, step + 1, {"none": Param(np.zeros(1))})
    order = np.random.default_rng(3).integers(0, 60_000, (step + 1, batch)).astype(np.uint32)
    space.write(space.order, order, np.uint32)
    space.write(space.state, np.array([step]), np.uint32)
    taken = space.buffer(values), space.zeros(batch, inputs)
    op = Dropout(space, taken, inputs, part)
    outputs = [(op.map, values.shape), (taken[1], values.shape)]
    (kept, kept_grad), _ = run(space, op.op, (op.map_grad, grad), outputs)
    assert_near(kept, oracle.dropout(values, order[step], step, part))
    assert_near(kept_grad, oracle.dropout(grad, order[step], step, part))
    assert (kept == 0).mean() == pytest.approx(part, abs=0.04)


def test_dropout_draws_anew_for_each_picture_and_step() -> None:
    ones, pictures = np.ones((2, 2000)), np.arange(2, dtype=np.uint32)
    first, second = (oracle.dropout(ones, pictures, step, 0.5) > 0 for step in (0, 1))
    for one, other in [(first[0], first[1]), (first[0], second[0]), (first[0], second[1])]:
        assert (one == other).mean() == pytest.approx(0.5, abs=0.05)


@dataclass(frozen=True)
class PatchCase:
    batch: int
    patch: tuple[int, int]
    down: int
    across: int
    units: int
    biased: bool = True
    quantised: bool = True
    top: int = 0
    left: int = 0
    seed: int = 0


patch_cases = st.builds(
    PatchCase,
    batch=st.integers(1, 37),
    patch=st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (2, 4)]),
    down=st.integers(1, 10),
    across=st.integers(1, 5),
    units=st.integers(1, 70),
    biased=st.booleans(),
    quantised=st.booleans(),
    top=st.integers(0, 8),
    left=st.integers(0, 8),
    seed=st.integers(0, 99),
)


def check_patch_sum(queue: Any, case: PatchCase) -> None:
    (high, wide), patches = case.patch, case.down * case.across
    window = Window(case.top, case.left, case.down * high, case.across * wide)
    pictures = draw_pictures(case.seed, case.batch)
    rows, bias = draw(case.seed, (patches, (1 << high * wide) - 1, case.units)), draw(case.seed + 1, (case.units,))
    params = {"other": draw(0, (3,)), "p.rows": rows} | ({"p.bias": bias} if case.biased else {})
    space = make_space(queue, case.batch, params, case.seed)
    op = PatchSum(space, "p", window, case.patch, upload_pictures(space, pictures), case.quantised)
    grad = draw(case.seed + 2, (case.batch, 1, 1, case.units))
    (sums,), grads = run(space, op.op, (op.sums_grad, grad), [(op.sums, grad.shape)])
    picks = oracle.patch_patterns(pictures[order_of(case.batch, case.seed)], window, high, wide)
    used, start = (np.rint(rows), np.rint(bias)) if case.quantised else (rows, bias)
    assert_near(sums[:, 0, 0], oracle.row_sums(picks, used, start if case.biased else 0.0))
    assert_near(grads["p.rows"], oracle.row_sums_grad(picks, used, grad[:, 0, 0]))
    assert not grads["other"].any()


@pytest.mark.parametrize(
    "case",
    [
        PatchCase(37, (2, 2), 10, 10, 33, top=4, left=4),
        PatchCase(3, (1, 2), 7, 3, 10, biased=False, quantised=False, top=21, left=22),
        PatchCase(5, (1, 1), 28, 28, 65, biased=False),
        PatchCase(2, (2, 4), 2, 1, 1, quantised=False),
    ],
)
def test_sums_of_patches_of_any_window_are_the_oracles(queue: Any, case: PatchCase) -> None:
    check_patch_sum(queue, case)


@pytest.mark.slow
@MANY
@given(case=patch_cases)
def test_many_sums_of_patches_are_the_oracles(queue: Any, case: PatchCase) -> None:
    check_patch_sum(queue, case)


def test_pixels_are_the_window_of_the_batchs_pictures(queue: Any) -> None:
    pictures, window = draw_pictures(3, 5), Window(1, 9, 7, 19)
    space = make_space(queue, 5, {"any": np.zeros(1)}, 3)
    op = Pixels(space, window, upload_pictures(space, pictures))
    (maps,), _ = run(space, op.op, None, [(op.map, (5, *op.shape))])
    np.testing.assert_array_equal(maps, oracle.pixels(pictures[order_of(5, 3)], window))


@dataclass(frozen=True)
class LossCase:
    batch: int
    units: int
    squared: bool
    scale: float = 1.0
    temperature: float = 0.0
    seed: int = 0


loss_cases = st.builds(
    LossCase,
    batch=st.integers(1, 140),
    units=st.integers(2, 33),
    squared=st.booleans(),
    scale=st.sampled_from([0.125, 1.0]),
    temperature=st.sampled_from([-1.0, 0.0, 0.5]),
    seed=st.integers(0, 99),
)


def check_loss(queue: Any, case: LossCase) -> None:
    rng = np.random.default_rng(case.seed)
    labels = rng.integers(0, case.units, case.batch).astype(np.uint8)
    params = {"s.temperature": np.array([case.temperature]), "s.bias": np.zeros(case.units)}
    space = make_space(queue, case.batch, params, case.seed)
    scores = draw(case.seed, (case.batch, case.units), 5.0)
    pair = space.buffer(scores), space.zeros(*scores.shape)
    op = loss(space, "s", pair, space.buffer(labels, np.uint8), case.scale, case.squared)
    (by_scores,), grads = run(space, op, None, [(pair[1], scores.shape)])
    given = (scores, labels[order_of(case.batch, case.seed)], case.scale)
    if case.squared:
        cost, wanted, warmth = oracle.squared_error(*given), oracle.squared_error_grad(*given), 0.0
    else:
        cost = oracle.cross_entropy(*given, case.temperature)
        wanted, warmth = oracle.cross_entropy_grad(*given, case.temperature)
    assert_near(by_scores, wanted)
    assert_near(grads["s.bias"], wanted.sum(axis=0), 1e-4)
    assert_near(grads["s.temperature"], np.array([warmth]), 1e-4)
    assert_near(space.read(space.losses, 1).astype(np.float64), np.array([2 * cost]))  # `run` runs it twice


@pytest.mark.parametrize("case", [LossCase(37, 10, False, 0.125, 0.5), LossCase(131, 3, True, 0.125), LossCase(1, 33, False)])
def test_losses_are_the_oracles(queue: Any, case: LossCase) -> None:
    check_loss(queue, case)


@pytest.mark.slow
@MANY
@given(case=loss_cases)
def test_many_losses_are_the_oracles(queue: Any, case: LossCase) -> None:
    check_loss(queue, case)


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_steps_with_decay_limits_and_averages_are_the_oracles(queue: Any, optimiser: str) -> None:
    start, steps, batch = draw(1, (65,)), 4, 8
    space = Workspace(queue, batch, steps, {"a": Param(start[:40], 0.25, 2.5, decays=True), "b": Param(start[40:])})
    training = TrainingSpec(optimiser=optimiser, learning_rate=0.02, weight_decay=0.3, warmup=0.5)
    rates = step_rates(training, 0, steps, 2 * steps)
    space.write(space.rates, rates)
    op = update(space, optimiser, 0.9)
    moving = oracle.Moving(start, np.zeros(65), np.zeros(65), start)
    decays = np.repeat([1.0, 0.0], [40, 25])
    size, limit = np.repeat([0.25, 1.0], [40, 25]), np.repeat([2.5, np.inf], [40, 25])
    momentum = None if optimiser == "adam" else 0.9
    for step in range(steps):
        grads = draw(step + 2, (65,), 4.0)
        space.write(space.grads, grads)
        space.run(op.forward)
        moving = oracle.descend(moving, grads / batch, rates[step], size, limit, decays, momentum, 1 / AVERAGE_STEPS)
    assert (np.abs(moving.values) == 2.5).any()
    for buffer, wanted in ((space.params, moving.values), (space.first, moving.first), (space.average, moving.average)):
        assert_near(space.read(buffer, 65).astype(np.float64), wanted)
    assert space.read(space.state, 1, dtype=np.uint32)[0] == steps


def test_a_float_net_of_operations_has_the_gradients_of_its_loss(queue: Any) -> None:
    window, batch, labels = Window(6, 5, 9, 8), 6, np.array([0, 1, 2, 2, 1, 0], np.uint8)
    params = {
        **{"conv.weight": draw(1, (3, 3, 1, 5), 0.3), "conv.shift": draw(2, (5,), 0.3)},
        **{"s.weight": draw(3, (4 * 3 * 5, 3), 0.2), "s.bias": draw(4, (3,), 0.2), "s.temperature": np.zeros(1)},
    }
    pictures = draw_pictures(0, batch)
    space = make_space(queue, batch, params)
    pixels = Pixels(space, window, upload_pictures(space, pictures))
    conv = Conv(space, "conv", (pixels.map, None), pixels.shape, quantised=False)
    pair = conv.sums, conv.sums_grad
    relu = NormActivation(space, "conv", pair, conv.shape, RELU, pooled=True, scale=1.0, quantised=False)
    dense = Dense(space, "s", (relu.map, relu.map_grad), quantised=False)
    ends = loss(space, "s", (dense.scores, dense.score_grad), space.buffer(labels, np.uint8))
    ops = (pixels.op, conv.op, relu.op, dense.op, ends)
    space.run([launch for op in ops for launch in op.forward])
    space.run([launch for op in reversed(ops) for launch in op.backward])
    order = order_of(batch)
    seen, shown = oracle.pixels(pictures[order], window), labels[order]

    def cost(given: dict[str, Reals]) -> float:
        maps = oracle.pool(oracle.activate(oracle.conv(seen, given["conv.weight"]) + given["conv.shift"], 0))
        return oracle.cross_entropy(oracle.dense(maps.reshape(batch, -1), given["s.weight"], given["s.bias"]), shown, 1.0, 0.0)

    assert space.read(space.losses, 1)[0] == pytest.approx(cost(params), rel=1e-5)
    grads = space.named(space.grads)
    for name in ("conv.weight", "conv.shift", "s.weight", "s.bias"):
        for place in list(np.ndindex(params[name].shape))[::7]:
            moved = [{**params, name: params[name] + 1e-5 * sign * _unit(params[name].shape, place)} for sign in (-1, 1)]
            difference = (cost(moved[1]) - cost(moved[0])) / 2e-5
            assert grads[name][place] == pytest.approx(difference, rel=1e-3, abs=1e-5), (name, place)


def _unit(shape: tuple[int, ...], place: tuple[int, ...]) -> Reals:
    values = np.zeros(shape)
    values[place] = 1.0
    return values


def test_the_page_of_operations_lists_each_file_of_kernels() -> None:
    page = PAGE.read_text(encoding="utf-8")
    files = {path.name for path in KERNELS.glob("*.cl")}
    assert {name for name in files if f"`{name}`" not in page} == set()
    listed = {word.strip("`") for word in page.split() if word.startswith("`") and word.endswith(".cl`")}
    assert listed == files
