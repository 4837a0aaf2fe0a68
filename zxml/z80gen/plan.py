"""Chooses kernels by exact cost and gives every piece of the image its place in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from zxml.errors import PlanError
from zxml.ir import PICTURE, PICTURE_SIDE, Exit, IntegerModel, Range, sources
from zxml.reference import Pictures, batches, trace
from zxml.z80gen.cost import Cost
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values
from zxml.z80gen.kernels import KERNELS
from zxml.z80gen.memory import Placed, place
from zxml.z80gen.target import SPECTRUM_48K, Target

RET_TSTATES, LEAVE_TSTATES, STAY_TSTATES = 10, 11, 5  # classify's own: ret; ret c, taken and not
PICTURE_TSTATES = 16  # keeping the picture's address, or taking it again


@dataclass(frozen=True)
class Program:
    """What runs the net: files under asm/ for the start of the image, generated ones, and code that must be in fast RAM.

    nbytes: the room to leave for the files at the start of the image.
    """

    sources: tuple[str, ...] = ()
    generated: Mapping[str, str] = field(default_factory=dict)
    fast: tuple[Section, ...] = ()
    nbytes: int = 0


NO_PROGRAM = Program()


@dataclass(frozen=True, eq=False)
class Step:
    """One kernel at work on its part of the model; name: its first layer's."""

    kernel: Kernel
    part: Part
    cost: Cost

    @property
    def name(self) -> str:
        """The name of the first layer it computes."""
        return self.part.layers[0].name

    @property
    def is_exit(self) -> bool:
        """Whether it may end the classification."""
        return isinstance(self.part.layers[-1], Exit)


@dataclass(frozen=True)
class Rejected:
    """A choice that lost, and why."""

    name: str
    reason: str


class Trace:
    """Of some pictures: what they are and what each layer puts out, in order, and what each layer takes."""

    def __init__(self, model: IntegerModel, pictures: Pictures) -> None:
        self.outputs = [pictures.astype(np.int64), *trace(model, pictures).values()]
        self.taken = [self.outputs[source + 1] for source in sources(model.layers)]


@dataclass(frozen=True, eq=False)
class Plan:
    """The chosen steps, where everything lies, what a classification costs on the sample, and what lost."""

    model: IntegerModel
    target: Target
    program: Program
    steps: tuple[Step, ...]
    placed: tuple[Placed, ...]
    tstates_mean: float
    rejected: tuple[Rejected, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the kernels' code, tables and buffers."""
        ours = {section.source for step in self.steps for section in step.kernel.sections(step.part)}
        return sum(placed.section.nbytes for placed in self.placed if placed.section.source in ours)

    @property
    def keeps_picture(self) -> bool:
        """Whether a step after the first takes the picture again."""
        return any(step.kernel.takes == PICTURE for step in self.steps[1:])

    @property
    def program_end(self) -> int:
        """One past the last byte that the program may take."""
        return min(placed.addr for placed in self.placed)

    def tstates(self, pictures: Pictures) -> Values:
        """Return the exact T-states that each picture takes on uncontended memory, (n,), classify's CALL excluded."""
        parts = (Trace(self.model, part) for part in batches(pictures))
        return np.concatenate([self.tstates_of(part) for part in parts])

    def tstates_of(self, seen: Trace) -> Values:
        """Return `tstates` from what the layers put out."""
        total = np.full(len(seen.outputs[0]), RET_TSTATES + PICTURE_TSTATES * self.keeps_picture, np.int64)
        runs = np.ones(len(total), np.int64)  # 0 once a picture has left
        for step, first, last in _spans(self.steps):
            total += runs * step.cost.tstates(
                step.kernel.count(step.part, seen.taken[first], seen.outputs[first + 1 : last + 1])
            )
            total += runs * PICTURE_TSTATES * (first > 0 and step.kernel.takes == PICTURE)
            if step.is_exit:
                leaves = seen.outputs[last][:, 0]
                total += runs * np.where(leaves, LEAVE_TSTATES - RET_TSTATES, STAY_TSTATES)
                runs = runs * (1 - leaves)
        return total

    @property
    def tstates_worst(self) -> int:
        """No picture takes more T-states than this."""
        fixed = RET_TSTATES + STAY_TSTATES * sum(step.is_exit for step in self.steps)
        again = sum(step.kernel.takes == PICTURE for step in self.steps[1:])
        return fixed + PICTURE_TSTATES * (self.keeps_picture + again) + sum(step.cost.worst for step in self.steps)

    def memory_map(self) -> str:
        """Return a table of what lies where."""
        rows = [f"{p.addr:#06x}  {p.end - 1:#06x}  {p.section.nbytes:6,}  {p.section.source}" for p in self.placed]
        return "\n".join(["first   last     bytes  what", *rows])


def plan(model: IntegerModel, pictures: Pictures, program: Program = NO_PROGRAM, target: Target = SPECTRUM_48K) -> Plan:
    """Return the plan whose mean over the sample pictures (n, 28, 28) is fastest, of those that fit the memory.

    Raises PlanError if none does: it names the layer, and the bytes that are missing or the kernels and why they lost.
    """
    rejected: list[Rejected] = []
    too_large: list[Rejected] = []
    plans = []
    seen = Trace(model, pictures)
    for steps in _chains(model, rejected):
        name = " + ".join(step.kernel.name for step in steps)
        try:
            placed = place(sections_of(steps, program), target, program.nbytes)
        except PlanError as error:
            too_large.append(Rejected(name, str(error)))
            continue
        draft = Plan(model, target, program, steps, placed, 0.0, ())
        plans.append((float(draft.tstates_of(seen).mean()), name, steps, placed))
    if not plans:
        reasons = [choice.reason for choice in too_large[:1] or rejected]
        raise PlanError(f"{model.name} does not fit a {target.name}: {'; '.join(dict.fromkeys(reasons))}")
    plans.sort(key=lambda entry: entry[:2])
    mean, _, steps, placed = plans[0]
    rejected += too_large
    rejected += [Rejected(name, f"{slower - mean:,.0f} T-states slower") for slower, name, _, _ in plans[1:]]
    return Plan(model, target, program, steps, placed, mean, tuple(dict.fromkeys(rejected)))


def sections_of(steps: tuple[Step, ...], program: Program) -> list[tuple[str, Section]]:
    """Return all that has to be placed, each with what needs it; the code that calls the kernels in turn is one of them."""
    size = 1 + sum(3 * len(step.kernel.calls(step.part)) + step.is_exit for step in steps)
    again = sum(step.kernel.takes == PICTURE for step in steps[1:])
    size += 3 * again + (5 if again else 0)  # the address: 3 bytes to keep it, 3 to take it, 2 to hold it
    found = [("program", section) for section in (*program.fast, Section("classify", size, Place.FAST))]
    found += [(f"layer {step.name}", section) for step in steps for section in step.kernel.sections(step.part)]
    unique: dict[str, tuple[str, Section]] = {}
    for owner, section in found:
        known = unique.get(section.source)
        if known is None or known[1].nbytes < section.nbytes:  # what several kernels share comes once, as large as any needs it
            unique[section.source] = owner, section
    return [*unique.values()]


def _spans(steps: tuple[Step, ...]) -> Iterator[tuple[Step, int, int]]:
    """Yield each step with the numbers of its input and of its last output in [picture, layer 0, layer 1, ...]."""
    first = 0
    for step in steps:
        last = first + len(step.part.layers)
        yield step, first, last
        first = last


def _chains(model: IntegerModel, rejected: list[Rejected]) -> Iterator[tuple[Step, ...]]:
    """Yield every sequence of kernels that computes the model, and note the kernels that do not fit."""
    ranges = [Range(0, 1), *(row.out for row in model.ranges())]
    shapes = [(PICTURE_SIDE, PICTURE_SIDE), *(row.shape for row in model.ranges())]
    taken = list(sources(model.layers))

    def extend(first: int, formats: Mapping[int, str]) -> Iterator[tuple[Step, ...]]:
        if first == len(model.layers):
            yield ()
            return
        source = taken[first]
        for kernel in KERNELS:
            layers = model.layers[first : first + len(kernel.kinds)]
            if tuple(map(type, layers)) != kernel.kinds or formats.get(source) != kernel.takes:
                continue
            part = Part(model.layers[source] if source >= 0 else None, ranges[source + 1], layers, shapes[source + 1])
            reason = kernel.fits(part)
            if reason:
                rejected.append(Rejected(kernel.name, f"layer {layers[0].name}: {reason}"))
                continue
            left = {first + place: form for place, form in kernel.keeps.items()} | {first + len(layers) - 1: kernel.gives}
            for rest in extend(first + len(layers), {**formats, **left}):
                yield (Step(kernel, part, kernel.cost(part)), *rest)

    yield from extend(0, {-1: PICTURE})
