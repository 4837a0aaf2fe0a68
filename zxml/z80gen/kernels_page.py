"""`docs/kernels.md`: each kernel's formula, bytes and limits, from its module's docstring and its cost; written by this module.

A module's docstring begins with `name: what it computes`, and what follows `Limits:` in it is what the kernel cannot do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import numpy as np

from zxml.files import write_whole
from zxml.ir import (
    PICTURE_SIDE,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntegerModel,
    Layer,
    PatchConv,
    PatchSum,
    Pool,
    Range,
    Requant,
    Window,
    sources,
)
from zxml.z80gen.cost import Cost
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels import KERNELS

PAGE = Path("docs", "kernels.md")
WINDOW = Window(4, 4, 20, 20)
HEADS = ("kernel", "layers", "computes", "bytes", "T-states", "at most", "limits")
LEAD = """\
# Kernels

`make docs` writes this page from the kernels; a test compares them. The planner tries every chain of kernels that computes a net
and takes the fastest that fits ([design.md](design.md)). Bytes and T-states are those of one step of an example net below; T-states
are exact for each picture, CALL included, on uncontended memory. Where a kernel comes in several batches, the figures are of the
first."""


def ones(*shape: int) -> Any:
    """Return weights that every kernel takes; what nothing picks is 0, as a layer on codes wants."""
    weight = np.ones(shape, np.int32)
    if len(shape) == 3:
        weight[:, 0] = 0
    return weight


def example_nets() -> tuple[IntegerModel, ...]:
    """Return nets that have a part for each kernel: one with a hidden layer, and a cascade with every other kind of layer."""
    bits = np.zeros((512, 8), np.int32)
    code = np.arange(256, dtype=np.int32) % 8
    hidden: tuple[Layer, ...] = (
        PatchSum("hidden", WINDOW, 1, 1, 8, ones(400, 2, 58), ones(58)),
        Requant("levels", 3, 8),
        Dense("scores", 16, ones(58, 10), ones(10)),
        ArgMax("digit"),
    )
    cascade: tuple[Layer, ...] = (
        PatchConv("front", WINDOW, bits),
        Pool("front_pool"),
        Codebook("codes", code),
        CodeSum("quick", 16, ones(81, 8, 10), ones(10)),
        Exit("sure", 60, "front_pool"),
        Conv("conv1", 8, np.ones((3, 3, 8, 16), np.int32), ones(16)),
        Requant("levels1", 1, 1),
        Pool("pool1"),
        Conv("conv2", 8, np.ones((3, 3, 16, 32), np.int32), ones(32)),
        Requant("levels2", 1, 1),
        Pool("pool2"),
        Dense("scores", 16, ones(32, 10), ones(10)),
        ArgMax("digit"),
    )
    return IntegerModel("hidden", 0, hidden), IntegerModel("cascade", 0, cascade)


def parts(model: IntegerModel, kernel: Kernel) -> Iterator[Part]:
    """Yield each run of the model's layers that the kernel computes."""
    ranges = [Range(0, 1), *(row.out for row in model.ranges())]
    shapes = [(PICTURE_SIDE, PICTURE_SIDE), *(row.shape for row in model.ranges())]
    for first, source in enumerate(sources(model.layers)):
        layers = model.layers[first : first + len(kernel.kinds)]
        part = Part(model.layers[source] if source >= 0 else None, ranges[source + 1], layers, shapes[source + 1])
        if tuple(map(type, layers)) == kernel.kinds and kernel.fits(part) is None:
            yield part


def example(kernel: Kernel) -> tuple[str, Cost]:
    """Return the first part of an example net that the kernel computes, as net/layer, and its cost there."""
    found = ((model, part) for model in example_nets() for part in parts(model, kernel))
    model, part = next(found)
    return f"{model.name}/{part.layers[0].name}", kernel.cost(part)


def docstring(kernel: Kernel) -> str:
    """Return the docstring of the module that defines the kernel."""
    function: Callable[..., object] = kernel.fits
    while isinstance(function, partial):
        function = function.func
    return sys.modules[function.__module__].__doc__ or ""


def summary(text: str) -> str:
    """Return what a kernel computes: the docstring's first line after the name."""
    return text.splitlines()[0].partition(": ")[2].rstrip(".")


def limits(text: str) -> str:
    """Return what follows `Limits:` in the docstring, to the end of the paragraph, or a dash."""
    for paragraph in text.split("\n\n"):
        said = " ".join(paragraph.split()).partition("Limits: ")[2]
        if said:
            return said
    return "-"


def page() -> str:
    """Return the page."""
    rows = [row_of(list(kernels)) for _, kernels in groupby(KERNELS, lambda kernel: (family(kernel), kernel.kinds))]
    nets = [f"`{model.show()}`".replace("`", "```\n", 1)[:-1] + "\n```" for model in example_nets()]
    formulas = [f"| `{kind.__name__}` | {formula(kind)} |" for kind in get_args(Layer)]
    return (
        "\n\n".join(
            [
                LEAD,
                "\n".join([f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}", *rows]),
                "## What the layers mean",
                "\n".join(["| layer | formula |", "|---|---|", *formulas]),
                "## The example nets",
                *nets,
            ]
        )
        + "\n"
    )


def family(kernel: Kernel) -> str:
    """Return the kernel's name without the size of its batch."""
    return kernel.name.rstrip("0123456789").rstrip("_")


def row_of(kernels: Sequence[Kernel]) -> str:
    """Return the row of kernels that differ in the size of their batches alone."""
    first, text = kernels[0], docstring(kernels[0])
    where, cost = example(first)
    batches = [kernel.name.removeprefix(f"{family(first)}_") for kernel in kernels]
    name = f"`{first.name}`" if len(kernels) == 1 else f"`{family(first)}_N`, N = {', '.join(batches)}"
    kinds = ", ".join(kind.__name__ for kind in first.kinds)
    cells = (name, f"{kinds} (`{where}`)", summary(text), f"{cost.nbytes:,}", str(cost), f"{cost.worst:,}", limits(text))
    return f"| {' | '.join(cells)} |"


def formula(kind: type) -> str:
    """Return the formula in a layer's docstring, or its first sentence if it has none."""
    lines = [line.strip() for line in (kind.__doc__ or "").splitlines()]
    said = [line for line in lines if line.startswith("out[")]
    return f"`{said[0]}`" if said else lines[0].rstrip(".")


def main(arguments: Iterable[str] | None = None) -> int:
    """Write the page and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m zxml.z80gen.kernels_page", description=f"write {PAGE}")
    parser.add_argument("path", nargs="?", type=Path, default=PAGE, help=f"where to (default: {PAGE})")
    write_whole(parser.parse_args(None if arguments is None else list(arguments)).path, page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
