"""The training benchmark: our back ends beside other engines, on the same nets, pictures and work, in one run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml import __version__
from zxml.data import Dataset
from zxml.errors import DataError
from zxml.gpu.nets.shape import NetShape
from zxml.peers import PEERS, BenchData, Report, Score
from zxml.peers.ours import train_many_ours, train_ours, train_product

NETS = {
    "784-64-10": NetShape(28, 28, (64,)),
    "256-64-10": NetShape(16, 16, (64,)),
    "784-128-64-10": NetShape(28, 28, (128, 64)),
    "conv3x3x12-pool-10": NetShape(28, 28, filters=12),
}
PRODUCT = "product"  # the net of models/mnist.toml
OURS, OURS_MANY = "zxml", "zxml-population"
FLOAT, INTEGER = (
    "zxml-float",
    "zxml-integer",
)  # of the product: plain numbers; integer-aware, on pictures distorted anew each epoch
BASES = (OURS, OURS_MANY, FLOAT)  # a row's time is divided by that of one of these
ENGINES = (OURS, OURS_MANY, *(peer.name for peer in PEERS), FLOAT, INTEGER)
MODELS = 1024  # of a population
SEED = 1
ERROR_LENGTH = 120  # of what is told of another engine's error
MARGIN, AVERAGED = 2, 24  # the centre of a picture that is averaged to 16 x 16


@dataclass(frozen=True)
class Row:
    """An engine on a net: models at once, a model's median ms an epoch, test pictures right of all, its time over ours."""

    net: str
    engine: str
    models: int
    ms_per_epoch: float
    accuracy: float
    ratio: float | None


@dataclass(frozen=True)
class Bench:
    """A run on one device: the epochs of each training, the rows, and what was left out and why."""

    device: str
    kind: str
    units: int
    epochs: int
    versions: list[str]
    rows: list[Row]
    left_out: list[str]

    @property
    def file_name(self) -> str:
        """The file it is kept in: a GPU's name, or how many CPU cores."""
        name = f"{self.units} CPU cores" if self.kind == "cpu" else self.device
        return name_file("train", name)

    @property
    def title(self) -> str:
        """What it ran on."""
        return f"{self.units} CPU cores ({self.device})" if self.kind == "cpu" else self.device

    def to_json(self) -> str:
        """Return the file's text."""
        return json.dumps(asdict(self), indent=2) + "\n"


@dataclass(frozen=True)
class Job:
    """A row to be measured."""

    net: str
    engine: str
    models: int = 1


def name_file(kind: str, device: str) -> str:
    """Return the name of the file that keeps a kind of run on a device."""
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', device.lower()).strip('-')}.json"


def read_bench(path: Path) -> Bench:
    """Return the run kept in a file; raise DataError if it is not one."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Bench(**fields | {"rows": [Row(**row) for row in fields["rows"]]})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: wanted a training benchmark, got {error!r}; run `zxml bench-train` again") from error


def list_jobs(kind: str, nets: list[str], engines: list[str]) -> tuple[list[Job], list[str]]:
    """Return what is to be measured on a kind of device, in the order of NETS and ENGINES, and what is left out and why."""
    jobs, left_out = [], []
    for net in (*NETS, PRODUCT):
        for engine in ENGINES:
            if net in nets and engine in engines and (net == PRODUCT) == (engine in (FLOAT, INTEGER)):
                many = engine == OURS_MANY or any(peer.many for peer in PEERS if peer.name == engine)
                reason = _reason(kind, net, engine, many)
                if reason:
                    left_out.append(f"{net}, {engine}: {reason}")
                else:
                    jobs.append(Job(net, engine, MODELS if many else 1))
    return jobs, left_out


def run_jobs(
    jobs: list[Job], dataset: Dataset, device: Any, epochs: int, report: Report, done: Callable[[Row], None]
) -> tuple[list[Row], list[str]]:
    """Measure; return the rows, and which other engines failed and how, which does not lose the rows of the rest.

    device: as `zxml.gpu.device.choose` returns it; epochs: of each training, the first of which is not timed; report: called
    after each epoch; done: with each row.
    """
    rows: list[Row] = []
    failed: list[str] = []
    for job in jobs:
        try:
            score = _measure(job, dataset, device, epochs, report)
        except Exception as error:
            if job.engine not in {peer.name for peer in PEERS}:
                raise
            failed.append(f"{job.net}, {job.engine}: {' '.join(repr(error).split())[:ERROR_LENGTH]}")
            continue
        bases = [row.ms_per_epoch for row in rows if (row.net, row.models) == (job.net, job.models) and row.engine in BASES]
        base = score.ms if job.engine in BASES else bases[0] if bases else None
        ratio = round(score.ms / base, 3) if base else None
        rows.append(Row(job.net, job.engine, job.models, round(score.ms, 4), round(score.accuracy, 4), ratio))
        done(rows[-1])
    return rows, failed


def list_versions(jobs: list[Job]) -> list[str]:
    """Return the packages that do the jobs, with their versions."""
    return [f"zxml {__version__}", *sorted({peer.version() for peer in PEERS if any(job.engine == peer.name for job in jobs)})]


def bench_data(dataset: Dataset, shape: NetShape) -> BenchData:
    """Return all 60,000 training pictures and the test pictures in a net's size."""
    train = np.concatenate([dataset.train_images, dataset.validation_images])
    labels = np.concatenate([dataset.train_labels, dataset.validation_labels])
    resize = average_to_16 if shape.rows == 16 else lambda images: images
    pixels, test_pixels = (resize(images).reshape(len(images), -1) for images in (train, dataset.test_images))
    return BenchData(pixels, labels, test_pixels, dataset.test_labels)


def average_to_16(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return pictures (n, 16, 16) of zeros and ones: the centre of pictures (n, 28, 28) averaged by area, ink from half on."""
    centre = images[:, MARGIN : MARGIN + AVERAGED, MARGIN : MARGIN + AVERAGED].astype(np.uint16)
    thirds = centre.repeat(2, axis=1).repeat(2, axis=2)  # halves of a pixel, of which three by three make a new one
    ink = thirds.reshape(len(images), 16, 3, 16, 3).sum(axis=(2, 4))
    return np.asarray(ink > 4, np.uint8)


def _reason(kind: str, net: str, engine: str, many: bool) -> str:
    """Return why a row makes no sense, or nothing."""
    if many and kind == "cpu":
        return "populations are for devices with more than a few cores"
    if many and len(NETS[net].hidden) != 1:
        return "populations are of nets with one hidden layer"
    return next((peer.reason(NETS[net], kind) for peer in PEERS if peer.name == engine), "")


def _measure(job: Job, dataset: Dataset, device: Any, epochs: int, report: Report) -> Score:
    if job.net == PRODUCT:
        return train_product(dataset, job.engine == INTEGER, epochs, device, report)
    shape = NETS[job.net]
    data = bench_data(dataset, shape)
    if job.engine == OURS:
        return train_ours(shape, data, epochs, SEED, device, report)
    if job.engine == OURS_MANY:
        return train_many_ours(job.models, shape, data, epochs, SEED, device, report)
    peer = next(peer for peer in PEERS if peer.name == job.engine)
    train = peer.load()
    many = (job.models,) if peer.many else ()
    score: Score = train(*many, shape, data, epochs, SEED, is_gpu(device), report)
    return score


def is_gpu(device: Any) -> bool:
    """Return whether a device's peers run on a GPU."""
    return bool(device.type & cl.device_type.GPU)
