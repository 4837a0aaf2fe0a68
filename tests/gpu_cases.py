"""Training steps on a device beside the same steps in the float64 oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.backends import Choice, make_step
from zxml.gpu.device import choose
from zxml.gpu.float_net import initial_float_params, to_reals
from zxml.gpu.host import HostTrainer
from zxml.gpu.net import FloatSpec, net_of
from zxml.gpu.plain import upload
from zxml.gpu.population import PopulationStep
from zxml.gpu.schedule import constant_rates, step_rates
from zxml.quant.params import Params, initial_params
from zxml.spec import ModelSpec

PICTURES = 300
TOLERANCE = 1e-4  # of how far the oracle moved


@dataclass(frozen=True, eq=False)
class Case:
    """Random pictures, nets that start on them, and what the oracle makes of each in some steps."""

    queue: Any
    specs: Sequence[Any]
    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    order: NDArray[np.uint32]  # (nets, steps, batch)
    rates: NDArray[np.float64]  # (nets, steps, 4)
    start: list[Params]
    wanted: list[Params]
    losses: list[float]

    def read_order(self, fill: Callable[[Any], None], size: int) -> NDArray[np.uint32]:
        """Return what `fill` writes to a buffer of so many numbers."""
        buffer, values = cl.Buffer(self.queue.context, cl.mem_flags.READ_WRITE, 4 * size), np.empty(size, np.uint32)
        fill(buffer)
        cl.enqueue_copy(self.queue, values, buffer)
        return values


def open_queue() -> Any:
    """Return a queue of the first device."""
    return cl.CommandQueue(cl.Context([choose()]))


def make_case(specs: Sequence[ModelSpec | FloatSpec], steps: int) -> Case:
    """Return a case of nets of one shape; only the last step moves integer nets, lest one side rounds a weight differently."""
    rng = np.random.default_rng(5)
    net = net_of(specs[0])
    images = (rng.random((PICTURES, net.rows, net.cols)) < 0.3).astype(np.uint8)
    images *= rng.integers(1, 256, images.shape, np.uint8) if net.grey else np.uint8(1)
    labels = rng.integers(0, net.classes, PICTURES).astype(np.uint8)
    order = rng.integers(0, PICTURES, (len(specs), steps, net.batch)).astype(np.uint32)
    start = [_start(spec) for spec in specs]
    rates = np.array([_rates(spec, steps) for spec in specs])
    hosts = [HostTrainer(spec, params) for spec, params in zip(specs, start, strict=True)]
    pixels = to_reals(FloatSpec(net.rows, net.cols, net.grey), images)
    losses = [
        sum(host.step(pixels[chosen], labels[chosen], rate) for chosen, rate in zip(*rows, strict=True))
        for host, *rows in zip(hosts, order, rates, strict=True)
    ]
    queue = open_queue()
    return Case(queue, specs, images, labels, order, rates, start, [host.params for host in hosts], losses)


def run_case(case: Case, backend: str) -> tuple[list[Params], list[float]]:
    """Return the device's parameters of each net, and its sums of losses; other back ends than population run the first net."""
    net = net_of(case.specs[0])
    rows, greys = upload(case.queue, FloatSpec(net.rows, net.cols, net.grey), case.images)
    steps = case.order.shape[1]
    step = make_step(Choice(backend), case.queue, case.specs, rows, case.labels, steps, greys)
    if isinstance(step, PopulationStep):
        step.write_all(case.start)
        step.start_epoch(case.order, case.rates)
        step.run(steps)
        return step.read_all(), step.losses().tolist()
    step.write_params(case.start[0])
    step.start_epoch(case.order[0], case.rates[0])
    step.run(steps)
    return [step.read_params()], [step.loss_sum()]


def assert_near(case: Case, params: list[Params], losses: list[float]) -> None:
    """Assert that nets came as near to the oracle's as float32 can."""
    np.testing.assert_allclose(losses, case.losses[: len(losses)], rtol=1e-5)
    for got, wanted, start in zip(params, case.wanted, case.start, strict=False):
        for (name, device), (_, host), (_, first) in zip(got.items(), wanted.items(), start.items(), strict=True):
            moved = np.linalg.norm(host - first)
            assert np.linalg.norm(device - host) <= TOLERANCE * moved, name
            assert moved > 0 or name == "temperature"


def _start(spec: ModelSpec | FloatSpec) -> Params:
    """Return initial parameters with biases of every sign."""
    plain = isinstance(spec, FloatSpec)
    params = initial_float_params(spec) if isinstance(spec, FloatSpec) else initial_params(spec)
    reach = 1.0 if plain else 15.0
    biases = (np.linspace(reach, -reach, len(params.hidden_bias)), np.linspace(-3, 3, len(params.output_bias)))
    hidden, output = (bias.astype(np.float32).astype(np.float64) for bias in biases)
    return replace(params, hidden_bias=hidden, output_bias=output)


def _rates(spec: ModelSpec | FloatSpec, steps: int) -> NDArray[np.float64]:
    if isinstance(spec, FloatSpec):
        return constant_rates(spec.optimiser, spec.learning_rate, 20, steps)
    rates = step_rates(replace(spec.training, learning_rate=0.1), 20, steps, 100)
    rates[:-1, [0, 2]] = 0
    return rates
