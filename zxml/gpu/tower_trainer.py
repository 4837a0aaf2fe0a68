"""Training of a cascade on a device: its towers one after another, then the gaps at which it answers early."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from zxml import reference
from zxml.data import Dataset, pack_rows
from zxml.errors import SpecError
from zxml.gpu.distort import Distorter
from zxml.gpu.schedule import step_rates
from zxml.gpu.tower import Tower
from zxml.ir import PICTURE, PICTURE_SIDE, ArgMax, Exit, IntegerModel, Layer
from zxml.quant.cascade import choose_gaps
from zxml.spec import InputSpec, ModelSpec

WHOLE = InputSpec(0, 0, PICTURE_SIDE, PICTURE_SIDE)
VALIDATIONS = 8  # of a tower, spread over its training; the last is at its end
STEPS_A_WAIT = 64  # steps between two looks at the keyboard


@dataclass(frozen=True)
class TowerProgress:
    """Where the training of a tower stands after an epoch.

    tower, towers and epoch count from 1; loss: mean of the epoch's; accuracy: of the tower alone on the validation pictures,
    when last measured; seconds_left: an estimate for this tower.
    """

    tower: int
    towers: int
    epoch: int
    epochs: int
    loss: float
    accuracy: float
    seconds_left: float


def train_cascade(spec: ModelSpec, dataset: Dataset, device: Any, report: Callable[[TowerProgress], None]) -> IntegerModel:
    """Train a cascade as its spec says and return it.

    device: as `zxml.gpu.device.choose` returns it; report: called after each epoch. The parameters of the last step count: with
    one-bit features they are better than averages, and the learning rate has come down to 0. The same spec, data and device
    give the same bits. The test pictures are not used.

    Raises SpecError if there are fewer training pictures than one batch or no validation pictures, DeviceError if the device's
    driver does not build the kernels.
    """
    steps = len(dataset.train_labels) // spec.training.batch
    if not steps or not len(dataset.validation_labels):
        raise SpecError(
            f"{spec.name}: needs {spec.training.batch} training pictures (a batch) and some for validation, got "
            f"{len(dataset.train_labels)} and {len(dataset.validation_labels)}; give more pictures or lower training.batch"
        )
    queue = cl.CommandQueue(cl.Context([device]))
    layers: list[Layer] = []
    for number in range(len(spec.towers)):
        if number:
            layers.append(Exit(f"sure{number}", 0, PICTURE))
        layers += _train_tower(spec, number, dataset, queue, report)
    model = IntegerModel(spec.name, spec.seed, (*layers, ArgMax("digit")))
    return choose_gaps(model, dataset.validation_images, spec.second_looks)


def _train_tower(
    spec: ModelSpec, number: int, dataset: Dataset, queue: Any, report: Callable[[TowerProgress], None]
) -> tuple[Layer, ...]:
    """Return the layers of a trained tower."""
    batch, epochs = spec.training.batch, spec.training.epochs
    steps, count = len(dataset.train_labels) // batch, len(dataset.train_labels)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    pictures = cl.Buffer(queue.context, flags, hostbuf=pack_rows(dataset.train_images, WHOLE))
    distorted = any(astuple(spec.distort))
    distorter = Distorter(queue, dataset.train_images, WHOLE, spec.distort, spec.seed) if distorted else None
    tower = Tower(queue, spec, number, pictures, dataset.train_labels, steps)
    shuffle = np.random.default_rng([spec.seed, 3, number])
    start, accuracy, name = time.monotonic(), 0.0, "" if number == 0 else f"t{number + 1}_"
    for epoch in range(1, epochs + 1):
        if distorter:
            distorter.fill(epoch, pictures)
        order = shuffle.permutation(count)[: steps * batch].reshape(steps, batch)
        tower.start_epoch(order.astype(np.uint32), step_rates(spec.training, (epoch - 1) * steps, steps, epochs * steps))
        for done in range(0, steps, STEPS_A_WAIT):
            tower.run(min(STEPS_A_WAIT, steps - done))
        if epoch % max(1, epochs // VALIDATIONS) == 0 or epoch == epochs:
            accuracy = measure(tower.layers(name), dataset)
        left = (time.monotonic() - start) / epoch * (epochs - epoch)
        report(TowerProgress(number + 1, len(spec.towers), epoch, epochs, tower.loss_sum() / steps, accuracy, left))
    return tower.layers(name)


def measure(layers: tuple[Layer, ...], dataset: Dataset) -> float:
    """Return the part of the validation pictures that a tower gets right without its early exit."""
    model = IntegerModel("tower", 0, (*layers, ArgMax("digit")))
    digits = reference.trace(model, dataset.validation_images)["digit"][:, 0]
    return float((digits == dataset.validation_labels).mean())
