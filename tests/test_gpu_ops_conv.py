"""Operations on maps against the float64 oracle: convolutions, normalisation with activation and pooling, tables, codebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ops import BY_SAMPLE, assert_near, draw, draw_integers, draw_pictures, make_space, order_of, run, upload_pictures
from zxml.gpu import oracle
from zxml.gpu.ops.codebook import Codes
from zxml.gpu.ops.conv import Conv
from zxml.gpu.ops.norm import RELU, NormActivation
from zxml.gpu.ops.patch_conv import PatchConv
from zxml.ir import Window
from zxml.quant.params import Reals

MANY = settings(max_examples=30)
FIXED = 1 / 32768  # of the integer sums of gradients


@dataclass(frozen=True)
class ConvCase:
    batch: int
    rows: int
    cols: int
    channels: int
    units: int
    side: int = 3
    stride: int = 1
    quantised: bool = True
    seed: int = 0


conv_cases = st.builds(
    ConvCase,
    batch=st.integers(1, 37),
    rows=st.integers(3, 9),
    cols=st.integers(3, 9),
    channels=st.integers(1, 17),
    units=st.integers(1, 33),
    side=st.sampled_from([1, 3]),
    stride=st.integers(1, 2),
    quantised=st.booleans(),
    seed=st.integers(0, 99),
)


def check_conv(queue: Any, case: ConvCase, by_sample: bool) -> None:
    maps = np.maximum(draw(case.seed, (case.batch, case.rows, case.cols, case.channels)), 0)  # zeros are skipped
    weight = draw(case.seed + 1, (case.side, case.side, case.channels, case.units))
    used = np.rint(weight) if case.quantised else weight
    space = make_space(queue, case.batch, {"other": draw(0, (3,)), "conv.weight": weight}, by_sample=by_sample)
    taken = space.buffer(maps), space.zeros(*maps.shape)
    op = Conv(space, "conv", taken, maps.shape[1:], case.quantised, case.stride)
    wanted = oracle.conv(maps, used, case.stride)
    assert wanted.shape == (case.batch, *op.shape)
    grad = draw(case.seed + 2, wanted.shape)
    (sums, map_grad), grads = run(space, op.op, (op.sums_grad, grad), [(op.sums, wanted.shape), (taken[1], maps.shape)])
    wanted_map, wanted_weight = oracle.conv_grad(maps, used, grad, case.stride)
    assert_near(sums, wanted)
    assert_near(map_grad, wanted_map)
    assert_near(grads["conv.weight"], wanted_weight)
    assert not grads["other"].any()


@BY_SAMPLE
@pytest.mark.parametrize(
    "case",
    [
        ConvCase(37, 8, 5, 17, 33),
        ConvCase(2, 8, 7, 5, 17, stride=2, quantised=False),
        ConvCase(33, 1, 1, 67, 31, side=1),
    ],
)
def test_convolutions_of_any_shape_are_the_oracles(queue: Any, case: ConvCase, by_sample: bool) -> None:
    check_conv(queue, case, by_sample)


@pytest.mark.slow
@MANY
@given(case=conv_cases, by_sample=st.booleans())
def test_many_convolutions_are_the_oracles(queue: Any, case: ConvCase, by_sample: bool) -> None:
    check_conv(queue, case, by_sample)


@BY_SAMPLE
def test_a_convolution_of_pictures_leaves_out_the_gradient_that_nobody_wants(queue: Any, by_sample: bool) -> None:
    maps, weight = draw(0, (3, 4, 4, 1)), draw(1, (3, 3, 1, 2))
    space = make_space(queue, 3, {"conv.weight": weight}, by_sample=by_sample)
    op = Conv(space, "conv", (space.buffer(maps), None), (4, 4, 1), quantised=False)
    grad = draw(2, (3, 2, 2, 2))
    _, grads = run(space, op.op, (op.sums_grad, grad), [])
    assert_near(grads["conv.weight"], oracle.conv_grad(maps, weight, grad)[1])
    assert len(op.op.backward) == 2


@dataclass(frozen=True)
class NormCase:
    batch: int
    rows: int
    cols: int
    units: int
    levels: int
    pooled: bool = False
    scale: float = 0.0
    safe: float = 0.0
    quantised: bool = True
    whole: bool = True  # whole sums, so that some are equal
    seed: int = 0


norm_cases = st.builds(
    NormCase,
    batch=st.integers(1, 37),
    rows=st.integers(1, 7),
    cols=st.integers(1, 7),
    units=st.integers(1, 33),
    levels=st.sampled_from([RELU, 1, 2, 5, 8]),
    pooled=st.booleans(),
    scale=st.sampled_from([0.0, 0.0, 0.25, 1.0]),
    safe=st.sampled_from([0.0, 3.0]),
    quantised=st.booleans(),
    whole=st.booleans(),
    seed=st.integers(0, 99),
)


def check_norm(queue: Any, case: NormCase) -> None:
    shape = (case.batch, case.rows, case.cols, case.units)
    sums = draw_integers(case.seed, shape) if case.whole else draw(case.seed, shape)
    gain, shift = draw(case.seed + 1, (case.units,)), draw(case.seed + 2, (case.units,))
    space = make_space(queue, case.batch, {"other": draw(0, (3,)), "norm.gain": gain, "norm.shift": shift})
    taken = space.buffer(sums), space.zeros(*shape)
    op = NormActivation(space, "norm", taken, shape[1:], case.levels, case.pooled, case.safe, 0.7, case.scale, case.quantised)
    grad = draw(case.seed + 3, (case.batch, *op.shape))
    (out, sums_grad, stats), grads = run(
        space, op.op, (op.map_grad, grad), [(op.map, grad.shape), (taken[1], shape), (op.stats, (4, case.units))]
    )
    if case.scale:
        wanted = scaled(case, sums, shift, grad)
        assert not stats.any()
    else:
        normal = oracle.normalise(sums, gain, shift)
        wanted = normalised(case, normal, gain, shift, grad)
        assert_near(stats[2], normal.mean)
        assert_near(stats[3], normal.variance, 1e-4)
    wanted_out, wanted_sums, wanted_gain, wanted_shift = wanted
    assert_near(out, wanted_out, name="out")
    assert_near(sums_grad, wanted_sums, 1e-4, "sums")
    assert_near(grads["norm.gain"], wanted_gain, 1e-4, "gain")
    assert_near(grads["norm.shift"], wanted_shift, 1e-4, "shift")
    assert not grads["other"].any()


def through(case: NormCase, values: Reals, grad: Reals) -> tuple[Reals, Reals]:
    """Return the oracle's output of normalised values, and their gradient."""
    active = oracle.activate(values, case.levels, closed=bool(case.scale))
    if not case.pooled:
        return active, oracle.activate_grad(values, case.levels, grad)
    return oracle.pool(active), oracle.activate_grad(values, case.levels, oracle.pool_grad(active, grad))


def scaled(case: NormCase, sums: Reals, shift: Reals, grad: Reals) -> tuple[Reals, Reals, Reals, Reals]:
    away = sums + (np.rint(shift) if case.quantised else shift)
    out, slope = through(case, away * case.scale, grad)
    push = oracle.push_back(away, case.safe, 0.7)
    return out, slope * case.scale + push, np.zeros(case.units), slope.sum(axis=(0, 1, 2)) * case.scale


def normalised(
    case: NormCase, normal: oracle.Normal, gain: Reals, shift: Reals, grad: Reals
) -> tuple[Reals, Reals, Reals, Reals]:
    out, slope = through(case, normal.values, grad)
    by_sums, by_gain, by_shift = oracle.normalise_grad(normal, gain, slope)
    return out, by_sums + oracle.push_back(oracle.far_from_threshold(normal, gain, shift), case.safe, 0.7), by_gain, by_shift


@pytest.mark.parametrize(
    "case",
    [
        NormCase(37, 5, 3, 33, levels=1, pooled=True, safe=3.0),
        NormCase(2, 3, 5, 7, levels=RELU, pooled=True, whole=False),
        NormCase(3, 1, 1, 31, levels=8, scale=0.25, safe=3.0),
        NormCase(5, 3, 3, 1, levels=1, pooled=True, scale=0.5, safe=0.0),
        NormCase(4, 5, 2, 3, levels=RELU, pooled=True, scale=1.0, quantised=False, whole=False),
    ],
)
def test_normalisation_activation_and_pooling_of_any_shape_are_the_oracles(queue: Any, case: NormCase) -> None:
    check_norm(queue, case)


@pytest.mark.slow
@MANY
@given(case=norm_cases)
def test_many_normalisations_are_the_oracles(queue: Any, case: NormCase) -> None:
    check_norm(queue, case)


def test_running_averages_start_as_the_first_batchs_and_forget_slowly(queue: Any) -> None:
    batches = [draw(seed, (4, 1, 1, 3), 5.0) for seed in range(60)]
    space = make_space(queue, 4, {"norm.gain": np.ones(3), "norm.shift": np.zeros(3)})
    sums = space.zeros(4, 1, 1, 3)
    op = NormActivation(space, "norm", (sums, space.zeros(4, 1, 1, 3)), (1, 1, 3), levels=1, pooled=False)
    means, variances = np.zeros(3), np.zeros(3)
    for step, batch in enumerate(batches, 1):
        space.write(sums, batch)
        space.run(op.op.forward)
        part = 0.02 if step > 1 else 1.0
        means += (batch.mean(axis=(0, 1, 2)) - means) * part
        variances += (batch.var(axis=(0, 1, 2)) - variances) * part
        if step in (1, 2, 60):
            stats = space.read(op.stats, 4, 3)
            assert_near(stats[2].astype(np.float64), means)
            assert_near(stats[3].astype(np.float64), variances)


@dataclass(frozen=True)
class PatchCase:
    batch: int
    rows: int
    cols: int
    filters: int
    top: int = 0
    left: int = 0
    spare: float = 0.0
    levels: int = 1
    seed: int = 0


patch_cases = st.builds(
    PatchCase,
    batch=st.integers(1, 37),
    rows=st.integers(3, 20),
    cols=st.integers(3, 20),
    filters=st.sampled_from([8, 16]),
    levels=st.sampled_from([1, 2]),
    top=st.integers(0, 8),
    left=st.integers(0, 8),
    spare=st.sampled_from([0.0, 0.25]),
    seed=st.integers(0, 99),
)


def check_patch_conv(queue: Any, case: PatchCase) -> None:
    window, filters = Window(case.top, case.left, case.rows, case.cols), case.filters
    pictures = draw_pictures(case.seed, case.batch)
    linear, bias, free = draw(case.seed, (9, filters), 0.4), draw(1, (filters,), 0.4), draw(2, (512, filters), 0.4)
    space = make_space(queue, case.batch, {"front.linear": linear, "front.bias": bias, "front.free": free}, case.seed)
    op = PatchConv(space, "front", window, upload_pictures(space, pictures), case.spare, case.levels)
    patterns = oracle.window_patterns(pictures[order_of(case.batch, case.seed)], window)
    table = oracle.patch_table(linear, bias, free)
    features = oracle.patch_conv(patterns, table, case.levels)
    wanted = oracle.pool(features)
    assert wanted.shape == (case.batch, *op.shape)
    grad = draw(case.seed + 3, wanted.shape, 0.1)
    places = (case.batch, op.shape[0] * op.shape[1])
    (maps,), grads = run(space, op.op, (op.map_grad, grad), [(op.map, wanted.shape)])
    np.testing.assert_array_equal(maps, wanted)
    above = np.concatenate([wanted.reshape(*places, filters) > level for level in range(case.levels)], axis=2)
    words = (above * 2.0 ** np.arange(filters * case.levels)).sum(axis=2)
    np.testing.assert_array_equal(space.read(op.packed, *places, dtype=np.uint32), words)
    shares = oracle.pool_grad(features, grad + case.spare)
    names = ("front.linear", "front.bias", "front.free")
    rounding = FIXED * np.bincount(patterns.ravel(), minlength=512).max()
    for name, gradient in zip(names, oracle.patch_conv_grad(patterns, table, shares, case.levels), strict=True):
        np.testing.assert_allclose(grads[name], gradient, atol=rounding * (1 if name == "front.free" else 16), err_msg=name)


@pytest.mark.parametrize(
    "case",
    [
        PatchCase(37, 6, 9, 32, top=22, left=19, spare=0.25),
        PatchCase(2, 20, 20, 8, top=4, left=4),
        PatchCase(9, 8, 7, 16, top=9, left=11, spare=0.25, levels=2),
    ],
)
def test_tables_of_patterns_of_any_window_are_the_oracles(queue: Any, case: PatchCase) -> None:
    check_patch_conv(queue, case)


@pytest.mark.slow
@MANY
@given(case=patch_cases)
def test_many_tables_of_patterns_are_the_oracles(queue: Any, case: PatchCase) -> None:
    check_patch_conv(queue, case)


@dataclass(frozen=True)
class CodeCase:
    batch: int
    places: int
    codes: int
    width: int = 8
    seed: int = 0


code_cases = st.builds(
    CodeCase,
    batch=st.integers(1, 37),
    places=st.integers(1, 30),
    codes=st.integers(2, 15),
    width=st.sampled_from([8, 16]),
    seed=st.integers(0, 99),
)


def check_codebook(queue: Any, case: CodeCase) -> None:
    rng = np.random.default_rng(case.seed)
    octets = rng.integers(0, 256, (case.batch, case.places)) * (rng.random((case.batch, case.places)) < 0.8)
    octets = octets.astype(np.int64)
    choice = draw(case.seed, (256, case.codes), 0.7)
    space = make_space(queue, case.batch, {"codes.choice": choice})
    bits_grad = space.buffer(np.full((case.batch, case.places, case.width), 9.0))
    packed = space.buffer(octets + 512, np.uint32)
    op = Codes(space, "codes", packed, bits_grad, (1, case.places, case.width))
    grad = draw(case.seed + 3, (case.batch, 1, case.places, case.codes), 0.1)
    outputs = [(op.map, grad.shape), (bits_grad, (case.batch, case.places, case.width))]
    (maps, by_bits), grads = run(space, op.op, (op.map_grad, grad), outputs)
    np.testing.assert_array_equal(maps[:, 0], oracle.one_hot(oracle.codes(octets, choice), case.codes))
    wanted_bits, by_choice = oracle.codes_grad(octets, choice, grad[:, 0])
    assert_near(by_bits[..., :8], wanted_bits)
    assert not by_bits[..., 8:].any()
    np.testing.assert_allclose(grads["codes.choice"], by_choice, atol=FIXED * case.batch * case.places)
    np.testing.assert_array_equal(space.read(op.code, 256, dtype=np.uint8), oracle.codes(np.arange(256), choice))


@pytest.mark.parametrize(
    "case",
    [
        CodeCase(37, 30, 15),
        CodeCase(2, 3, 2, width=16),
    ],
)
def test_codebooks_of_any_size_are_the_oracles(queue: Any, case: CodeCase) -> None:
    check_codebook(queue, case)


@pytest.mark.slow
@MANY
@given(case=code_cases)
def test_many_codebooks_are_the_oracles(queue: Any, case: CodeCase) -> None:
    check_codebook(queue, case)
