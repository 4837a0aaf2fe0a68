"""Our own back ends as engines of the training benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl

from zxml import reference
from zxml.data import Dataset, pack_rows
from zxml.gpu.backends import choose_backend, make_step
from zxml.gpu.distort import Distorter
from zxml.gpu.float_net import float_accuracy, initial_float_params
from zxml.gpu.net import FloatSpec
from zxml.gpu.nets.oracle import measure_accuracy
from zxml.gpu.nets.shape import NetShape
from zxml.gpu.nets.train import train_net
from zxml.gpu.plain import upload
from zxml.gpu.population import PopulationStep
from zxml.gpu.schedule import constant_rates, step_rates
from zxml.gpu.shuffle import Shuffler
from zxml.peers.peer import BenchData, Report, Score, time_epochs
from zxml.quant.export import export
from zxml.quant.params import initial_params
from zxml.spec import ModelSpec, default_spec_path, read_spec


def train_ours(shape: NetShape, data: BenchData, epochs: int, seed: int, device: Any, report: Report) -> Score:
    """Train one net with the back end that suits the device."""
    if len(shape.hidden) == 1:
        return train_many_ours(1, shape, data, epochs, seed, device, report)
    weights = np.uint32(1) << np.arange(shape.cols, dtype=np.uint32)
    rows = (data.pixels.reshape(-1, shape.rows, shape.cols) * weights).sum(axis=2, dtype=np.uint32)
    trained = train_net(shape, rows, data.labels, device, epochs, seed, report=report)
    ms = float(np.median(trained.ms[1:] or trained.ms))
    return Score(ms, measure_accuracy(shape, trained.params, data.test_pixels, data.test_labels))


def train_many_ours(
    models: int, shape: NetShape, data: BenchData, epochs: int, seed: int, device: Any, report: Report
) -> Score:
    """Train so many nets of one hidden layer at once; the time is a model's, the accuracy the first's."""
    spec = _float_spec(shape, seed)
    specs = [replace(spec, seed=seed + model) for model in range(models)]
    pictures, test_pictures = (pixels.reshape(-1, shape.rows, shape.cols) for pixels in (data.pixels, data.test_pixels))
    queue = cl.CommandQueue(cl.Context([device]))
    steps = len(data.labels) // shape.batch
    rows, _ = upload(queue, spec, pictures)
    step = make_step(choose_backend(device, specs), queue, specs, rows, data.labels, steps)
    if isinstance(step, PopulationStep):
        step.write_all([initial_float_params(one) for one in specs])
    else:
        step.write_params(initial_float_params(spec))
    shuffler = Shuffler(queue, len(data.labels), steps * shape.batch, [one.seed for one in specs])
    ms = _time(step, shuffler, epochs, report, lambda epoch: constant_rates("sgd", shape.rate, epoch * steps, steps))
    return Score(ms / models, float_accuracy(step.read_params(), spec, test_pictures, data.test_labels))


def train_product(dataset: Dataset, integer: bool, epochs: int, device: Any, report: Report) -> Score:
    """Train the product's net: integer-aware on pictures distorted anew each epoch, or the same step in plain numbers."""
    spec = read_spec(default_spec_path("mnist"))
    window, training = spec.input, spec.training
    plain = _plain(spec)
    queue = cl.CommandQueue(cl.Context([device]))
    steps = len(dataset.train_labels) // training.batch
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    rows = cl.Buffer(queue.context, flags, hostbuf=pack_rows(dataset.train_images, window))
    trained: ModelSpec | FloatSpec = spec if integer else plain
    step = make_step(choose_backend(device, [trained]), queue, [trained], rows, dataset.train_labels, steps)
    step.write_params(initial_params(spec) if integer else initial_float_params(plain))
    distorter = Distorter(queue, dataset.train_images, window, spec.distort, spec.seed) if integer else None

    def rates(epoch: int) -> Any:
        if distorter:
            distorter.fill(epoch, rows)
        return step_rates(training, epoch * steps, steps, epochs * steps)

    ms = _time(step, Shuffler(queue, len(dataset.train_labels), steps * training.batch, [spec.seed]), epochs, report, rates)
    params = step.read_params()
    if not integer:
        images = dataset.test_images[:, window.top : window.top + window.rows, window.left : window.left + window.cols]
        return Score(ms, float_accuracy(params, plain, images, dataset.test_labels))
    digits = reference.run(export(params, spec), dataset.test_images).digits
    return Score(ms, float((digits == dataset.test_labels).mean()))


def _time(step: Any, shuffler: Shuffler, epochs: int, report: Report, rates: Callable[[int], Any]) -> float:
    """Return the median time in ms of an epoch of a step's, at rates (steps, 4)."""

    def learn(epoch: int) -> None:
        shuffler.fill(epoch, step.buffers["order"])
        table = rates(epoch)
        step.start_epoch(None, table)
        step.run(len(table))

    return time_epochs(learn, epochs, report)


def _float_spec(shape: NetShape, seed: int) -> FloatSpec:
    return FloatSpec(
        shape.rows, shape.cols, False, shape.hidden[0], shape.classes, shape.batch, "sgd", shape.rate, shape.momentum, seed
    )


def _plain(spec: ModelSpec) -> FloatSpec:
    """Return a spec's net and training in plain numbers."""
    training = spec.training
    return FloatSpec(
        rows=spec.input.rows,
        cols=spec.input.cols,
        grey=False,
        units=spec.hidden.units,
        classes=spec.output.units,
        batch=training.batch,
        optimiser=training.optimiser,
        learning_rate=training.learning_rate,
        momentum=training.momentum,
        seed=spec.seed,
    )
