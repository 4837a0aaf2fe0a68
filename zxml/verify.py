"""Proves a tape: loads it through the ROM, runs every test picture on what arrived, and compares with the reference.

The code that is proved is the code that the Spectrum holds after loading, not the file it was assembled from.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zxml.cassette import Cassette
from zxml.classify import Run, Track, classify_all, course_of, no_track, processors, run_steps
from zxml.data import Dataset
from zxml.emulator import Cpu
from zxml.errors import VerifyError
from zxml.files import write_whole
from zxml.ir import IntegerModel, Looks
from zxml.reference import Answers, Values, batches, run, trace, trace_layers
from zxml.spectrum import Spectrum
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Step
from zxml.z80gen.target import BANK_ADDR

LOOK_FRAMES, BREAK_FRAMES, KEY_FRAMES = 150, 60, 30
RUN_KEYS = ("r", "ENTER")
RUN_KEYS_128K = ("SPACE", "CS 6", "ENTER", "r", "u", "n", "ENTER")  # a key for the menu, then down to 128 BASIC
Z95 = 1.959964  # a standard normal variable lies within this of 0 in 95 of 100 cases


@dataclass(frozen=True)
class LayerEvidence:
    """One step of the plan; tstates: mean over the pictures."""

    name: str
    kernel: str
    tstates: float
    nbytes: int


@dataclass(frozen=True)
class EmulatorEvidence:
    """One processor: of `images` pictures, how many gave every score and the digit, and how many took the planned T-states."""

    name: str
    version: str
    images: int
    exact_images: int
    on_time_images: int


@dataclass(frozen=True)
class Evidence:
    """What was measured on the emulated machine; `differences` names whatever is not as it should be."""

    name: str
    seed: int
    machine: str
    images: int
    exact_images: int
    correct: int
    accuracy: float
    interval95: tuple[float, float]
    tstates_mean: float
    tstates_worst: int
    frames_mean: float
    nbytes: int
    layers: tuple[LayerEvidence, ...]
    wrapped_images: int
    digits_changed_by_wrapping: int
    loads_through_rom: bool
    returns_to_basic: bool
    tap_sha256: str
    model_sha256: str
    emulators: tuple[EmulatorEvidence, ...]
    differences: tuple[str, ...]


def verify(cassette: Cassette, dataset: Dataset, track: Track = no_track) -> Evidence:
    """Return the evidence, after writing it to evidence.json, and the program's screen to screen.png, beside the tape.

    Raises ZxmlError if the tape cannot be loaded or the code never returns.
    """
    pictures, labels = dataset.test_images, dataset.test_labels
    said, said_unwrapped = (run(cassette.model, pictures, wrapping) for wrapping in (True, False))
    loaded, machine_faults = check_machine(cassette, said, labels)
    runs = classify_all(course_of(cassette.plan, loaded), pictures, track)
    planned = cassette.plan.tstates(pictures)
    cpus = processors(loaded, cassette.plan.target)
    verdicts = [judge(cpu, timed, cassette, pictures, said, planned) for cpu, timed in zip(cpus, runs, strict=True)]

    digits, tstates = runs[0].digits, runs[0].tstates.sum(axis=1)
    correct = int((digits == labels).sum())
    evidence = Evidence(
        name=cassette.model.name,
        seed=cassette.model.seed,
        machine=cassette.plan.target.name,
        images=len(pictures),
        exact_images=min(row.exact_images for row, _ in verdicts),
        correct=correct,
        accuracy=correct / len(pictures),
        interval95=interval95(correct, len(pictures)),
        tstates_mean=float(tstates.mean()),
        tstates_worst=int(tstates.max()),
        frames_mean=float(tstates.mean()) / cassette.plan.target.frame_tstates,
        nbytes=cassette.plan.nbytes,
        layers=_layers(cassette, runs[0]),
        wrapped_images=count_wrapped(cassette.model, pictures),
        digits_changed_by_wrapping=int((said.digits != said_unwrapped.digits).sum()),
        loads_through_rom="load" not in machine_faults,
        returns_to_basic="break" not in machine_faults,
        tap_sha256=hashlib.sha256(cassette.tap.read_bytes()).hexdigest(),
        model_sha256=cassette.model.sha256(),
        emulators=tuple(row for row, _ in verdicts),
        differences=(*machine_faults.values(), *(fault for _, faults in verdicts for fault in faults)),
    )
    write_whole(cassette.folder / "evidence.json", json.dumps(asdict(evidence), indent=2) + "\n")
    return evidence


def read_evidence(path: Path) -> Evidence:
    """Return the evidence that verify wrote; raise VerifyError if it is missing or not whole."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        table["layers"] = tuple(LayerEvidence(**row) for row in table["layers"])
        table["emulators"] = tuple(EmulatorEvidence(**row) for row in table["emulators"])
        lists = {name: tuple(table[name]) for name in ("interval95", "differences") if name in table}
        return Evidence(**table | lists)
    except FileNotFoundError:
        raise VerifyError(f"{path}: no evidence yet; prove the tape with `python -m zxml verify`") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VerifyError(f"{path}: not the evidence of this version ({error}); prove the tape anew") from error


def check_machine(cassette: Cassette, said: Answers, labels: NDArray[np.uint8]) -> tuple[Assembly, dict[str, str]]:
    """Load the tape through the ROM, watch the program, press BREAK, run it again.

    Returns the code as the Spectrum holds it after loading, and what went wrong, by "load", "program" or "break".
    """
    assembly, target, faults = cassette.assembly, cassette.plan.target, {}
    spectrum = Spectrum(cassette.tap, target=target)
    image = bytes(spectrum.memory[assembly.org : assembly.org + len(assembly.image)])
    banks = {bank: spectrum.bank(bank)[: len(values)] for bank, values in assembly.banks.items()}
    wanted = [(assembly.org, image, assembly.image), *((BANK_ADDR, banks[n], assembly.banks[n]) for n in banks)]
    for addr, got, want in wanted:
        if got != want:
            where = next(i for i, (byte, other) in enumerate(zip(got, want, strict=True)) if byte != other)
            faults["load"] = f"the tape loads another byte than was assembled at {addr + where:#06x}; make the tape anew"
    right = said.digits == labels
    thinking = cassette.plan.tstates_worst // target.frame_tstates  # frames that the program may be busy, when keys wait
    for attempt in ("", " when run again"):
        spectrum.run(LOOK_FRAMES)
        if not spectrum.memory[assembly.symbols["app_shown"]]:
            spectrum.run(thinking)
        shown, correct = (spectrum.memory[assembly.symbols[name]] for name in ("app_shown", "app_right"))
        if not shown or correct != right[:shown].sum():
            faults["program"] = f"the program{attempt} counts {correct} right of {shown}, the reference {right[:shown].sum()}"
        write_whole(cassette.folder / "screen.png", spectrum.png())
        spectrum.run(BREAK_FRAMES + thinking, "CS SPACE")
        spectrum.run(BREAK_FRAMES)
        if not spectrum.has_report_ok():
            faults["break"] = f"BREAK{attempt} does not lead to BASIC's 0 OK; the last line reads {spectrum.text()[-1]!r}"
            break
        for key in RUN_KEYS_128K if target.banks else RUN_KEYS:
            spectrum.press(key)
            spectrum.run(KEY_FRAMES)
    return replace(assembly, image=image, banks=banks), faults


def judge(
    cpu: Cpu, timed: Run, cassette: Cassette, pictures: NDArray[np.uint8], said: Answers, planned: Values
) -> tuple[EmulatorEvidence, list[str]]:
    """Return one processor's evidence and its faults; planned: the T-states of each picture, (n,)."""
    exact = (timed.scores == said.scores).all(axis=1) & (timed.digits == said.digits)
    on_time = timed.tstates.sum(axis=1) == planned
    faults = []
    if not exact.all():
        first = int(np.flatnonzero(~exact)[0])
        layer = first_difference(cpu, cassette, pictures[first])
        wrong = int((~exact).sum())
        faults.append(f"{cpu.name}: {wrong} pictures differ from the reference; picture {first} first, in {layer}")
    elif not on_time.all():
        first = int(np.flatnonzero(~on_time)[0])
        faults.append(f"{cpu.name}: picture {first} took {timed.tstates[first].sum()} T-states, planned were {planned[first]}")
    return EmulatorEvidence(cpu.name, cpu.version, len(pictures), int(exact.sum()), int(on_time.sum())), faults


def first_difference(cpu: Cpu, cassette: Cassette, picture: NDArray[np.uint8]) -> str:
    """Run one picture and name the first layer whose output differs from the reference, and the unit."""
    expected = {name: values[0] for name, values in trace(cassette.model, picture[None]).items()}
    course, symbols, steps = course_of(cassette.plan, cassette.assembly), cassette.assembly.symbols, cassette.plan.steps
    memories = [cpu.read(0, 0x10000) for _ in run_steps(cpu, course, pack_pictures(picture[None]).tobytes())]
    for step, memory in readable(steps, memories):
        layer = step.part.layers[-1]
        got, want = step.kernel.read(memory, symbols, step.part).ravel(), expected[layer.name].ravel()
        if not np.array_equal(got, want):
            unit = int(np.flatnonzero(got != want)[0])
            return (
                f"layer {layer.name}, unit {unit}: {got[unit]} on the Z80, {want[unit]} in the reference ({step.kernel.name})"
            )
    return "the digit alone"


def readable(steps: tuple[Step, ...], memories: Sequence[bytes]) -> Iterator[tuple[Step, bytes]]:
    """Yield each step that ran with the memory that its output is read from, of the memories after each.

    It is as the next one has left it, but for the scores of a first look, whose place those of all looks take.
    """
    for number, (step, own) in enumerate(zip(steps, memories, strict=False)):
        overwritten = number + 1 == len(memories) or steps[number + 1].looks
        yield step, own if overwritten else memories[number + 1]


def interval95(correct: int, images: int) -> tuple[float, float]:
    """Return the 95 % interval of an accuracy.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    share, weight = correct / images, Z95**2 / images
    centre = (share + weight / 2) / (1 + weight)
    half = Z95 / (1 + weight) * math.sqrt(share * (1 - share) / images + weight / (4 * images))
    return centre - half, centre + half


def _layers(cassette: Cassette, run: Run) -> tuple[LayerEvidence, ...]:
    means = run.tstates.mean(axis=0)
    steps = zip(cassette.plan.steps, means, strict=True)
    return tuple(LayerEvidence(step.name, step.kernel.name, float(mean), step.cost.nbytes) for step, mean in steps)


def count_wrapped(model: IntegerModel, pictures: NDArray[np.uint8]) -> int:
    """Return on how many pictures a sum of any layer wraps in a first look, also of layers that the picture does not reach."""
    layers = tuple(takewhile(lambda layer: not isinstance(layer, Looks), model.layers))
    traces = (
        [trace_layers(layers, part.astype(np.int64), wrapping) for wrapping in (True, False)] for part in batches(pictures)
    )
    return sum(int(_any_differs(wrapped, whole).sum()) for wrapped, whole in traces)


def _any_differs(a: list[Values], b: list[Values]) -> NDArray[np.bool_]:
    """Tell for each picture whether any layer's values differ."""
    flags = [(x != y).reshape(len(x), -1).any(axis=1) for x, y in zip(a, b, strict=True)]
    return np.asarray(np.any(flags, axis=0))
