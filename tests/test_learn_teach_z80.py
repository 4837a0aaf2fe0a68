"""The Z80 shrinks, teaches, corrects and forgets bit for bit as NumPy does, and each routine keeps its header's contract."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_learn_count import PICTURES, noise, random_weights
from tests.test_learn_z80 import MACHINE, Machine, numbers, real, rows_of
from zxml import data
from zxml.learn import correct, count, teach
from zxml.learn.assembly import OF_EACH
from zxml.learn.pictures import CLASSES, COLS, NBYTES, ROWS, Bits, pack, see_patterns, shrink
from zxml.learn.teach import Memory

PLACES = 10 * OF_EACH
PICTURE_ADDR, SMALL_ADDR = 0x5C00, 0x5D00


def memory_of(seed: int) -> Memory:
    """Return a memory with noise for pictures and weights, the examples of whose classes are counted as never before."""
    examples = np.random.default_rng(seed).integers(0, 5, CLASSES).astype(np.uint8)
    return Memory(noise(seed, 0.3, PLACES), examples, random_weights(seed))


def put(machine: Machine, memory: Memory) -> None:
    machine.put("learn_pictures", pack(memory.pictures))
    machine.put("learn_examples", memory.examples)
    machine.put_weights(memory.weights)


def check(machine: Machine, memory: Memory) -> None:
    got = machine.bytes("learn_pictures", NBYTES * PLACES).reshape(PLACES, NBYTES)
    np.testing.assert_array_equal(got, pack(memory.pictures))
    assert machine.bytes("learn_examples", CLASSES).tolist() == memory.examples.tolist()
    machine.check_weights(memory.weights)


def call(machine: Machine, name: str, picture: Bits, digit: int) -> int:
    """Run a routine that takes a small picture (11, 9) and a class; return its T-states."""
    machine.cpu.write(SMALL_ADDR, pack(picture[None]).tobytes())
    return machine.call(name, a=digit, hl=SMALL_ADDR)


def check_teach_tstates(tstates: int) -> None:
    fixed, each, _, one_in = numbers("learn_teach")
    assert tstates == pytest.approx(fixed + each * OF_EACH, rel=1 / one_in)


def shrink_on(machine: Machine, picture: Bits) -> int:
    """Shrink a picture (28, 28), compare it with the reference's, and return the T-states."""
    machine.cpu.write(PICTURE_ADDR, np.packbits(np.pad(picture, ((0, 0), (0, 4))), axis=1).tobytes())
    tstates = machine.call("learn_shrink", hl=PICTURE_ADDR, de=SMALL_ADDR)
    assert machine.cpu.read(SMALL_ADDR, NBYTES) == pack(shrink(picture[None])).tobytes()
    return tstates


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]))
def test_any_picture_shrinks_as_the_references(seed: int, ink: float) -> None:
    picture = (np.random.default_rng(seed).random((28, 28)) < ink).astype(np.uint8)
    assert shrink_on(MACHINE, picture) == numbers("learn_shrink")[0]


def test_real_pictures_shrink_as_the_references() -> None:
    for picture in data.load("mnist").validation_images[:300]:
        assert shrink_on(MACHINE, picture) == numbers("learn_shrink")[0]


@given(PICTURES)
def test_rows_are_packed_as_the_format_says(pictures: Bits) -> None:
    for picture in pictures:
        MACHINE.put("learn_rows", np.frombuffer(rows_of(picture), np.uint8))
        assert MACHINE.call("learn_pack", de=SMALL_ADDR) == numbers("learn_pack")[0]
        assert MACHINE.cpu.read(SMALL_ADDR, NBYTES) == pack(picture[None]).tobytes()


@given(PICTURES, st.integers(0, 4))
def test_slanted_rows_are_those_of_the_slanted_picture(pictures: Bits, slant: int) -> None:
    for picture in pictures:
        MACHINE.put("learn_rows", np.frombuffer(rows_of(picture), np.uint8))
        assert MACHINE.call("learn_slant", bc=slant) == numbers("learn_slant")[2 * slant]
        assert MACHINE.bytes("learn_rows", 26).tobytes() == rows_of(teach.slant(picture, slant))


@settings(max_examples=6)
@given(st.integers(0, 99), st.integers(0, 9))
def test_a_taught_class_is_the_references_after_every_example(seed: int, digit: int) -> None:
    memory = memory_of(seed)
    put(MACHINE, memory)
    for example in noise(seed + 1, 0.4, 3):
        check_teach_tstates(call(MACHINE, "learn_teach", example, digit))
        teach.teach(memory, example, digit)
        check(MACHINE, memory)


@pytest.mark.parametrize("known", [0, 1, 9, OF_EACH - 2, OF_EACH - 1])
def test_any_number_of_examples_fills_the_places(known: int) -> None:
    memory = memory_of(known)
    memory.examples[3] = known
    put(MACHINE, memory)
    example = noise(known, 0.5)[0]
    check_teach_tstates(call(MACHINE, "learn_teach", example, 3))
    teach.teach(memory, example, 3)
    check(MACHINE, memory)


def test_a_class_whose_pictures_are_all_its_own_is_only_corrected() -> None:
    memory = memory_of(1)
    memory.examples[:] = OF_EACH
    put(MACHINE, memory)
    before = memory.weights.weight.copy()
    for digit, picture in enumerate(noise(2, 0.3)):
        call(MACHINE, "learn_teach", picture, digit)
        teach.teach(memory, picture, digit)
        check(MACHINE, memory)
    assert (memory.weights.weight != before).any()


@settings(max_examples=20)
@given(PICTURES, st.integers(0, 99))
def test_pictures_are_fixed_as_the_reference_does(pictures: Bits, seed: int) -> None:
    weights = random_weights(seed)
    MACHINE.put_weights(weights)
    lowest, highest = numbers("learn_fix")[:2]
    for digit, picture in enumerate(pictures):
        assert lowest <= call(MACHINE, "learn_fix", picture, digit) <= highest
        teach.fix(weights, picture, digit)
        MACHINE.check_weights(weights)


@pytest.mark.parametrize("digit", range(10))
def test_a_forgotten_class_is_blank(digit: int) -> None:
    memory = memory_of(digit)
    put(MACHINE, memory)
    fixed, each_picture, each_class = numbers("learn_forget")
    assert MACHINE.call("learn_forget", a=digit) == fixed + each_picture * OF_EACH + each_class * digit
    teach.forget(memory, digit)
    check(MACHINE, memory)


@pytest.mark.parametrize("interrupts", [False, True])
def test_real_pictures_are_taught_from_nothing_and_practised_as_the_reference_does(interrupts: bool) -> None:
    machine = Machine(interrupts)
    memory = Memory(np.ones((PLACES, ROWS, COLS), np.uint8), np.full(CLASSES, OF_EACH, np.uint8), random_weights(5))
    put(machine, memory)
    for digit in range(CLASSES):
        teach.forget(memory, digit)
        machine.call("learn_forget", a=digit)
    for i, picture in enumerate(real()[:8]):
        digit = i * 7 % 4
        call(machine, "learn_teach", picture, digit)
        teach.teach(memory, picture, digit)
    check(machine, memory)
    machine.put("learn_random", np.array([correct.SEED, 0], np.uint8))
    for _ in range(teach.PRACTICE_PASSES):
        machine.call_long("learn_pass", bc=teach.PRACTICE // 10 * 256, hl=machine.symbols["learn_pictures"])
    assert machine.words("learn_random", 1) == [teach.practise(memory, correct.SEED)]
    check(machine, memory)


def test_a_real_class_taught_anew_among_others_is_the_references() -> None:
    memory = Memory(np.resize(real(), (PLACES, ROWS, COLS)), np.full(CLASSES, OF_EACH, np.uint8), count.learn(real()))
    put(MACHINE, memory)
    MACHINE.call("learn_forget", a=4)
    teach.forget(memory, 4)
    for picture in real()[4:24:10]:
        call(MACHINE, "learn_teach", picture, 4)
        teach.teach(memory, picture, 4)
        check(MACHINE, memory)
        MACHINE.cpu.write(SMALL_ADDR, pack(picture[None]).tobytes())
        MACHINE.call("learn_read", hl=SMALL_ADDR)
        assert MACHINE.cpu.a() == int(memory.weights.scores(see_patterns(picture[None]))[0].argmax()) == 4
