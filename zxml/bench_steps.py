"""Where the time of a training step goes: python -m zxml.bench_steps measures it with parts of the step left out."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.bench_train import MODELS, NETS, SEED, bench_data, name_file
from zxml.console import guard, track
from zxml.data import Dataset, load
from zxml.errors import DataError
from zxml.files import check_writable, write_whole
from zxml.gpu.device import choose
from zxml.gpu.float_net import initial_float_params
from zxml.gpu.net import FloatSpec
from zxml.gpu.nets.shape import NetShape
from zxml.gpu.persistent import PersistentStep
from zxml.gpu.plain import upload
from zxml.gpu.population import PopulationStep
from zxml.gpu.schedule import constant_rates
from zxml.gpu.shuffle import Shuffler

# A persistent step's parts, in the order of the bits of LEAVE_OUT in gpu/kernels/persistent.cl; the rest cannot be left out.
PARTS = (
    "waiting for what other groups tell",
    "tables of sums of four",
    "sums of pixels",
    "scores, softmax and their slopes",
    "biases and the output layer's row",
    "gradients and new weights of pixels",
)
WAITING = 1  # the first bit; without scores others would wait for ever, so all parts after it are measured without it
REST = "reading what was told, loads, barriers"
# The parts of a population's step, in the order of the bits of LEAVE_OUT in gpu/kernels/population.cl.
POPULATION_PARTS = (
    "sums of pixels",
    "scores, softmax and their slopes",
    "the output layer's gradient, slopes by the hidden sums",
    "gradients and new weights of pixels",
)
POPULATION_REST = "loads, slopes in terms, barriers"
NAMES = ("784-64-10", "256-64-10")
EPOCHS = 9


@dataclass(frozen=True)
class StepTimes:
    """One net: the time of a step in us, what it loses without each part, and an epoch's time in ms before its first step.

    The first part is waiting; what each of the others takes is measured in steps that do not wait.
    """

    net: str
    whole: float
    parts: list[float]
    opening: float


@dataclass(frozen=True)
class PopulationTimes:
    """So many nets at once: the time of a net's epoch in us, and what it loses without each part of its steps."""

    net: str
    models: int
    whole: float
    parts: list[float]


@dataclass(frozen=True)
class StepBench:
    """A run on one device: nets alone, and populations."""

    device: str
    nets: list[StepTimes]
    populations: list[PopulationTimes]


def read_steps(path: Path) -> StepBench:
    """Return the run kept in a file; raise DataError if it is not one."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        populations = [PopulationTimes(**net) for net in fields["populations"]]
        return StepBench(fields["device"], [StepTimes(**net) for net in fields["nets"]], populations)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: wanted times of steps, got {error!r}; run `python -m zxml.bench_steps` again") from error


def measure_steps(dataset: Dataset, device: Any, epochs: int = EPOCHS, models: int = MODELS) -> StepBench:
    """Measure the nets of NAMES on a device that trains with all groups at once, alone and as populations."""
    alone = [measure_net(name, NETS[name], dataset, device, epochs) for name in NAMES]
    many = [measure_population(name, models, NETS[name], dataset, device, epochs) for name in NAMES]
    return StepBench(device.name.strip(), alone, many)


def measure_net(name: str, shape: NetShape, dataset: Dataset, device: Any, epochs: int) -> StepTimes:
    """Measure one net of one hidden layer, whole and without each part in turn."""
    whole, opening = _time(shape, dataset, device, epochs, 0)
    hasty = _time(shape, dataset, device, epochs, WAITING)[0]
    others = [hasty - _time(shape, dataset, device, epochs, WAITING | 1 << bit)[0] for bit in range(1, len(PARTS))]
    return StepTimes(name, round(whole, 3), [round(part, 3) for part in (whole - hasty, *others)], round(opening, 3))


def measure_population(name: str, models: int, shape: NetShape, dataset: Dataset, device: Any, epochs: int) -> PopulationTimes:
    """Measure so many nets of one hidden layer, whole and without each part in turn."""
    masks = (0, *(1 << bit for bit in range(len(POPULATION_PARTS))))
    whole, *others = (_time_population(models, shape, dataset, device, epochs, mask) for mask in masks)
    return PopulationTimes(name, models, round(whole, 2), [round(whole - other, 2) for other in others])


def _time(shape: NetShape, dataset: Dataset, device: Any, epochs: int, leave_out: int) -> tuple[float, float]:
    """Return the median time of a step in us, and of what comes before an epoch's first in ms, of all epochs but the first."""
    labels, spec, queue, rows, steps = _prepare(shape, dataset, device)
    step = PersistentStep(queue, spec, rows, labels, steps, leave_out=leave_out)
    step.write_params(initial_float_params(spec))
    shuffler = Shuffler(queue, len(labels), steps * shape.batch, [spec.seed])
    seconds = _time_epochs(step, shuffler, shape, epochs, steps)
    return 1e6 * seconds[1] / steps, 1e3 * seconds[0]


def _time_population(models: int, shape: NetShape, dataset: Dataset, device: Any, epochs: int, leave_out: int) -> float:
    """Return the median time of a model's epoch in us, of all epochs but the first; models differ in their orders alone."""
    labels, spec, queue, rows, steps = _prepare(shape, dataset, device)
    step = PopulationStep(queue, [spec] * models, rows, labels, steps, leave_out)
    step.write_params(initial_float_params(spec))
    step.restore({name: np.broadcast_to(values[:1], values.shape) for name, values in step.state().items()})
    shuffler = Shuffler(queue, len(labels), steps * shape.batch, [spec.seed + model for model in range(models)])
    return 1e6 * sum(_time_epochs(step, shuffler, shape, epochs, steps)) / models


def _prepare(shape: NetShape, dataset: Dataset, device: Any) -> tuple[NDArray[np.uint8], FloatSpec, Any, Any, int]:
    """Return the pictures' labels, the net, a queue, the pictures on the device, and the steps of an epoch."""
    data = bench_data(dataset, shape)
    spec = FloatSpec(shape.rows, shape.cols, False, shape.hidden[0], shape.classes, shape.batch, seed=SEED)
    queue = cl.CommandQueue(cl.Context([device]))
    rows, _ = upload(queue, spec, data.pixels.reshape(-1, shape.rows, shape.cols))
    return data.labels, spec, queue, rows, len(data.labels) // shape.batch


def _time_epochs(
    step: PersistentStep | PopulationStep, shuffler: Shuffler, shape: NetShape, epochs: int, steps: int
) -> tuple[float, float]:
    """Return the median seconds before an epoch's first step, and of its steps, of all epochs but the first."""
    times = []
    for epoch in track(range(epochs), "epochs"):
        start = time.perf_counter()
        shuffler.fill(epoch, step.buffers["order"])
        step.start_epoch(None, constant_rates("sgd", shape.rate, epoch * steps, steps))
        step.queue.finish()
        middle = time.perf_counter()
        step.run(steps)
        times.append((middle - start, time.perf_counter() - middle))
    opening, running = np.median(times[1:] or times, axis=0)
    return float(opening), float(running)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m zxml.bench_steps", description=__doc__)
    parser.add_argument("--device", metavar="D", help="a number or name from `devices` (default: the first)")
    parser.add_argument("--out", type=Path, default=Path("bench"), metavar="DIR", help="where runs are kept (default: bench)")
    options = parser.parse_args(arguments)
    return guard(lambda: _run(options.device, options.out))


def _run(name: str | None, folder: Path) -> int:
    check_writable(folder)
    bench = measure_steps(load("mnist"), choose(name))
    path = folder / name_file("steps", bench.device)
    write_whole(path, json.dumps(asdict(bench), indent=2) + "\n")
    print(f"{path}: written; next: python -m zxml bench-train --docs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
