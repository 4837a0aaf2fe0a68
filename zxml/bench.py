"""How fast the shipped nets are: figures from their evidence, and what a multiply-accumulate of a plain evaluation costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import numpy as np

from zxml import ir
from zxml.cassette import record, target_of
from zxml.classify import Track, no_track
from zxml.data import Dataset
from zxml.errors import VerifyError
from zxml.files import product_folder
from zxml.ir import (
    PATCH_SIDE,
    PICTURE_SIDE,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntegerModel,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
    looked_again,
    sources,
)
from zxml.published import Reader
from zxml.reference import run
from zxml.verify import Evidence, read_evidence, verify
from zxml.z80gen.target import TARGETS

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """One net's figures, all measured on the test pictures.

    exact_images: of `images`, those on which the Z80 gave every score of the reference; tstates, frames, ms: a picture, from
    picture in to digit out; macs: multiply-accumulates of a plain evaluation, as `layer_macs` counts them, on average;
    tstates_a_mac: tstates_mean / macs.
    """

    name: str
    images: int
    exact_images: int
    accuracy: float
    interval95: tuple[float, float]
    tstates_mean: float
    tstates_worst: int
    frames: float
    ms: float
    nbytes: int
    macs: float
    tstates_a_mac: float
    model_sha256: str


def shipped_models() -> list[Path]:
    """Return the files of the shipped nets, in order of name."""
    return sorted(product_folder("models").glob("*.npz"))


def measure(path: Path, build: Path, dataset: Dataset, anew: bool = False, track: Track = no_track) -> Row:
    """Return the row of the net in a file; where its evidence is missing, or `anew`, make its tape and prove it first.

    build: the folder of folders, one a net. Raises VerifyError if the Z80 computes something else than the reference.
    """
    model = ir.load(path)
    folder = folder_of(model, build)
    evidence = None if anew else known_evidence(model, folder)
    if evidence is None:
        evidence = verify(record(model, dataset, folder, target_of(model.name)), dataset, track)
    if evidence.differences:
        raise VerifyError(f"{folder / 'evidence.json'}: {evidence.differences[0]}; make the tape of {model.name} anew")
    return row_of(evidence, mean_macs(model, dataset))


def folder_of(model: IntegerModel, build: Path) -> Path:
    """Return where the net's evidence is or will be: its own folder, unless a net that was trained here lies in it."""
    own = build / model.name
    there = own / "model.npz"
    if there.is_file() and there.read_bytes() != model.to_bytes():
        return build / "shipped" / model.name
    return own


def known_evidence(model: IntegerModel, folder: Path) -> Evidence | None:
    """Return the folder's evidence if it is of this very net, else None."""
    try:
        evidence = read_evidence(folder / "evidence.json")
    except VerifyError:
        return None
    known = evidence.model_sha256 == model.sha256() and evidence.machine == target_of(model.name).name
    return evidence if known else None


def row_of(evidence: Evidence, macs: float) -> Row:
    """Return what the evidence says, per multiply-accumulate too; milliseconds are those of its machine."""
    clock_hz = next(target.clock_hz for target in TARGETS.values() if target.name == evidence.machine)
    return Row(
        name=evidence.name,
        images=evidence.images,
        exact_images=evidence.exact_images,
        accuracy=evidence.accuracy,
        interval95=evidence.interval95,
        tstates_mean=evidence.tstates_mean,
        tstates_worst=evidence.tstates_worst,
        frames=evidence.frames_mean,
        ms=1000 * evidence.tstates_mean / clock_hz,
        nbytes=evidence.nbytes,
        macs=macs,
        tstates_a_mac=evidence.tstates_mean / macs,
        model_sha256=evidence.model_sha256,
    )


def mean_macs(model: IntegerModel, dataset: Dataset) -> float:
    """Return the mean over the test pictures of the multiply-accumulates of the layers that each picture runs through.

    A layer behind an Exit counts for the pictures that did not leave there or before.
    """
    ways_out = sum(isinstance(layer, Exit) for layer in model.layers)
    exits = run(model, dataset.test_images).exits if ways_out else np.zeros(1, np.int64)
    total, passed = 0.0, 0  # passed: the exits before the layer
    for layer, macs in zip(model.layers, model_macs(model), strict=True):
        total += macs * float((exits >= passed).mean())
        passed += isinstance(layer, Exit)
    return total


def model_macs(model: IntegerModel) -> list[int]:
    """Return the multiply-accumulates of each layer, as `layer_macs` counts them; those of further looks are the Looks'."""
    shapes: list[Shape] = [row.shape for row in model.ranges()]
    taken = [shapes[source] if source >= 0 else (PICTURE_SIDE, PICTURE_SIDE) for source in sources(model.layers)]
    macs = [layer_macs(layer, inputs, outputs) for layer, inputs, outputs in zip(model.layers, taken, shapes, strict=True)]
    for number, layer in enumerate(model.layers):
        if isinstance(layer, Looks):
            macs[number] = len(layer.shifts) * sum(macs[again] for again in looked_again(model.layers, number))
    return macs


def layer_macs(layer: Layer, inputs: Shape, outputs: Shape) -> int:
    """Return the multiply-accumulates of a layer evaluated plainly: no input is skipped for being 0, and nothing is shared.

    A weighted sum counts one for each input and output that a weight joins: Dense inputs x outputs, Conv 9 x channels for each
    value put out. A learned table counts as the plain layer whose place it takes: PatchSum and CodeSum one for each patch or
    place and output (with 1 x 1 patches that is a dense layer on the window's pixels), PatchConv 9 for each feature of each
    place. Biases, pools, activations, codes, exits, the sums of looks and the arg-max count nothing.

    inputs, outputs: the shapes of what it takes and puts out.
    """
    match layer:
        case PatchSum(table=table) | CodeSum(table=table):
            return int(table.shape[0] * table.shape[2])
        case PatchConv():
            return PATCH_SIDE**2 * _size(outputs)
        case Conv():
            return PATCH_SIDE**2 * inputs[2] * _size(outputs)
        case Dense():
            return _size(inputs) * _size(outputs)
        case Pool() | Codebook() | Requant() | Steps() | Exit() | Looks() | ArgMax():
            return 0
        case _:
            assert_never(layer)


def _size(shape: Shape) -> int:
    size = 1
    for side in shape:
        size *= side
    return size


NET_HEADS = ("net", "accuracy", "95 % interval", "T-states, mean", "worst", "frames", "ms", "bytes", "T-states a dense MAC")
READER_HEADS = ("published", "machine", "accuracy", "of pictures", "cycles", "ms", "year", "source")


def page(rows: Sequence[Row], readers: Sequence[Reader]) -> str:
    """Return the nets and what others have published, as Markdown."""
    return f"{table(NET_HEADS, map(net_cells, rows))}\n\n{table(READER_HEADS, map(reader_cells, readers))}\n"


def net_cells(row: Row) -> Sequence[str]:
    """Return a net's cells under NET_HEADS."""
    low, high = (100 * share for share in row.interval95)
    return (
        f"`{row.name}`",
        f"{100 * row.accuracy:.2f} %",
        f"{low:.2f} to {high:.2f}",
        f"{row.tstates_mean:,.0f}",
        f"{row.tstates_worst:,}",
        f"{row.frames:.2f}",
        f"{row.ms:.1f}",
        f"{row.nbytes:,}",
        f"{row.tstates_a_mac:.2f}",
    )


def reader_cells(reader: Reader) -> Sequence[str]:
    """Return a published program's cells under READER_HEADS; a mark of about stands before what was worked out."""
    cycles, seconds = reader.cycles_a_picture, reader.seconds_a_picture
    return (
        reader.name,
        f"{reader.machine}, {reader.bits} bits",
        f"{100 * reader.accuracy:.4g} %",
        f"{reader.pictures:,}" if reader.pictures else "not said",
        "not said" if cycles is None else f"{'' if reader.cycles else '≈ '}{cycles:,.0f}",
        "not said" if seconds is None else f"{'' if reader.seconds else '≈ '}{1000 * seconds:,.1f}",
        str(reader.year),
        f"[{reader.title}]({reader.source}): {reader.measured}; {reader.caveat}",
    )


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(_lines(heads, lines))


def _lines(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for line in lines:
        yield f"| {' | '.join(line)} |"
