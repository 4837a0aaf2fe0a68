"""The page of training benchmarks, rendered from the runs that are kept as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zxml.bench_steps import PARTS, POPULATION_PARTS, POPULATION_REST, REST, PopulationTimes, StepBench, StepTimes, read_steps
from zxml.bench_train import BASES, PRODUCT, Bench, Row, read_bench

HEAD = """\
# Training benchmarks

`python -m zxml bench-train` measures our OpenCL back ends beside other engines: the same nets, pictures and work, in one run.
Other engines are measured where they are installed: `pip install "zxml[bench]"`. This page is what
`python -m zxml bench-train --docs` makes of the runs in `bench/`; a test fails if it is not.

- Nets: `784-64-10` and `784-128-64-10` are dense with ReLU; `256-64-10` sees the centre of each picture, averaged to 16 x 16;
  `conv3x3x12-pool-10` has twelve 3 x 3 filters, ReLU, a 2 x 2 maximum and a dense layer. Softmax, cross-entropy, SGD with
  momentum 0.9 at the rate 0.05, batches of 128, float32.
- Pictures: all 60,000 of MNIST's training set at one bit a pixel, resident on the device as each engine likes them, shuffled
  anew each epoch. Ours keeps them as bits and makes use of that; the sums are the same.
- Time: the median of all epochs but the first, which compiles. Right: of the 10,000 test pictures, after the last epoch.
  Nothing is chosen by it.
- Ratio: an engine's time over ours (`zxml`; for populations `zxml-population`), so 3.00 means that ours takes a third.
- Populations: 1,024 models at once, each with its own start and order; the time is one model's, the accuracy the first's.
  On NVIDIA's matrix units ours multiplies bits, which are exact there, by numbers that are each a sum of two numbers of bf16,
  which is a float32 but for 2^-17 of it, and adds up in float32; `jax-vmap` multiplies in TF32, which is off by up to 2^-11.
- `product` is the net of `models/mnist.toml`: `zxml-integer` trains it with the Z80's arithmetic inside, on pictures distorted
  anew each epoch; `zxml-float` is the same step in plain numbers.
"""
STEPS = """\
A net of one hidden layer is trained by one launch an epoch: a work-group is a hidden unit and half of the picture's rows, its
weights stay in registers, and groups tell each other numbers through memory, twice a step, without a barrier
(`zxml/gpu/kernels/persistent.cl`). Below is what a step loses when a part of it is left out, in microseconds, as
`python -m zxml.bench_steps` measures it: first the waiting, then, of a step that does not wait, each other part alone; the rest
is what is left. A part that hides behind others may read as nothing or, by noise, as less. The opening is what comes before
an epoch's first step: the order, the batches' bits, clearing.
"""
POPULATIONS = """\
Of a population each work-group trains a net of its own, and a launch runs many steps. Where there are matrix units, a pass over
the hidden layer's weights multiplies the slopes of a batch by its pixels, moves the weights, and at once adds up the next
batch's pixels by the new weights, so that a step reads and writes each weight once (`zxml/gpu/kernels/population_matrix.cl`).
Below are microseconds a net and epoch with {models:,} nets at once, and what is lost when a part is left out; the rest is what
is left. Groups on one core hide each other's waiting, and parts of one pass hide behind its loads, so parts add up to less than
the whole.
"""


def render(benches: list[Bench], steps: list[StepBench]) -> str:
    """Return the page."""
    return "\n".join([HEAD, *map(_section, benches), *map(_steps_section, steps)])


def render_folder(folder: Path) -> str:
    """Return the page of the runs kept in a folder; raise DataError if a file is not one."""
    benches = [read_bench(path) for path in sorted(folder.glob("train-*.json"))]
    return render(benches, [read_steps(path) for path in sorted(folder.glob("steps-*.json"))])


def table(rows: list[Row]) -> list[str]:
    """Return a Markdown table of rows."""
    head = ["| net | engine | models | ms an epoch | ratio | right |", "|---|---|--:|--:|--:|--:|"]
    return head + [_line(row) for row in rows]


def _line(row: Row) -> str:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    engine = f"**{row.engine}**" if row.engine in BASES and row.net != PRODUCT else row.engine
    return f"| {row.net} | {engine} | {row.models:,} | {row.ms_per_epoch:,.2f} | {ratio} | {100 * row.accuracy:.2f} % |"


def _section(bench: Bench) -> str:
    left_out = [f"Left out: {'; '.join(bench.left_out)}.", ""] if bench.left_out else []
    head = [f"## {bench.title}", "", f"{bench.epochs} epochs; {', '.join(bench.versions)}.", ""]
    return "\n".join([*head, *table(bench.rows), "", *left_out])


def _steps_section(bench: StepBench) -> str:
    head = [f"## Where a step's time goes: {bench.device}", "", STEPS]
    opening = f"| opening of an epoch, ms | {' | '.join(f'{net.opening:.2f}' for net in bench.nets)} |"
    alone = _parts_table(bench.nets, PARTS, REST, "a whole step")
    many = _parts_table(bench.populations, POPULATION_PARTS, POPULATION_REST, "a whole epoch of a net")
    text = POPULATIONS.format(models=max(net.models for net in bench.populations))
    return "\n".join([*head, *alone, opening, "", text, *many, ""])


def _parts_table(nets: Sequence[StepTimes | PopulationTimes], parts: Sequence[str], rest: str, whole: str) -> list[str]:
    """Return a Markdown table of what nets lose without each part, the rest, and the whole."""
    head = [f"| part | {' | '.join(net.net for net in nets)} |", f"|---{'|--:' * len(nets)}|"]
    lost = [[net.parts[number] for net in nets] for number in range(len(parts))]
    left = [net.whole - sum(net.parts) for net in nets]
    lines = [*zip((*parts, rest, whole), (*lost, left, [net.whole for net in nets]), strict=True)]
    return head + [f"| {name} | {' | '.join(f'{value:.2f}' for value in values)} |" for name, values in lines]
