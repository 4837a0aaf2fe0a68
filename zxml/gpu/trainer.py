"""Training on a device: epochs, validation on the exact integers, and the best model so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

from zxml.data import Dataset, pack_rows
from zxml.errors import SpecError
from zxml.gpu.backends import Choice, choose_backend, make_step
from zxml.gpu.checkpoint import Arrays, fingerprint, run_epochs
from zxml.gpu.distort import Distorter
from zxml.gpu.inference import Answering, answering
from zxml.gpu.schedule import step_rates
from zxml.ir import IntegerModel
from zxml.quant.export import export
from zxml.quant.params import Params, initial_params
from zxml.spec import ModelSpec

STEPS_A_WAIT = 128  # steps between two looks at the keyboard
EARLY_VALIDATIONS = 20  # spread over the training; validation costs about as much as one or two epochs
LATE_EPOCHS = 20  # the last epochs are each validated: the learning rate is low, the best model is among them


@dataclass(frozen=True)
class Progress:
    """Where training stands after an epoch.

    epoch counts from 1; loss: mean of the epoch's; accuracy: the validation pictures last found right, of all, on the exact
    integer model; best: the greatest so far; seconds_left: an estimate.
    """

    epoch: int
    epochs: int
    loss: float
    accuracy: float
    best: float
    seconds_left: float


@dataclass(frozen=True, eq=False)
class Trained:
    """The best model on validation, its accuracy and epoch, the seconds it took, and whether Ctrl-C ended the training."""

    model: IntegerModel
    params: Params | None  # None for a cascade
    accuracy: float
    epoch: int
    seconds: float
    stopped: bool


def train(
    spec: ModelSpec,
    dataset: Dataset,
    device: Any,
    report: Callable[[Progress], None],
    checkpoint: Path | None = None,
    backend: Choice | None = None,
) -> Trained:
    """Train a net as its spec says and return the best of it; Ctrl-C keeps the best so far.

    device: as `zxml.gpu.device.choose` returns it; report: called after each epoch. The same spec, data and device give the
    same bits. The test pictures are not used. checkpoint: a file that keeps the state every few seconds; a training that was
    killed continues from it, to the same bits. It is removed at the end. backend: as `choose_backend` returns it, chosen by the
    device if None.

    Raises SpecError if there are fewer training pictures than one batch or no validation pictures, DeviceError if the device's
    driver does not build the kernels.
    """
    run = _Run(spec, dataset, device, backend or choose_backend(device, [spec]))
    word = fingerprint(spec, dataset, f"{device.name} {run.step.shape}") if checkpoint else ""
    return run.result(run_epochs(run, spec.training.epochs, report, checkpoint, word))


class _Run:
    """One training under way: the device's buffers, the best model so far, and the clock."""

    def __init__(self, spec: ModelSpec, dataset: Dataset, device: Any, backend: Choice) -> None:
        self.spec, self.dataset, self.start = spec, dataset, time.monotonic()
        self.steps = count_steps(spec, dataset)
        self.queue = cl.CommandQueue(cl.Context([device]))
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        packed = pack_rows(dataset.train_images, spec.input)
        self.pictures = cl.Buffer(self.queue.context, flags, hostbuf=packed)
        self.step = make_step(backend, self.queue, [spec], self.pictures, dataset.train_labels, self.steps)
        self.answers = answering(self.queue, dataset.validation_images)
        distorted = any(astuple(spec.distort))
        images, window = dataset.train_images, spec.input
        self.distorter = Distorter(self.queue, images, window, spec.distort, spec.seed) if distorted else None
        self.shuffle = np.random.default_rng([spec.seed, 1])
        self.epoch, self.resumed = 0, 0  # the last epoch done, and the one continued from
        self.loss = np.nan
        self.params = initial_params(spec)
        self.step.write_params(self.params)
        self.best_epoch, self.accuracy, self.best = 0, 0.0, -1.0
        self.first_epoch_done = 0.0

    def learn(self, epoch: int) -> None:
        """Run one epoch, counted from 1, and validate if it is time."""
        batch, epochs = self.spec.training.batch, self.spec.training.epochs
        if self.distorter:
            self.distorter.fill(epoch, self.pictures)
        order = self.shuffle.permutation(len(self.dataset.train_labels))[: self.steps * batch].reshape(self.steps, batch)
        rates = step_rates(self.spec.training, (epoch - 1) * self.steps, self.steps, epochs * self.steps)
        self.step.start_epoch(order.astype(np.uint32), rates)
        for done in range(0, self.steps, STEPS_A_WAIT):
            self.step.run(min(STEPS_A_WAIT, self.steps - done))
        self.epoch, self.loss = epoch, self.step.loss_sum() / self.steps
        if is_validated(epoch, epochs):
            self.validate(epoch)
        self.first_epoch_done = self.first_epoch_done or time.monotonic()

    def state(self) -> Arrays:
        """Return all that the rest of the training depends on."""
        best = {f"best_{name}": array for name, array in self.params.items()}
        counts = np.array([self.epoch, self.best_epoch, self.best, self.accuracy])
        return {"counts": counts, **best, **self.step.state()}

    def restore(self, arrays: Arrays | None) -> None:
        """Go on from what `state` returned; the shuffles of the epochs since the start are drawn again."""
        if arrays is None:
            return
        counts = arrays.pop("counts")
        self.epoch = self.resumed = int(counts[0])
        self.best_epoch, self.best, self.accuracy = int(counts[1]), float(counts[2]), float(counts[3])
        self.params = Params(**{name: arrays.pop(f"best_{name}") for name, _ in self.params.items()})
        self.step.restore(arrays)
        for _ in range(self.epoch):
            self.shuffle.permutation(len(self.dataset.train_labels))

    def validate(self, epoch: int) -> None:
        """Count the validation pictures that the exact integer model gets right; keep the model if none was better."""
        params = self.step.read_params()
        self.accuracy = measure(export(params, self.spec), self.answers, self.dataset)
        if self.accuracy >= self.best:
            self.best, self.best_epoch, self.params = self.accuracy, epoch, params

    def progress(self) -> Progress:
        """Return where training stands; the first epoch, with its build, counts for the time left only while it is alone."""
        epoch, epochs, now = self.epoch, self.spec.training.epochs, time.monotonic()
        done = epoch - self.resumed
        pace = (now - self.first_epoch_done) / (done - 1) if done > 1 else now - self.start
        return Progress(epoch, epochs, self.loss, self.accuracy, self.best, pace * (epochs - epoch))

    def stop(self) -> None:
        """End early: wait for the device, and let the parameters as they are compete too."""
        self.queue.finish()
        self.validate(self.epoch)

    def result(self, stopped: bool) -> Trained:
        """Return the best model and how it came to be."""
        seconds = time.monotonic() - self.start
        return Trained(export(self.params, self.spec), self.params, self.best, self.best_epoch, seconds, stopped)


def is_validated(epoch: int, epochs: int) -> bool:
    """Return whether an epoch, counted from 1, is validated: the first, some over the whole training, and each of the last."""
    return epoch == 1 or epoch > epochs - LATE_EPOCHS or epoch % max(1, epochs // EARLY_VALIDATIONS) == 0


def count_steps(spec: ModelSpec, dataset: Dataset) -> int:
    """Return the steps of an epoch; raise SpecError if there are too few pictures for one, or none for validation."""
    steps = len(dataset.train_labels) // spec.training.batch
    if not steps or not len(dataset.validation_labels):
        raise SpecError(
            f"{spec.name}: needs {spec.training.batch} training pictures (a batch) and some for validation, got "
            f"{len(dataset.train_labels)} and {len(dataset.validation_labels)}; give more pictures or lower training.batch"
        )
    return steps


def measure(model: IntegerModel, answers: Answering, dataset: Dataset) -> float:
    """Return the part of the validation pictures that a model gets right; answers: of models to these pictures."""
    return float((answers(model).digits == dataset.validation_labels).mean())
