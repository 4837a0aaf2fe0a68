"""Which back end suits a device and nets, and that all back ends do the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from tests.gpu_cases import assert_near, make_case, run_case
from zxml import data
from zxml.errors import DeviceError
from zxml.gpu import backends, device
from zxml.gpu.backends import BACKENDS, Choice, choose_backend, make_step
from zxml.gpu.float_net import float_accuracy, initial_float_params
from zxml.gpu.net import FloatSpec
from zxml.gpu.plain import upload
from zxml.gpu.schedule import constant_rates
from zxml.gpu.shuffle import Shuffler
from zxml.quant.params import Params
from zxml.spec import HiddenSpec, ModelSpec, TrainingSpec

SPEC = ModelSpec()


def fake(kind: int = cl.device_type.GPU, units: int = 132, memory: int = 49152, group: int = 1024) -> Any:
    return SimpleNamespace(type=kind, max_compute_units=units, local_mem_size=memory, max_work_group_size=group)


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the test on the device, which a fake has no groups for."""
    fits = backends.find_backend("persistent")
    known = tuple(
        replace(backend, why_not=lambda device, net: None if net.units <= device.max_compute_units else "too few units")
        if backend is fits
        else backend
        for backend in BACKENDS
    )
    monkeypatch.setattr(backends, "BACKENDS", known)


@pytest.mark.usefixtures("meeting")
@pytest.mark.parametrize(
    ("chosen", "models", "wanted"),
    [
        (fake(), 1, Choice("persistent")),
        (fake(units=20), 1, Choice("groups", "not persistent: too few units")),
        (fake(), 132, Choice("population")),
        (fake(cl.device_type.CPU), 1, Choice("tiles")),
        (fake(cl.device_type.CPU), 132, Choice("tiles")),
    ],
)
def test_device_and_number_of_nets_choose_the_back_end(chosen: Any, models: int, wanted: Choice) -> None:
    assert choose_backend(chosen, [SPEC] * models) == wanted


@pytest.mark.usefixtures("meeting")
def test_what_does_not_fit_is_told_and_something_else_is_taken() -> None:
    choice = choose_backend(fake(units=8, memory=32768), [SPEC, SPEC])
    assert choice.name == "groups"
    assert "not population: a group needs" in str(choice)
    wide = replace(SPEC, hidden=HiddenSpec(units=65))
    assert "at most 64 units" in str(choose_backend(fake(), [SPEC, wide]))
    assert choose_backend(fake(), [wide]).name == "persistent"
    assert choose_backend(fake(units=8, group=64), [SPEC]).name == "tiles"


@pytest.mark.parametrize("name", ["groups", "persistent", "population"])
def test_a_wanted_back_end_that_does_not_fit_is_an_error(name: str) -> None:
    with pytest.raises(DeviceError, match=f"--backend {name}: .*; leave it out"):
        choose_backend(fake(units=8, group=32), [SPEC], name)


def test_the_command_line_names_each_back_end() -> None:
    assert tuple(backend.name for backend in BACKENDS) == device.BACKENDS


@pytest.mark.parametrize("backend", ["tiles", "groups"])
@pytest.mark.parametrize(
    "spec",
    [
        FloatSpec(12, 8, True, units=20, batch=64),
        FloatSpec(16, 16, False, units=7, batch=32, optimiser="adam", learning_rate=0.01),
        ModelSpec(hidden=HiddenSpec(units=17), training=TrainingSpec(batch=64)),
    ],
    ids=["grey", "bits", "integer"],
)
def test_steps_in_two_launches_move_plain_nets_and_integer_nets_as_the_oracle_does(
    spec: ModelSpec | FloatSpec, backend: str
) -> None:
    case = make_case([spec], steps=2)
    params, losses = run_case(case, backend)
    assert_near(case, params, losses)


def train_plain(spec: FloatSpec, images: NDArray[np.uint8], labels: NDArray[np.uint8], epochs: int) -> Params:
    """Return the parameters of a plain net after some epochs on the back end that suits the device."""
    queue, steps = cl.CommandQueue(cl.Context([device.choose()])), len(labels) // spec.batch
    rows, greys = upload(queue, spec, images)
    choice = choose_backend(queue.device, [spec], None)
    assert str(choice) in device.BACKENDS
    step = make_step(choice, queue, [spec], rows, labels, steps, greys)
    step.write_params(initial_float_params(spec))
    shuffler = Shuffler(queue, len(labels), steps * spec.batch, [spec.seed])
    for epoch in range(epochs):
        shuffler.fill(epoch, step.buffers["order"])
        step.start_epoch(None, constant_rates(spec.optimiser, spec.learning_rate, epoch * steps, steps))
        step.run(steps)
    return step.read_params()


def test_a_plain_net_learns_the_digits_with_the_same_bits_each_time() -> None:
    whole = data.load("mnist")
    images = whole.train_images[:6000, 6:22, 6:22]
    spec = FloatSpec(16, 16, False, batch=64, learning_rate=0.1)
    first, again = (train_plain(spec, images, whole.train_labels[:6000], 2) for _ in range(2))
    assert float_accuracy(first, spec, images[:1000], whole.train_labels[:1000]) > 0.8
    np.testing.assert_array_equal(first.hidden, again.hidden)
