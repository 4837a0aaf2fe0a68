"""What a kernel is: hand-written Z80 code for a run of layers, with all that the planner needs to choose and place it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from zxml.ir import Layer, Range
from zxml.z80gen.cost import Cost, Counts

Values = NDArray[np.int64]
Symbols = Mapping[str, int]
LINES = ("line of batches", "codes in batches")  # formats that are code: the kernel before has written into this one's


class Place(Enum):
    """Where a section may lie."""

    FAST = "code and buffers: uncontended RAM only"
    TABLE = "read-only tables: uncontended RAM if there is room, else contended"


@dataclass(frozen=True)
class Section:
    """A piece of the image, assembled from one file.

    source: the file, without its ending: a hand-written one below asm/, or a generated one; nbytes: its length;
    align: its address is a multiple of this; at: its address, if only one will do;
    generated: what writes the text of each generated file, by name without the ending; only the chosen plan's are written;
    has_constant: its address is the constant SOURCE_at, too, which other constants may be made of before the label is reached;
    is_common: more than the kernels that name it use it, so it must lie where it is always seen;
    file: of a renamed copy of a hand-written file, that file; rename: what makes the copy's text of the file's.
    """

    source: str
    nbytes: int
    place: Place
    align: int = 1
    at: int | None = None
    generated: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    has_constant: bool = False
    is_common: bool = False
    file: str = ""
    rename: Callable[[str], str] = str


@dataclass(frozen=True, eq=False)
class Part:
    """The run of a model's layers that one kernel computes.

    before: the layer that feeds it (None: the picture); inputs: the proved range of what comes in; shape: its shape.
    """

    before: Layer | None
    inputs: Range
    layers: tuple[Layer, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Kernel:
    """One way to compute a run of layers on the Z80.

    kinds: the layers it computes, in order; takes, gives: what it reads and leaves, which must match its neighbours'.
    keeps: what it leaves of layers before its last, by their place in kinds, for layers after an Exit that go on from them.
    prefix: what the names of its labels, constants and files start with, if two nets of a cascade may use such kernels.
    calls(part): lines of 3 bytes each, such as `call edge_sum`, that the program is to run, in order; the first is entered with
    the picture's address in hl if takes is "picture". A kernel of an Exit ends with carry set where the answer is given.
    fits(part): None, or the reason why it cannot compute these layers.
    cost(part): bytes and T-states. count(part, inputs, outputs): how much of each term of the cost each picture has, from the
    values before the layers, (n, ...), and those after each of them.
    constants(part): values of its EQUs. sections(part): its code, buffers and tables.
    read(memory, symbols, part): the last layer's output, in its shape, from 64K of memory when the next kernel has run.
    """

    name: str
    kinds: tuple[type[Layer], ...]
    takes: str
    gives: str
    calls: Callable[[Part], tuple[str, ...]]
    fits: Callable[[Part], str | None]
    cost: Callable[[Part], Cost]
    count: Callable[[Part, Values, list[Values]], Counts]
    constants: Callable[[Part], dict[str, int]]
    sections: Callable[[Part], tuple[Section, ...]]
    read: Callable[[bytes, Symbols, Part], Values]
    keeps: Mapping[int, str] = field(default_factory=dict)
    prefix: str = ""

    @property
    def takes_line(self) -> bool:
        """Whether the kernel before writes into this one's code, so that it must see it."""
        return self.takes.startswith(LINES)


def call(*routines: str) -> Callable[[Part], tuple[str, ...]]:
    """Return the `calls` of a kernel that just calls routines."""
    lines = tuple(f"call {routine}" for routine in routines)
    return lambda part: lines


def table(
    name: str,
    nbytes: int,
    write: Callable[[], str],
    place: Place = Place.TABLE,
    align: int = 256,
    at: int | None = None,
) -> Section:
    """Return the section of a generated file."""
    return Section(name, nbytes, place, align, at, {name: write})
