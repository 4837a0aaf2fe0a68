"""The kernels of a training step against the float64 oracle."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from zxml.errors import DeviceError
from zxml.gpu import program
from zxml.gpu.device import SHAPES
from zxml.gpu.host import HostTrainer
from zxml.gpu.net import sums_fit_16_bits
from zxml.gpu.schedule import step_rates
from zxml.gpu.step import TrainingStep
from zxml.quant.params import Params, Reals, initial_params
from zxml.spec import HiddenSpec, InputSpec, ModelSpec, OutputSpec, TrainingSpec

PICTURES = 700


def make_spec(window: InputSpec, units: int, batch: int, optimiser: str, **changes: Any) -> ModelSpec:
    hidden = HiddenSpec(units=units, **{k: v for k, v in changes.items() if k in ("weight_bits", "shift", "levels")})
    output = OutputSpec(units=changes.get("classes", 10))
    decay = changes.get("weight_decay", 0.01)
    training = TrainingSpec(
        batch=batch, optimiser=optimiser, weight_decay=decay, range_penalty=changes.get("range_penalty", 1.0)
    )
    return ModelSpec(input=window, hidden=hidden, output=output, training=training)


def run_both(queue: Any, spec: ModelSpec, rates: Reals, params: Params, shape: str) -> tuple[Params, Params, float, float]:
    """Return the device's and the oracle's parameters after a step for each row of rates, and the sums of their losses."""
    steps = len(rates)
    rng = np.random.default_rng(5)
    window, batch = spec.input, spec.training.batch
    bits = rng.random((PICTURES, window.rows, window.cols)) < 0.3
    rows = (bits.astype(np.uint32) << np.arange(window.cols, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)
    labels = rng.integers(0, spec.output.units, PICTURES).astype(np.uint8)
    order = rng.integers(0, PICTURES, (steps, batch)).astype(np.uint32)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    step = TrainingStep(queue, spec, cl.Buffer(queue.context, flags, hostbuf=rows), labels, steps, shape)
    step.write_params(params)
    step.start_epoch(order, rates)
    step.run(steps)
    host = HostTrainer(spec, params)
    pixels = bits.reshape(PICTURES, -1).astype(np.float64)
    losses = [host.step(pixels[chosen], labels[chosen], rate) for chosen, rate in zip(order, rates, strict=True)]
    return step.read_params(), host.params, step.loss_sum(), sum(losses)


DEFAULT = InputSpec()
CASES = [
    (DEFAULT, 60, 128, "adam", {}),
    (DEFAULT, 60, 128, "sgd", {}),
    (DEFAULT, 1, 32, "adam", {}),
    (InputSpec(2, 3, 7, 5), 7, 32, "sgd", {"shift": 3}),
    (InputSpec(0, 0, 28, 28), 31, 64, "adam", {"shift": 4, "levels": 8}),
    (InputSpec(9, 9, 1, 1), 33, 96, "sgd", {"shift": 0}),
    (InputSpec(0, 5, 5, 21), 65, 160, "adam", {"classes": 23, "range_penalty": 0.0}),
    (DEFAULT, 255, 32, "sgd", {"weight_bits": 8, "weight_decay": 0.0}),
    (InputSpec(3, 3, 9, 17), 16, 224, "sgd", {"classes": 2, "weight_bits": 2, "levels": 255, "shift": 0}),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("window", "units", "batch", "optimiser", "changes"), CASES)
def test_steps_move_the_parameters_as_the_oracle_does(
    queue: Any, shape: str, window: InputSpec, units: int, batch: int, optimiser: str, changes: dict[str, Any]
) -> None:
    spec = make_spec(window, units, batch, optimiser, **changes)
    start = initial_params(spec)
    start = replace(start, hidden_bias=np.linspace(-15, 15, units), output_bias=np.linspace(-3, 3, spec.output.units))
    start = Params(*(np.asarray(array.astype(np.float32), np.float64) for _, array in start.items()))
    rates = step_rates(replace(spec.training, learning_rate=0.1), 20, 3, 100)  # steps far above what float32 cannot hold
    rates[:2, [0, 2]] = 0  # first only moments move, so that no weight can round to another integer on one side alone
    got, wanted, loss, wanted_loss = run_both(queue, spec, rates, start, shape)
    assert loss == pytest.approx(wanted_loss, rel=1e-5)
    for (name, device), (_, host), (_, first) in zip(got.items(), wanted.items(), start.items(), strict=True):
        moved = np.linalg.norm(host - first)
        assert moved > 0, name
        assert np.linalg.norm(device - host) <= 1e-4 * moved, name


def test_parameters_come_back_as_they_were_written(queue: Any) -> None:
    spec = make_spec(InputSpec(2, 3, 7, 5), 33, 32, "adam", classes=17)
    rows = cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, 4 * 7)
    step = TrainingStep(queue, spec, rows, np.zeros(1, np.uint8), 1)
    start = initial_params(spec)
    step.write_params(start)
    for (name, got), (_, wanted) in zip(step.read_params().items(), start.items(), strict=True):
        np.testing.assert_array_equal(got, wanted, err_msg=name)


@pytest.mark.parametrize(("rows", "cols", "bits", "fits"), [(20, 20, 4, True), (28, 28, 8, False), (20, 20, 8, False)])
def test_sums_take_16_bits_only_where_no_picture_can_exceed_them(rows: int, cols: int, bits: int, fits: bool) -> None:
    spec = make_spec(InputSpec(0, 0, rows, cols), 5, 32, "adam", weight_bits=bits)
    assert sums_fit_16_bits(spec) == fits


def test_a_kernel_that_does_not_build_is_an_error_with_the_drivers_log(queue: Any) -> None:
    with pytest.raises(DeviceError, match="cannot build the kernels"):
        program.build_source(queue.context, "kernel void broken(global float *x) { x[0] = unknown_name; }", {})


def test_the_rate_rises_then_falls_to_nothing() -> None:
    rates = step_rates(TrainingSpec(optimiser="sgd", learning_rate=0.5, warmup=0.1, weight_decay=0.2), 0, 1000, 1000)
    assert rates[:, 0].argmax() in range(80, 100)
    assert 0.45 < rates[:, 0].max() <= 0.5
    assert (np.diff(rates[100:, 0]) < 0).all()
    assert rates[-1, 0] < 1e-5
    np.testing.assert_allclose(rates[:, 2], rates[:, 0] * 0.2)


def test_adams_first_step_is_as_long_as_the_rate() -> None:
    training = TrainingSpec(learning_rate=0.01, warmup=0.0)
    rate, second, _, _ = step_rates(training, 0, 1, 10)[0]
    gradient = 3.0
    assert rate * 0.1 * gradient / np.sqrt(0.001 * gradient**2 * second) == pytest.approx(0.01)
