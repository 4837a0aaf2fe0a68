"""The fake-quantised net against the reference, its gradients against numeric differences, and the export."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zxml import reference
from zxml.errors import SpecError
from zxml.ir import Dense, IntegerModel, PatchSum
from zxml.quant.export import export
from zxml.quant.fake import forward, loss_and_gradients, range_penalty
from zxml.quant.params import Params, initial_params, param_limits
from zxml.spec import HiddenSpec, InputSpec, ModelSpec, OutputSpec

TINY = ModelSpec(
    input=InputSpec(3, 5, 4, 6),
    hidden=HiddenSpec(units=5, shift=2, levels=3),
    output=OutputSpec(units=4),
)


def pictures(count: int, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random((count, 28, 28)) < 0.3).astype(np.uint8)


def pixels_of(images: np.ndarray, spec: ModelSpec) -> np.ndarray:
    window = spec.input
    cut = images[:, window.top : window.top + window.rows, window.left : window.left + window.cols]
    return cut.reshape(len(images), -1).astype(np.float64)


specs = st.builds(
    lambda rows, cols, units, bits, shift, levels, seed: replace(
        TINY,
        seed=seed,
        input=InputSpec(1, 2, rows, cols),
        hidden=HiddenSpec(units=units, weight_bits=bits, shift=shift, levels=levels, sum_bits=16),
    ),
    *(st.integers(1, 9), st.integers(1, 9), st.integers(1, 20), st.integers(2, 8)),
    *(st.integers(0, 6), st.integers(1, 9), st.integers(0, 1000)),
)


@settings(deadline=None, max_examples=40)
@given(specs)
def test_the_forward_pass_is_the_reference_up_to_one_amount_for_all_scores(spec: ModelSpec) -> None:
    params = initial_params(spec)
    params = replace(params, hidden_bias=params.hidden_bias + 3.3, output_bias=np.arange(4.0) - 1.4)
    images = pictures(20, spec.seed)
    run = forward(params, pixels_of(images, spec), spec)
    wanted = reference.trace(export(params, spec), images)
    np.testing.assert_array_equal(run.sums, wanted["hidden"])
    np.testing.assert_array_equal(run.levels, wanted["levels"])
    moved = wanted["scores"] - run.scores
    np.testing.assert_array_equal(moved, np.broadcast_to(moved[:, :1], moved.shape))


@settings(deadline=None, max_examples=40)
@given(specs)
def test_an_exported_model_keeps_the_shapes_and_ranges_of_its_spec(spec: ModelSpec) -> None:
    model = export(initial_params(spec), spec)
    hidden, output = model.layers[0], model.layers[2]
    assert isinstance(hidden, PatchSum)
    assert isinstance(output, Dense)
    assert hidden.table.shape == (spec.input.rows * spec.input.cols, 2, spec.hidden.units)
    assert not hidden.table[:, 0].any()
    assert np.abs(hidden.table).max() < 1 << (spec.hidden.weight_bits - 1)
    assert (output.weight.min(axis=1) == 0).all()
    assert output.bias.min() == 0
    assert output.weight.max() <= 2 * ((1 << (spec.output.weight_bits - 1)) - 1)


@given(st.integers(-16383, 16383))
def test_a_hidden_bias_is_exported_modulo_256(bias: int) -> None:
    params = replace(initial_params(TINY), hidden_bias=np.full(5, float(bias)))
    hidden = export(params, TINY).layers[0]
    assert isinstance(hidden, PatchSum)
    assert ((hidden.bias - bias) % 256 == 0).all()
    assert ((hidden.bias >= -128) & (hidden.bias <= 127)).all()


@pytest.mark.parametrize("weight", [9.0, np.nan])
def test_a_weight_outside_its_bits_is_not_exported(weight: float) -> None:
    params = initial_params(TINY)
    params.hidden[2, 3] = weight
    with pytest.raises(SpecError, match=r"hidden must lie within \+-7"):
        export(params, TINY)


def test_scores_that_could_wrap_are_not_exported() -> None:
    spec = replace(
        TINY, hidden=HiddenSpec(units=255, levels=255, shift=0, sum_bits=16), output=OutputSpec(weight_bits=8, weight_step=0.01)
    )
    with pytest.raises(SpecError, match=r"scores may reach .* which 16 bits cannot hold"):
        export(initial_params(spec), spec)


def test_half_way_weights_round_to_even() -> None:
    params = initial_params(TINY)
    params.hidden[:4, 0] = [0.5, 1.5, -0.5, -2.5]
    model: IntegerModel = export(params, TINY)
    assert isinstance(model.layers[0], PatchSum)
    assert model.layers[0].table[:4, 1, 0].tolist() == [0, 2, 0, -2]


@pytest.mark.parametrize("name", ["hidden", "hidden_bias", "output", "output_bias", "temperature"])
def test_the_gradients_of_the_soft_net_are_its_numeric_differences(name: str) -> None:
    spec = replace(TINY, hidden=replace(TINY.hidden, sum_bits=8, shift=5, levels=2))
    params = initial_params(spec)
    params = replace(params, hidden=params.hidden * 4, hidden_bias=np.array([-110.0, 130.0, 15.3, 20.7, 4.1]))
    pixels, labels = pixels_of(pictures(32), spec), np.arange(32) % 4
    loss, gradients = loss_and_gradients(params, pixels, labels, spec, soft=True)
    assert range_penalty(forward(params, pixels, spec, soft=True).sums, spec)[0] > 0
    for place in list(np.ndindex(getattr(params, name).shape))[:12]:
        ends = [_loss_with(params, name, place, offset, pixels, labels, spec) for offset in (-1e-5, 1e-5)]
        assert (ends[1] - ends[0]) / 2e-5 == pytest.approx(getattr(gradients, name)[place], rel=1e-4, abs=1e-8)
    assert loss > 0


def _loss_with(
    params: Params,
    name: str,
    place: tuple[int, ...],
    offset: float,
    pixels: np.ndarray,
    labels: np.ndarray,
    spec: ModelSpec,
) -> float:
    values = getattr(params, name).copy()
    values[place] += offset
    return loss_and_gradients(replace(params, **{name: values}), pixels, labels, spec, soft=True)[0]


def test_sums_within_their_range_cost_nothing_and_others_are_pushed_back() -> None:
    penalty, push = range_penalty(np.array([[112.0, -112.0, 0.0]]), TINY)
    assert penalty == 0
    assert not push.any()
    penalty, push = range_penalty(np.array([[128.0, -128.0, 0.0]]), TINY)
    assert penalty == pytest.approx(2 * (0.12 + 0.12**2))
    assert push[0].tolist() == [pytest.approx(1.24 / 128), pytest.approx(-1.24 / 128), 0]


def test_a_seed_gives_one_start_and_another_seed_another() -> None:
    start, again, other = (initial_params(replace(TINY, seed=seed)) for seed in (7, 7, 8))
    assert np.array_equal(start.hidden, again.hidden)
    assert not np.array_equal(start.hidden, other.hidden)
    assert all(np.abs(array).max() <= param_limits(TINY)[name] for name, array in start.items())
