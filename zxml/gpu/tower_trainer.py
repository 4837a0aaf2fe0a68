"""Training of a cascade on a device: its towers one after another, then the gaps at which it answers early."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.data import Dataset, pack_rows
from zxml.errors import SpecError
from zxml.gpu.checkpoint import CHECKPOINT_SECONDS, Arrays, fingerprint, load_checkpoint, save_checkpoint
from zxml.gpu.distort import Distorter
from zxml.gpu.inference import answering
from zxml.gpu.schedule import step_rates
from zxml.gpu.tower import Tower
from zxml.gpu.trainer import Trained, count_steps, measure
from zxml.ir import PICTURE, PICTURE_SIDE, ArgMax, Codebook, Exit, IntegerModel, Layer, Looks, PatchConv
from zxml.quant.cascade import choose_gaps, score_gaps, take_doubted
from zxml.spec import InputSpec, ModelSpec

WHOLE = InputSpec(0, 0, PICTURE_SIDE, PICTURE_SIDE)
VALIDATIONS = 8  # of a tower, spread over its training; the last is at its end
STEPS_A_WAIT = 64  # steps between two looks at the keyboard

Order = NDArray[np.uint32]  # numbers of pictures


@dataclass(frozen=True)
class CascadeProgress:
    """Where the training of a cascade stands after an epoch.

    epoch counts from 1 over all towers, of `epochs`; tower counts from 1; loss: mean of the epoch's; accuracy: of this tower
    alone on the validation pictures, when last measured; seconds_left: an estimate, as if all towers took as long as this one.
    """

    epoch: int
    epochs: int
    tower: int
    loss: float
    accuracy: float
    seconds_left: float


def train_cascade(
    spec: ModelSpec,
    dataset: Dataset,
    device: Any,
    report: Callable[[CascadeProgress], None],
    checkpoint: Path | None = None,
) -> Trained:
    """Train a cascade as its spec says; Ctrl-C keeps the towers so far, the last of them as far as it came.

    device: as `zxml.gpu.device.choose` returns it; report: called after each epoch; checkpoint: a file that keeps the state
    every few seconds, from which a killed training continues to the same bits; it is removed at the end. The parameters of the
    last step count: with one-bit features they are better than averages, and the learning rate has come down to 0. The same
    spec, data and device give the same bits. The test pictures are not used.

    Raises SpecError if there are fewer training pictures than one batch or no validation pictures, DeviceError if the device's
    driver does not build the kernels.
    """
    run = _Run(spec, dataset, device, report, checkpoint)
    stopped = False
    try:
        for number in range(len(spec.towers)):
            run.train_tower(number)
    except KeyboardInterrupt:
        stopped = True
        run.stop()
    if checkpoint:
        checkpoint.unlink(missing_ok=True)
    model = assemble(spec, run.parts, dataset)
    accuracy, seconds = measure(model, run.answers, dataset), time.monotonic() - run.start
    return Trained(model, None, accuracy, run.epochs_done, seconds, stopped)


def assemble(spec: ModelSpec, parts: list[tuple[Layer, ...]], dataset: Dataset) -> IntegerModel:
    """Return the cascade of the towers' layers, with gaps that send on as many validation pictures as the spec says.

    parts: the layers of the first towers of the spec, or of all; those of a shared tower begin after the codes.
    """
    layers: list[Layer] = []
    exits = (f"sure{number}" for number in count(1))
    for number, (part, tower) in enumerate(zip(parts, spec.towers, strict=False)):
        source = _newest(Codebook, layers) if tower.shared else PICTURE
        layers += [*([Exit(next(exits), 0, source)] if number else []), *part]
        for name, shifts in zip(("looks", "more_looks"), tower.rounds, strict=False):
            scores = layers[-1].name
            layers += [Exit(next(exits), 0, scores), Looks(f"{prefix(number)}{name}", _newest(PatchConv, layers), shifts)]
    model = IntegerModel(spec.name, spec.seed, (*layers, ArgMax("digit")))
    return choose_gaps(model, dataset.validation_images, spec.second_looks[: sum(isinstance(each, Exit) for each in layers)])


def _newest(kind: type[Codebook | PatchConv], layers: Sequence[Layer]) -> str:
    """Return the name of the last layer of a kind, which a tower that shares its codes has from one before."""
    return [layer.name for layer in layers if isinstance(layer, kind)][-1]


class _Run:
    """One training under way: the pictures on the device, the finished towers, the one in training, and the clock."""

    def __init__(
        self,
        spec: ModelSpec,
        dataset: Dataset,
        device: Any,
        report: Callable[[CascadeProgress], None],
        checkpoint: Path | None,
    ) -> None:
        self.spec, self.dataset, self.report, self.checkpoint = spec, dataset, report, checkpoint
        self.start = self.saved = time.monotonic()
        self.steps, self.epochs_done = count_steps(spec, dataset), 0
        self.queue = cl.CommandQueue(cl.Context([device]))
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.pictures = cl.Buffer(self.queue.context, flags, hostbuf=pack_rows(dataset.train_images, WHOLE))
        self.answers = answering(self.queue, dataset.validation_images)
        self.parts: list[tuple[Layer, ...]] = []
        self.towers: list[Tower] = []
        self.word = fingerprint(spec, dataset, f"{device.name} towers") if checkpoint else ""
        self.kept: Arrays = (load_checkpoint(checkpoint, self.word) if checkpoint else None) or {}

    def train_tower(self, number: int) -> None:
        """Train a tower, or what is left of it, and keep its layers."""
        spec = self.spec.of_tower(number)
        epochs, earlier = spec.training.epochs, self.epochs_done
        before = self.towers[-1].values() if spec.towers[number].shared else None
        tower = Tower(self.queue, spec, number, self.pictures, self.dataset.train_labels, self.steps, before)
        self.towers.append(tower)
        learn = self._learner(number, spec)
        shuffle = np.random.default_rng([spec.seed, 3, number])
        done, accuracy, began = self._restore(number), 0.0, time.monotonic()
        for epoch in range(1, epochs + 1):
            order = shuffle.permutation(len(self.dataset.train_labels))[: self.steps * spec.training.batch]
            if epoch <= done:
                continue
            loss = learn(epoch, order.astype(np.uint32))
            if epoch % max(1, epochs // VALIDATIONS) == 0 or epoch == epochs:
                alone = IntegerModel(spec.name, spec.seed, (*tower.layers(), ArgMax("digit")))
                accuracy = measure(alone, self.answers, self.dataset)
            self._save(number, epoch, last=epoch == epochs)
            self.epochs_done = earlier + epoch
            left = (time.monotonic() - began) / (epoch - done) * (self.spec.epochs - self.epochs_done)
            self.report(CascadeProgress(self.epochs_done, self.spec.epochs, number + 1, loss, accuracy, left))
        self.epochs_done = earlier + epochs
        self._keep(tower, number)

    def stop(self) -> None:
        """End early: wait for the device, and keep the tower in training as it is."""
        self.queue.finish()
        if len(self.towers) > len(self.parts):
            self._keep(self.towers[-1], len(self.parts))

    def _keep(self, tower: Tower, number: int) -> None:
        """Keep the layers of a tower, without those that it shares with the one before."""
        layers = tower.layers(prefix(number))
        own = 1 + [layer.name for layer in layers].index(_newest(Codebook, layers)) if tower.tower.shared else 0
        self.parts.append(layers[own:])

    def _learner(self, number: int, spec: ModelSpec) -> Callable[[int, Order], float]:
        """Return what runs an epoch of a tower, whose spec this is, in an order of pictures, and returns the mean loss."""
        tower, training, focus = self.towers[number], spec.training, spec.towers[number].focus
        shape = epoch_shape(spec, focus, self.steps)
        steps = shape[0]
        distorted = any(astuple(spec.distort))
        distorter = Distorter(self.queue, self.dataset.train_images, WHOLE, spec.distort, spec.seed) if distorted else None

        def learn(epoch: int, order: Order) -> float:
            if distorter:
                distorter.fill(epoch, self.pictures)
            if focus:
                gaps = score_gaps(self.towers[number - 1].score(order.reshape(-1, training.batch)))
                order = take_doubted(order, gaps, focus)
            rates = step_rates(training, (epoch - 1) * steps, steps, training.epochs * steps)
            tower.start_epoch(order[: np.prod(shape)].reshape(shape), rates)
            for done in range(0, steps, STEPS_A_WAIT):
                tower.run(min(STEPS_A_WAIT, steps - done))
            return tower.loss_sum() / steps

        return learn

    def _save(self, number: int, epoch: int, last: bool) -> None:
        """Write the checkpoint if it is time, or a tower is done."""
        if self.checkpoint and (last or time.monotonic() - self.saved > CHECKPOINT_SECONDS):
            self.kept = {name: array for name, array in self.kept.items() if not name.startswith(f"{number}.")}
            self.kept |= {f"{number}.{name}": array for name, array in self.towers[number].state().items()}
            self.kept[f"{number}.epoch"] = np.array([epoch])
            save_checkpoint(self.checkpoint, self.kept, self.word)
            self.saved = time.monotonic()

    def _restore(self, number: int) -> int:
        """Set the newest tower to what the checkpoint holds of it, if anything, and return how many epochs it has done."""
        start = f"{number}."
        arrays = {name.removeprefix(start): array for name, array in self.kept.items() if name.startswith(start)}
        if not arrays:
            return 0
        done = int(arrays.pop("epoch")[0])
        self.towers[-1].restore(arrays)
        return done


def epoch_shape(spec: ModelSpec, focus: float, steps: int) -> tuple[int, int]:
    """Return the steps of a tower's epoch and the pictures of each; steps: those of an epoch that takes all pictures.

    Raises SpecError if what the tower's focus takes is less than one batch.
    """
    batch = spec.training.batch
    taken = 2 * int(focus * steps * batch) if focus else steps * batch
    if taken < batch:
        raise SpecError(
            f"{spec.name}: a focus of {focus} takes {taken} of {steps * batch} training pictures, and a batch has {batch}; "
            "give more pictures, or a greater focus"
        )
    return taken // batch, batch


def prefix(number: int) -> str:
    """Return what the names of a tower's layers start with: nothing, t2_, t3_ ..."""
    return f"t{number + 1}_" if number else ""
