"""Chooses kernels by exact cost and gives every piece of the image its place in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

import numpy as np

from zxml.errors import PlanError
from zxml.ir import PICTURE, PICTURE_SIDE, Exit, IntegerModel, Looks, Range, looked_again, sources
from zxml.reference import Pictures, batches
from zxml.z80gen.cost import Cost
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Values
from zxml.z80gen.kernels import KERNELS
from zxml.z80gen.memory import Placed, place
from zxml.z80gen.paging import SELECT_NBYTES, SELECT_TSTATES, arrangements, banks_of, selections
from zxml.z80gen.renaming import with_own_names
from zxml.z80gen.target import SPECTRUM_48K, Target
from zxml.z80gen.trace import Trace

RET_TSTATES, LEAVE_TSTATES, STAY_TSTATES = 10, 11, 5  # classify's own: ret; ret c, taken and not
PICTURE_TSTATES = 16  # keeping the picture's address, or taking it again
LOOK_TSTATES = 27  # to call what looks have in common, with its ret
HASTE_TSTATES = 2_000_000  # after an exit: where more may follow, classify looks whether its caller is in haste
NO_HASTE_TSTATES, HASTE_NBYTES = 22, 5  # that, where it is not


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
    """One kernel at work on its part of the model; name: its first layer's; bank: the one selected while it runs, if any."""

    kernel: Kernel
    part: Part
    cost: Cost
    bank: int | None = None

    @property
    def name(self) -> str:
        """The name of the first layer it computes."""
        return self.part.layers[0].name

    @property
    def sections(self) -> tuple[Section, ...]:
        """Its code, buffers and tables."""
        return _sections(self.kernel, self.part)

    @property
    def is_exit(self) -> bool:
        """Whether it may end the classification."""
        return isinstance(self.part.layers[-1], Exit)

    @property
    def looks(self) -> Looks | None:
        """The further looks, if it is they."""
        last = self.part.layers[-1]
        return last if isinstance(last, Looks) else None


@lru_cache(maxsize=4096)  # chains have steps in common
def _sections(kernel: Kernel, part: Part) -> tuple[Section, ...]:
    return kernel.sections(part)


@dataclass(frozen=True)
class Rejected:
    """A choice that lost, and why."""

    name: str
    reason: str


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
        ours = {section.source for step in self.steps for section in step.sections}
        return sum(placed.section.nbytes for placed in self.placed if placed.section.source in ours)

    @property
    def costs(self) -> list[tuple[Step, str, int]]:
        """Each step with its T-states as a formula, and the most of them, without what classify itself takes."""
        found = []
        for number, step in enumerate(self.steps):
            names = " + ".join(self.steps[again].name for again in looked_steps(self.steps, number))
            further = f" +{len(step.looks.shifts)} x ({_look_tstates(self.steps, number)} + {names})" if step.looks else ""
            found.append((step, f"{step.cost}{further}", _worst(self.steps, number)))
        return found

    @property
    def banks(self) -> tuple[int, ...]:
        """The banks that hold something."""
        return tuple(sorted({placed.bank for placed in self.placed if placed.bank is not None}))

    @property
    def end(self) -> int:
        """One past the last byte outside of banks."""
        return max(placed.end for placed in self.placed if placed.bank is None)

    @property
    def program_end(self) -> int:
        """One past the last byte that the program may take."""
        return min(placed.addr for placed in self.placed if placed.bank is None)

    def tstates(self, pictures: Pictures) -> Values:
        """Return the exact T-states that each picture takes on uncontended memory, (n,), classify's CALL excluded."""
        parts = (Trace(self.model.layers, part.astype(np.int64)) for part in batches(pictures))
        return np.concatenate([self.tstates_of(part) for part in parts])

    def tstates_of(self, seen: Trace) -> Values:
        """Return `tstates` from what the layers put out."""
        total = np.full(len(seen.outputs[0]), RET_TSTATES + PICTURE_TSTATES * keeps_picture(self.steps), np.int64)
        runs = np.ones(len(total), np.int64)  # 0 once a picture has left
        for number, (step, last, spent) in enumerate(_spent(self.steps, seen)):
            total += runs * (spent + _around(self.steps, number))
            going, looks = seen.looks.get(last - 1, ((), ()))
            again = looked_steps(self.steps, number)
            for look in looks:
                each = (spent for _, _, spent in _spent(tuple(self.steps[each] for each in again), look))
                total[going] += sum(each, np.int64(_look_tstates(self.steps, number)))
            if step.is_exit:
                leaves = seen.outputs[last][:, 0]
                total += runs * np.where(leaves, LEAVE_TSTATES - RET_TSTATES, _stay(self.steps, number))
                runs = runs * (1 - leaves)
        return total

    @property
    def tstates_worst(self) -> int:
        """No picture takes more T-states than this."""
        numbers = range(len(self.steps))
        own = sum(_around(self.steps, number) + _stay(self.steps, number) for number in numbers)
        fixed = RET_TSTATES + PICTURE_TSTATES * keeps_picture(self.steps) + own
        return fixed + sum(_worst(self.steps, number) for number in numbers)

    def memory_map(self) -> str:
        """Return a table of what lies where, on machines that have banks with these."""
        banks = [f"{'' if p.bank is None else p.bank!s:>4}  " if self.target.banks else "" for p in self.placed]
        rows = [f"{p.addr:#06x}  {p.end - 1:#06x}  {p.section.nbytes:6,}  {p.section.source}" for p in self.placed]
        head = f"{'bank  ' if self.target.banks else ''}first   last     bytes  what"
        return "\n".join([head, *map(str.__add__, banks, rows)])


def plan(model: IntegerModel, pictures: Pictures, program: Program = NO_PROGRAM, target: Target = SPECTRUM_48K) -> Plan:
    """Return the plan whose mean over the sample pictures (n, 28, 28) is fastest, of those that fit the memory.

    Raises PlanError if none does: it names the layer, and the bytes that are missing or the kernels and why they lost.
    """
    rejected: list[Rejected] = []
    seen = Trace(model.layers, pictures.astype(np.int64))

    def draft(steps: tuple[Step, ...], placed: tuple[Placed, ...] = ()) -> Plan:
        made = Plan(model, target, program, steps, placed, 0.0, ())
        return replace(made, tstates_mean=float(made.tstates_of(seen).mean()))

    drafts = [draft(chain) for chain in map(with_own_names, _chains(model, rejected))]
    fits, lost = _try(sorted(drafts, key=_rank), lambda made: draft(*_place(made.steps, program, target)))
    if not fits:
        reasons = [reason for _, reason in lost[:1]] or [choice.reason for choice in rejected]
        raise PlanError(f"{model.name} does not fit a {target.name}: {'; '.join(dict.fromkeys(reasons))}")
    chosen = min(fits, key=_rank)
    lost += [(made, "") for made in fits if made is not chosen]
    for made, reason in sorted(lost, key=lambda entry: _rank(entry[0])):
        slower = f"{made.tstates_mean - chosen.tstates_mean:,.0f} T-states slower"
        rejected.append(Rejected(_instead(made, chosen), reason or slower))
    return replace(chosen, rejected=tuple(dict.fromkeys(rejected)))


def _rank(made: Plan) -> tuple[float, str]:
    return made.tstates_mean, " + ".join(step.kernel.name for step in made.steps)


def _instead(made: Plan, chosen: Plan) -> str:
    """Return which kernels a plan has for which layers, as far as the chosen one has others."""
    ours = {(step.name, step.kernel.name) for step in chosen.steps}
    theirs = [(step.name, step.kernel.name) for step in made.steps]
    return ", ".join(f"{kernel} for {name}" for name, kernel in theirs if (name, kernel) not in ours)


def _try(drafts: list[Plan], put: Callable[[Plan], Plan]) -> tuple[list[Plan], list[tuple[Plan, str]]]:
    """Return the drafts put into memory, in order, as long as none that fits is faster, and the others: why not, or nothing.

    put: returns a draft placed, which may have become slower through banks; raises PlanError if it does not fit.
    """
    fits, lost = list[Plan](), list[tuple[Plan, str]]()
    for made in drafts:
        best = min(fits, key=_rank, default=None)
        if best and best.tstates_mean <= made.tstates_mean:
            lost.append((made, ""))
            continue
        try:
            fits.append(put(made))
        except PlanError as error:
            lost.append((made, str(error)))
    return fits, lost


def _place(chain: tuple[Step, ...], program: Program, target: Target) -> tuple[tuple[Step, ...], tuple[Placed, ...]]:
    """Return the steps, with as few of them in banks as can be, and everything at its place; raise PlanError if none fits."""
    sections = sections_of(chain, program)
    try:
        return chain, place(sections, target.flat, program.nbytes)
    except PlanError as error:
        missing = error
    for steps in arrangements(chain, target, sections):
        try:
            return steps, place(sections_of(steps, program), target, program.nbytes, banks_of(steps))
        except PlanError as error:
            missing = error
    raise missing


def sections_of(steps: tuple[Step, ...], program: Program) -> list[tuple[str, Section]]:
    """Return all that has to be placed, each with what needs it; the code that calls the kernels in turn is one of them."""
    size = 2 + sum(3 * len(step.kernel.calls(step.part)) + step.is_exit for step in steps)  # with ret, and classify_haste
    takes_again = sum(step.kernel.takes == PICTURE for step in steps[1:])
    size += 3 * takes_again + 5 * keeps_picture(steps)  # the address: 3 bytes to keep it, 3 to take it, 2 to hold it
    size += HASTE_NBYTES * sum(asks_haste(steps, number) for number in range(len(steps)))
    selected = all_selections(steps)
    size += SELECT_NBYTES * len(selected)
    for again in all_looked(steps):  # a subroutine: with its ret, and a call where the first look is one; or calls of its own
        calls = sum(3 * len(steps[each].kernel.calls(steps[each].part)) + SELECT_NBYTES * (each in selected) for each in again)
        size += 1 + (3 if again in shared_looks(steps) else calls)
    found = [("program", section) for section in (*program.fast, Section("classify", size, Place.FAST))]
    found += [(f"layer {step.name}", section) for step in steps for section in step.sections]
    unique: dict[str, tuple[str, Section]] = {}
    for owner, section in found:
        known = unique.get(section.source)
        if known is None or known[1].nbytes < section.nbytes:  # what several kernels share comes once, as large as any needs it
            unique[section.source] = owner, section
    return [*unique.values()]


def keeps_picture(steps: tuple[Step, ...]) -> bool:
    """Return whether a step after the first takes the picture again."""
    return any(step.kernel.takes == PICTURE or step.looks for step in steps[1:])


@lru_cache(maxsize=4096)  # asked for again and again of each chain
def looked_steps(steps: tuple[Step, ...], number: int) -> tuple[int, ...]:
    """Return the numbers of the steps that each further look of a step runs again, as a subroutine; if it has none, none."""
    layers = tuple(layer for step in steps for layer in step.part.layers)
    owners = [owner for owner, step in enumerate(steps) for _ in step.part.layers]
    again = looked_again(layers, owners.index(number))
    return tuple(dict.fromkeys(owners[layer] for layer in again))


def all_looked(steps: tuple[Step, ...]) -> list[tuple[int, ...]]:
    """Return `looked_steps` of each step that has any, once."""
    return [*dict.fromkeys(looked_steps(steps, number) for number, step in enumerate(steps) if step.looks)]


def shared_looks(steps: tuple[Step, ...]) -> list[tuple[int, ...]]:
    """Return those of `all_looked` that the first look runs as the same subroutine, since no other step lies between."""
    return [again for again in all_looked(steps) if again == tuple(range(again[0], again[-1] + 1))]


@lru_cache(maxsize=256)
def all_selections(steps: tuple[Step, ...]) -> dict[int, int]:
    """Return the bank that classify selects before each step, by the step's number, where it selects one."""
    return selections(steps, {number: looked_steps(steps, number) for number, step in enumerate(steps) if step.looks})


def asks_haste(steps: tuple[Step, ...], number: int) -> bool:
    """Return whether a step is an exit with so much before the next that a caller in haste gets no answer."""
    later = takewhile(lambda after: not steps[after].is_exit, range(number + 1, len(steps)))
    return steps[number].is_exit and sum(_worst(steps, after) for after in later) > HASTE_TSTATES


def _worst(steps: tuple[Step, ...], number: int) -> int:
    """Return the most T-states of a step, with those of further looks."""
    step = steps[number]
    look = _look_tstates(steps, number) + sum(steps[again].cost.worst for again in looked_steps(steps, number))
    return step.cost.worst + (look * len(step.looks.shifts) if step.looks else 0)


def _look_tstates(steps: tuple[Step, ...], number: int) -> int:
    """Return what a further look of a step takes beside the kernels that it runs again."""
    return LOOK_TSTATES + SELECT_TSTATES * len(all_selections(steps).keys() & {*looked_steps(steps, number)})


def _around(steps: tuple[Step, ...], number: int) -> int:
    """Return what classify itself takes for a step: to select its bank, take the picture again, call what looks use too."""
    takes_again = number > 0 and steps[number].kernel.takes == PICTURE
    looked = number in [again[0] for again in shared_looks(steps)]
    return PICTURE_TSTATES * takes_again + LOOK_TSTATES * looked + SELECT_TSTATES * (number in all_selections(steps))


def _stay(steps: tuple[Step, ...], number: int) -> int:
    """Return what classify takes after a step to go on, if that is an exit."""
    return STAY_TSTATES * steps[number].is_exit + NO_HASTE_TSTATES * asks_haste(steps, number)


def _spent(steps: tuple[Step, ...], seen: Trace) -> Iterator[tuple[Step, int, Values]]:
    """Yield each step with the number of its last output in a trace, and the T-states of its kernel for each picture."""
    for step, first, last in _spans(steps):
        if (step.kernel, first) not in seen.spent:
            counts = step.kernel.count(step.part, seen.taken[first], seen.outputs[first + 1 : last + 1])
            seen.spent[step.kernel, first] = step.cost.tstates(counts)
        yield step, last, seen.spent[step.kernel, first]


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

    parts: dict[tuple[int, int], Part] = {}  # by the first layer and how many

    def extend(first: int, formats: Mapping[int, str]) -> Iterator[tuple[Step, ...]]:
        if first == len(model.layers):
            yield ()
            return
        source = taken[first]
        for kernel in KERNELS:
            layers = model.layers[first : first + len(kernel.kinds)]
            if tuple(map(type, layers)) != kernel.kinds or formats.get(source) != kernel.takes:
                continue
            before = model.layers[source] if source >= 0 else None
            part = parts.setdefault((first, len(layers)), Part(before, ranges[source + 1], layers, shapes[source + 1]))
            reason = kernel.fits(part)
            if reason:
                rejected.append(Rejected(kernel.name, f"layer {layers[0].name}: {reason}"))
                continue
            left = {first + place: form for place, form in kernel.keeps.items()} | {first + len(layers) - 1: kernel.gives}
            for rest in extend(first + len(layers), {**formats, **left}):
                yield (Step(kernel, part, kernel.cost(part)), *rest)

    yield from extend(0, {-1: PICTURE})
