"""Classifies pictures on the emulated processors, timing each step, in as many processes as there are cores."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from zxml.emulator import RETURN_ADDR, Cpu, KosarevCpu, SkoolKitCpu
from zxml.errors import VerifyError
from zxml.reference import Values
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Plan
from zxml.z80gen.target import Target

PICTURE_ADDR = 0x5800  # the attributes: nothing looks at the screen here
PROCESSORS = (SkoolKitCpu, KosarevCpu)
PART = 500  # pictures that a process classifies one after another, as the program does; for fewer none is started

Track = Callable[[Iterable[int], str], Iterable[int]]  # shows progress, under a title, over what it passes on


@dataclass(frozen=True, eq=False)
class Run:
    """What one processor computed: scores (n, units), digits (n,), and the T-states of each step (n, steps)."""

    scores: Values
    digits: Values
    tstates: Values


@dataclass(frozen=True)
class Course:
    """The way of a picture through the code in memory; exits: of each step whether a picture may leave after it."""

    assembly: Assembly
    target: Target
    exits: tuple[bool, ...]
    classes: int


def no_track(numbers: Iterable[int], title: str) -> Iterable[int]:
    """Show nothing."""
    return numbers


def processors(assembly: Assembly, target: Target) -> tuple[Cpu, ...]:
    """Return the processors with the code in their memory."""
    banks = assembly.banks if target.banks else None
    return tuple(kind(assembly.org, assembly.image, banks=banks) for kind in PROCESSORS)


def course_of(plan: Plan, assembly: Assembly) -> Course:
    """Return the way through a plan's code; assembly: the code as memory holds it."""
    return Course(assembly, plan.target, tuple(step.is_exit for step in plan.steps), plan.model.classes)


def classify_all(course: Course, pictures: NDArray[np.uint8], track: Track = no_track) -> list[Run]:
    """Classify pictures (n, 28, 28) on each processor.

    Raises VerifyError if the code never returns or a process is killed.
    """
    if len(pictures) <= PART:
        return [classify(cpu, course, pictures) for cpu in processors(course.assembly, course.target)]
    parts = [pictures[start : start + PART] for start in range(0, len(pictures), PART)]
    jobs = [(number, part) for part in parts for number in range(len(PROCESSORS))]
    with ProcessPoolExecutor(min(_cores(), len(jobs)), get_context("spawn"), _leave_interrupts) as pool:
        waiting = [pool.submit(_classify_part, course, number, part) for number, part in jobs]
        try:
            done = [*_follow(waiting, [len(part) for _, part in jobs], track)]
        except BrokenProcessPool:
            raise VerifyError(
                "a process that classifies pictures was killed; free some memory and prove the tape anew"
            ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [_join(done[number :: len(PROCESSORS)]) for number in range(len(PROCESSORS))]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _leave_interrupts() -> None:
    """Let Ctrl-C reach the first process alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _classify_part(course: Course, number: int, pictures: NDArray[np.uint8]) -> Run:
    return classify(processors(course.assembly, course.target)[number], course, pictures)


def _follow(waiting: Sequence[Future[Run]], counts: Sequence[int], track: Track) -> Iterator[Run]:
    """Yield what each process found, in order, with progress over all pictures."""
    shown = iter(track(range(sum(counts)), " and ".join(kind.name for kind in PROCESSORS)))
    next(shown)
    for future, count in zip(waiting, counts, strict=True):
        yield future.result()
        for _ in range(count):
            next(shown, None)


def _join(runs: Sequence[Run]) -> Run:
    return Run(*(np.concatenate([getattr(run, name) for run in runs]) for name in ("scores", "digits", "tstates")))


def classify(cpu: Cpu, course: Course, pictures: NDArray[np.uint8]) -> Run:
    """Classify pictures (n, 28, 28) on a processor, from picture in to digit out, timing each step."""
    at, nbytes = course.assembly.symbols["scores"], 2 * course.classes
    raw = np.zeros((len(pictures), course.classes), np.uint16)
    digits = np.zeros(len(pictures), np.int64)
    tstates = np.zeros((len(pictures), len(course.exits)), np.int64)
    for i, packed in enumerate(pack_pictures(pictures)):
        spent = [*run_steps(cpu, course, bytes(packed))]
        tstates[i, : len(spent)] = spent
        raw[i] = np.frombuffer(cpu.read(at, nbytes), "<u2")
        digits[i] = cpu.a()
    return Run(raw.astype(np.int64), digits, tstates)


def run_steps(cpu: Cpu, course: Course, packed: bytes) -> Iterator[int]:
    """Run classify on a packed picture to its return, by its end or an exit; yield the T-states after each step."""
    symbols = course.assembly.symbols
    cpu.write(PICTURE_ADDR, packed)
    cpu.enter(symbols["classify"], PICTURE_ADDR)
    for number, is_exit in enumerate(course.exits):
        spent = 0
        if is_exit:
            spent = cpu.run_to(symbols[f"classify_{number}_exit"])
            if cpu.carry():
                yield spent + cpu.run_to(RETURN_ADDR)
                return
        last = number == len(course.exits) - 1
        yield spent + cpu.run_to(RETURN_ADDR if last else symbols[f"classify_{number + 1}"])
