"""`docs/kernels.md`: each kernel's formula, bytes and limits, from its module's docstring and its cost.

A module's docstring begins with `name: what it computes`, and what follows `Limits:` in it is what the kernel cannot do.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import get_args

import numpy as np

from zxml.errors import ZxmlError
from zxml.files import write_whole
from zxml.ir import (
    PICTURE_SIDE,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntArray,
    IntegerModel,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Range,
    Requant,
    Steps,
    Window,
    sources,
)
from zxml.z80gen.cost import Cost
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels import KERNELS

PAGE = Path("docs", "kernels.md")
WINDOW = Window(4, 4, 20, 20)
HEADS = ("kernel", "layers", "computes", "bytes", "T-states, at most", "limits")
LEAD = """\
# Kernels

`make docs` writes this page from the kernels, and a test compares the two. The planner tries every chain of kernels that
computes a net and takes the fastest that fits ([design.md](design.md)). Bytes and T-states are those of the layer named in
brackets, of an example net below; `python -m zxml show MODEL` tells those of a net of yours. Of a kernel in several sizes of
batches, or for several numbers of bands, they are the first's."""
LAYERS = """\
## What the layers mean

A layer's docstring in `zxml/ir/layers.py` has the whole of it."""
COSTS = """\
## T-states

The exact time of a call on uncontended memory, CALL included, for each picture."""


def ones(*shape: int) -> IntArray:
    """Return weights that every kernel takes: those of three sides are of layers in which the first choice adds nothing."""
    weight = np.ones(shape, np.int32)
    if len(shape) == 3:
        weight[:, 0] = 0
    return weight


def example_nets() -> tuple[IntegerModel, ...]:
    """Return nets with a part for each kernel: on pixels, features and planes, cascades, and one with further looks."""
    features = np.ones((512, 8), np.int32)
    features[0] = 0
    front: tuple[Layer, ...] = (PatchConv("front", WINDOW, features), Pool("front_pool"))
    scores: tuple[Layer, ...] = (Dense("scores", 16, ones(58, 10), ones(10)), ArgMax("digit"))
    pixels: tuple[Layer, ...] = (PatchSum("hidden", WINDOW, 1, 1, 8, ones(400, 2, 58), ones(58)), Requant("levels", 3, 8))
    units: tuple[Layer, ...] = (Dense("hidden", 8, ones(648, 58), ones(58)), Requant("levels", 3, 8))
    quick: tuple[Layer, ...] = (
        Codebook("codes", np.arange(256, dtype=np.int32) % 8),
        CodeSum("quick", 16, ones(81, 8, 10), ones(10)),
        Exit("sure", 60, "front_pool"),
    )
    convs: tuple[Layer, ...] = (
        Conv("conv1", 8, ones(3, 3, 8, 16), ones(16)),
        Requant("levels1", 1, 1),
        Pool("pool1"),
        Conv("conv2", 8, ones(3, 3, 16, 32), ones(32)),
        Requant("levels2", 1, 1),
        Pool("pool2"),
        Dense("scores", 16, ones(32, 10), ones(10)),
        ArgMax("digit"),
    )
    shared: tuple[Layer, ...] = (
        *quick[:2],
        Exit("sure", 60, "codes"),
        CodeSum("hidden", 8, ones(81, 8, 58), ones(58)),
        Requant("levels", 3, 8),
    )
    steps = np.repeat(np.array([[0], [20]], np.int32), 16, axis=1)
    planes: tuple[Layer, ...] = (
        PatchConv("front", WINDOW, 2 * features),
        front[1],
        convs[0],
        Steps("levels1", steps),
        Pool("pool1"),
        Dense("scores", 16, ones(256, 10), ones(10)),
        ArgMax("digit"),
    )
    return (
        IntegerModel("pixels", 0, (*pixels, *scores)),
        IntegerModel("features", 0, (*front, *units, *scores)),
        IntegerModel("cascade", 0, (*front, *quick, *convs)),
        IntegerModel("shared", 0, (*front, *shared, *scores)),
        IntegerModel("planes", 0, planes),
        IntegerModel("looks", 0, (*pixels, scores[0], Looks("looks", "hidden", ((0, -1), (0, 1))), scores[1])),
    )


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
    """Return the first part of an example net that the kernel computes, as net/layer, and its cost; raise ZxmlError if none."""
    for model in example_nets():
        for part in parts(model, kernel):
            return f"{model.name}/{part.layers[0].name}", kernel.cost(part)
    raise ZxmlError(f"{kernel.name}: no example net of kernels_page.py has layers for it; add some to example_nets()")


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
            return said.rstrip(".")
    return "-"


def page() -> str:
    """Return the page."""
    costs = [f"- {name_of(kernels)}: {example(kernels[0])[1]}" for kernels in families()]
    formulas = [f"| `{kind.__name__}` | {formula(kind)} |" for kind in get_args(Layer)]
    blocks = [
        LEAD,
        "\n".join([f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}", *map(row_of, families())]),
        COSTS,
        "\n".join(costs),
        LAYERS,
        "\n".join(["| layer | formula |", "|---|---|", *formulas]),
        "## The example nets",
        *(f"```\n{model.show()}\n```" for model in example_nets()),
    ]
    return "\n\n".join(blocks) + "\n"


def families() -> list[list[Kernel]]:
    """Return the kernels, those together that differ in the numbers at the end of their names alone."""
    return [list(kernels) for _, kernels in groupby(KERNELS, lambda kernel: (family(kernel), kernel.kinds))]


def family(kernel: Kernel) -> str:
    """Return the kernel's name without the numbers at its end: the sizes of its batches, or of bands."""
    return re.sub(r"(_\d+)+$", "", kernel.name)


def name_of(kernels: Sequence[Kernel]) -> str:
    """Return the name of kernels that differ in the numbers at its end alone."""
    first = kernels[0]
    if len(kernels) == 1:
        return f"`{first.name}`"
    sizes = [kernel.name.removeprefix(family(kernel)).split("_")[1:] for kernel in kernels]
    each = {letter: ", ".join(dict.fromkeys(column)) for letter, column in zip("NM", zip(*sizes, strict=True), strict=False)}
    return f"`{'_'.join([family(first), *each])}`, {', '.join(f'{letter} = {values}' for letter, values in each.items())}"


def row_of(kernels: Sequence[Kernel]) -> str:
    """Return the row of kernels that differ in the numbers at the end of their names alone."""
    first, text = kernels[0], docstring(kernels[0])
    where, cost = example(first)
    kinds = " + ".join(kind.__name__ for kind in first.kinds)
    cells = (name_of(kernels), f"{kinds} ({where})", summary(text), f"{cost.nbytes:,}", f"{cost.worst:,}", limits(text))
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
