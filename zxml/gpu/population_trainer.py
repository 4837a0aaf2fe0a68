"""Training many nets at once on a device: each is validated on its exact integers and keeps its own best."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

from zxml.data import Dataset, pack_rows
from zxml.errors import SpecError
from zxml.gpu.checkpoint import Arrays, fingerprint, run_epochs
from zxml.gpu.distort import Distorter
from zxml.gpu.inference import answering
from zxml.gpu.population import PopulationStep, why_not_together
from zxml.gpu.schedule import step_rates
from zxml.gpu.shuffle import Shuffler
from zxml.gpu.trainer import Trained, count_steps, is_validated, measure
from zxml.quant.export import export
from zxml.quant.params import Params, initial_params
from zxml.spec import ModelSpec

STEPS_A_WAIT = 50  # steps between two looks at the keyboard


@dataclass(frozen=True)
class PopulationProgress:
    """Where a population stands after an epoch, counted from 1.

    loss: the mean of all nets; mean, best: of the nets' accuracies on the validation pictures when they were last measured;
    ever: the greatest so far; seconds_left: an estimate.
    """

    epoch: int
    epochs: int
    loss: float
    mean: float
    best: float
    ever: float
    seconds_left: float


def train_population(
    specs: Sequence[ModelSpec],
    dataset: Dataset,
    device: Any,
    report: Callable[[PopulationProgress], None],
    checkpoint: Path | None = None,
) -> list[Trained]:
    """Train nets side by side as their specs say and return the best of each; Ctrl-C keeps the best so far.

    All nets see the same pictures, distorted by the first spec's seed, each in its own order. report: called after each epoch.
    The same specs, data and device give the same bits. checkpoint: as in `zxml.gpu.trainer.train`.

    Raises SpecError if the specs cannot be trained together or there are too few pictures, DeviceError if the device cannot
    hold such nets or its driver does not build the kernels.
    """
    reason = why_not_together(specs)
    if reason:
        raise SpecError(f"{reason}; train them one after another")
    run = _Run(specs, dataset, device)
    word = "-".join(fingerprint(spec, dataset, f"{device.name} population") for spec in specs) if checkpoint else ""
    return run.results(run_epochs(run, specs[0].training.epochs, report, checkpoint, word))


class _Run:
    """A population under way: the device's buffers, the best of each net so far, and the clock."""

    def __init__(self, specs: Sequence[ModelSpec], dataset: Dataset, device: Any) -> None:
        self.specs, self.dataset, self.start = specs, dataset, time.monotonic()
        first = specs[0]
        self.steps = count_steps(first, dataset)
        self.queue = cl.CommandQueue(cl.Context([device]))
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.pictures = cl.Buffer(self.queue.context, flags, hostbuf=pack_rows(dataset.train_images, first.input))
        self.step = PopulationStep(self.queue, specs, self.pictures, dataset.train_labels, self.steps)
        self.answers = answering(self.queue, dataset.validation_images)
        distorted, images = any(astuple(first.distort)), dataset.train_images
        self.distorter = Distorter(self.queue, images, first.input, first.distort, first.seed) if distorted else None
        places = self.steps * first.training.batch
        self.shuffler = Shuffler(self.queue, len(dataset.train_labels), places, [spec.seed for spec in specs])
        self.params: list[Params] = [initial_params(spec) for spec in specs]
        self.step.write_all(self.params)
        nets = len(specs)
        self.accuracies, self.best, self.best_epochs = np.zeros(nets), np.full(nets, -1.0), np.zeros(nets, int)
        self.loss, self.epoch, self.resumed, self.first_epoch_done = np.nan, 0, 0, 0.0

    def learn(self, epoch: int) -> None:
        """Run one epoch, counted from 1, and validate if it is time."""
        epochs, steps = self.specs[0].training.epochs, self.steps
        if self.distorter:
            self.distorter.fill(epoch, self.pictures)
        self.shuffler.fill(epoch, self.step.buffers["order"])
        rates = [step_rates(spec.training, (epoch - 1) * steps, steps, epochs * steps) for spec in self.specs]
        self.step.start_epoch(None, np.array(rates))
        for done in range(0, steps, STEPS_A_WAIT):
            self.step.run(min(STEPS_A_WAIT, steps - done))
        self.epoch, self.loss = epoch, float(self.step.losses().mean()) / steps
        if is_validated(epoch, epochs):
            self.validate(epoch)
        self.first_epoch_done = self.first_epoch_done or time.monotonic()

    def validate(self, epoch: int) -> None:
        """Count the validation pictures that each exact integer model gets right; keep each model that was never better."""
        for number, (spec, params) in enumerate(zip(self.specs, self.step.read_all(), strict=True)):
            accuracy = measure(export(params, spec), self.answers, self.dataset)
            self.accuracies[number] = accuracy
            if accuracy >= self.best[number]:
                self.best[number], self.best_epochs[number], self.params[number] = accuracy, epoch, params

    def state(self) -> Arrays:
        """Return all that the rest of the training depends on."""
        best = {f"best_{number}_{name}": array for number, params in enumerate(self.params) for name, array in params.items()}
        counts = {"epoch": np.array(self.epoch), "epochs": self.best_epochs, "best": self.best, "accuracies": self.accuracies}
        return counts | best | self.step.state()

    def restore(self, arrays: Arrays | None) -> None:
        """Go on from what `state` returned."""
        if arrays is None:
            return
        self.epoch = self.resumed = int(arrays.pop("epoch"))
        self.best_epochs, self.best, self.accuracies = (arrays.pop(name) for name in ("epochs", "best", "accuracies"))
        self.params = [
            Params(**{name: arrays.pop(f"best_{number}_{name}") for name, _ in params.items()})
            for number, params in enumerate(self.params)
        ]
        self.step.restore(arrays)

    def progress(self) -> PopulationProgress:
        """Return where the population stands; the first epoch, with its build, counts only while it is alone."""
        epoch, epochs, now = self.epoch, self.specs[0].training.epochs, time.monotonic()
        done = epoch - self.resumed
        pace = (now - self.first_epoch_done) / (done - 1) if done > 1 else now - self.start
        mean, best, ever = float(self.accuracies.mean()), float(self.accuracies.max()), float(self.best.max())
        return PopulationProgress(epoch, epochs, self.loss, mean, best, ever, pace * (epochs - epoch))

    def stop(self) -> None:
        """End early: wait for the device, and let the parameters as they are compete too."""
        self.queue.finish()
        self.validate(self.epoch)

    def results(self, stopped: bool) -> list[Trained]:
        """Return the best model of each net and how it came to be."""
        seconds = time.monotonic() - self.start
        return [
            Trained(export(params, spec), params, float(best), int(epoch), seconds, stopped)
            for spec, params, best, epoch in zip(self.specs, self.params, self.best, self.best_epochs, strict=True)
        ]
