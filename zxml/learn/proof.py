"""Proves the learning tape: loads it through the ROM, lets it learn, and compares every weight with the reference."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zxml.data import Dataset
from zxml.emulator import SkoolKitCpu, call
from zxml.errors import VerifyError
from zxml.files import write_whole
from zxml.learn import correct, count
from zxml.learn.command import PASSES
from zxml.learn.cost import CLOCK_HZ
from zxml.learn.count import Weights
from zxml.learn.machine import Learner
from zxml.learn.pictures import CLASSES, COLS, ROWS, Bits, border, pack, see_patterns, shrink
from zxml.learn.tape import LearningTape

RAM_ADDR = 0x4000
BREAK_FRAMES, LOOK_FRAMES, READ_FRAMES, PRESS_FRAMES = 60, 20, 12, 2
COUNTS = (12, 10, 16)  # what a digit's counts are in memory: rows and columns of patches, patterns

Track = Callable[[Iterable[int], str], Iterable[int]]  # shows progress, under a title, over what it passes on


@dataclass(frozen=True)
class StageRow:
    """What the tape has done after a stage.

    exact_pictures: of the stage's pictures, so many after which every count or weight was the reference's, and those at the
    stage's end were, too; tstates_total: from the first picture to the stage's last weight, with all that the tape does
    meanwhile; accuracy_10000: of the test pictures, as the Z80 itself reads them with
    the weights it has then.
    """

    stage: str
    pictures: int
    exact_pictures: int
    tstates_total: int
    seconds: float
    accuracy_10000: float


@dataclass(frozen=True, eq=False)
class Proof:
    """Evidence rows, a picture of the screen after the lesson, and whatever is not as it should be."""

    rows: tuple[StageRow, ...]
    screen: bytes
    differences: tuple[str, ...]


def prove(tape: LearningTape, dataset: Dataset, passes: int, track: Track) -> Proof:
    """Let the tape learn, count first, then some passes; raise VerifyError where it never comes to the end of a stage."""
    machine, faults = Learner(tape), []
    image = bytes(machine.memory[tape.assembly.org :])[: len(tape.assembly.image)]
    if image != tape.assembly.image:
        faults.append("the tape loads other bytes than were assembled; make the tape anew")
    unseen = shrink(dataset.test_images)
    machine.run(LOOK_FRAMES)
    rows = []
    for row, learned in learn(machine, tape.train, passes, track):
        digits = read_all(machine, unseen, track, row.stage)
        rows.append(replace(row, accuracy_10000=float((digits == dataset.test_labels).mean())))
        if (digits != learned.scores(see_patterns(unseen)).argmax(axis=1)).any():
            faults.append(f"{row.stage}: the Z80 reads other digits than the reference with the same weights")
        if row.exact_pictures != row.pictures:
            wrong = row.pictures - row.exact_pictures
            faults.append(f"{row.stage}: after {wrong} of {row.pictures} pictures the Z80 had other weights than the reference")
    machine.run(LOOK_FRAMES)
    screen = machine.png()
    faults += check_reading(machine, tape, learned)
    faults += check_break(machine)
    return Proof(tuple(rows), screen, tuple(faults))


def learn(machine: Learner, small: Bits, passes: int, track: Track) -> Iterator[tuple[StageRow, Weights]]:
    """Press L, and yield after each stage its row, with no accuracy yet, and the machine's weights."""
    machine.run(PRESS_FRAMES, "l")
    machine.run_to("lesson_begin")
    start = machine.tstates

    def row(stage: str, exact: int, same: bool) -> StageRow:
        tstates = machine.tstates - start
        return StageRow(stage, len(small), exact if same else 0, tstates, tstates / CLOCK_HZ, 0.0)

    exact = count_exactly(machine, small, track)
    machine.run_to("lesson_counted")
    reference, state = count.learn(small), correct.SEED
    yield row("count", exact, same_weights(machine, reference)), machine.weights()
    for number in range(1, passes + 1):
        state, exact = correct_exactly(machine, reference, small, state, track, f"pass {number}")
        machine.run_to("lesson_corrected")
        same = same_weights(machine, reference) and machine.word_at("learn_random") == state
        yield row(f"pass {number}", exact, same), machine.weights()


def count_exactly(machine: Learner, small: Bits, track: Track) -> int:
    """Let it count all pictures (n, 11, 9) and return after how many the counts were the reference's."""
    exact, of_each = 0, len(small) // CLASSES
    patterns = see_patterns(border(small))
    rows, cols = np.indices(COUNTS[:2])
    wanted = np.zeros(COUNTS, np.uint8)
    for i in track(range(len(small)), "count"):
        digit, place = divmod(i, of_each)
        if place == 0:
            wanted[:] = 0
        wanted[rows, cols, patterns[CLASSES * place + digit]] += 1
        machine.run_to("lesson_counted_one")
        exact += machine.bytes("learn_counts", wanted.size).tobytes() == wanted.tobytes()
    return exact


def correct_exactly(machine: Learner, reference: Weights, small: Bits, state: int, track: Track, title: str) -> tuple[int, int]:
    """Let it look at all pictures once; return the random state, and after how many the weights were the reference's."""
    bordered, exact = border(small), 0
    for i in track(range(len(small)), title):
        state = correct.next_random(state)
        top, left = correct.choose_shift(state)
        patterns = see_patterns(bordered[i : i + 1, top : top + ROWS, left : left + COLS])
        correct.correct_picture(reference, patterns[0], i % CLASSES)
        machine.run_to("lesson_corrected_one")
        exact += same_weights(machine, reference)
    return state, exact


def same_weights(machine: Learner, reference: Weights) -> bool:
    """Tell whether every weight and bias in the machine is the reference's."""
    got = machine.weights()
    return bool((got.weight == reference.weight).all() and (got.bias == reference.bias).all())


def read_all(machine: Learner, small: Bits, track: Track, stage: str) -> NDArray[np.int64]:
    """Return the digits that a copy of the machine reads in small pictures (n, 11, 9)."""
    cpu, addr = SkoolKitCpu(RAM_ADDR, bytes(machine.memory[RAM_ADDR:])), machine.symbols["small"]
    digits = np.zeros(len(small), np.int64)
    packed = [row.tobytes() for row in pack(small)]
    for i in track(range(len(small)), f"{stage}: reading"):
        cpu.write(addr, packed[i])
        call(cpu, machine.symbols["learn_read"], addr)
        digits[i] = cpu.a()
    return digits


def check_reading(machine: Learner, tape: LearningTape, learned: Weights) -> list[str]:
    """Let it read its test pictures, and return what went wrong."""
    machine.press("r")
    shown, right = machine.symbols["app_shown"], machine.symbols["app_right"]
    for _ in range(len(tape.test)):
        machine.run(READ_FRAMES, "SPACE")
        if machine.memory[shown] == len(tape.test):
            break
    wanted = round(learned.accuracy(tape.test, tape.test_labels) * len(tape.test))
    got = (machine.memory[right], machine.memory[shown])
    return (
        []
        if got == (wanted, len(tape.test))
        else [f"reading: {got} right of shown, the reference {wanted} of {len(tape.test)}"]
    )


def check_break(machine: Learner) -> list[str]:
    """Press BREAK, RUN, and BREAK again; return what went wrong."""
    for attempt in ("", " when run again"):
        machine.run(BREAK_FRAMES, "CS SPACE")
        machine.run(LOOK_FRAMES)
        if not machine.has_report_ok():
            return [f"BREAK{attempt} does not lead to BASIC's 0 OK; the last line reads {machine.text()[-1]!r}"]
        machine.press("r", "ENTER")
        machine.run(LOOK_FRAMES)
    return []


def write_evidence(tape: LearningTape, proof: Proof, others: dict[str, object]) -> None:
    """Write evidence.json and screen.png beside the tape; raise VerifyError if anything is not as it should be."""
    folder = tape.tap.parent
    table = {
        "name": "learn",
        "tap_sha256": hashlib.sha256(tape.tap.read_bytes()).hexdigest(),
        "pictures": len(tape.train),
        "passes": PASSES,
        "count_and_correct": [asdict(row) for row in proof.rows],
        **others,
        "differences": list(proof.differences),
    }
    write_whole(folder / "evidence.json", json.dumps(table, indent=2) + "\n")
    write_whole(folder / "screen.png", proof.screen)
    if proof.differences:
        raise VerifyError(f"learning tape: {proof.differences[0]}")
