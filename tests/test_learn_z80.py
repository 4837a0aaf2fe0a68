"""The Z80 learns bit for bit as NumPy does, and each routine keeps its header's contract."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts import assert_kept, numbers_of, read_contracts
from tests.pasmo import pasmo_bytes
from tests.test_learn_count import PICTURES, noise, random_weights
from zxml import data
from zxml.emulator import RETURN_ADDR, STACK_ADDR, KosarevCpu, SkoolKitCpu, call
from zxml.errors import VerifyError
from zxml.learn import assembly, correct, count
from zxml.learn.cost import CHANGE, CHANGE_PATCH, COUNT_DIGIT, COUNT_PICTURE, PASS_PATCH, PASS_PICTURE, pass_tstates
from zxml.learn.pictures import COLS, ROWS, Bits, border, choose_training, pack, see_patterns, shrink
from zxml.z80gen.assemble import Assembly

STUB_ADDR, STUB_TSTATES = 0x5B10, 7 + 10 + 10 + 10
REAL = 300  # pictures of the tests on real ones
HEADERS = read_contracts("learn_*.asm")


@cache
def made() -> Assembly:
    with TemporaryDirectory() as folder:
        return assembly.build(Path(folder))


class Machine:
    """A 48K with the program in its memory."""

    def __init__(self, interrupts: bool = False) -> None:
        self.symbols = made().symbols
        self.cpu = SkoolKitCpu(made().org, made().image, interrupts=interrupts)
        self.interrupts = interrupts

    def call(self, name: str, a: int = 0, bc: int = 0, de: int = 0, hl: int = 0) -> int:
        """Run a routine, check what it changes, and return its T-states."""
        words = b"".join(bytes([op]) + value.to_bytes(2, "little") for op, value in ((0x01, bc), (0x11, de)))
        jump = b"\xc3" + self.symbols[name].to_bytes(2, "little")
        self.cpu.write(STUB_ADDR, bytes([0x3E, a]) + words + jump)
        flags = self.cpu.registers()["af"] & 255
        before = self.cpu.registers() | {"af": 256 * a + flags, "bc": bc, "de": de, "hl": hl, "sp": STACK_ADDR}
        tstates = call(self.cpu, STUB_ADDR, hl) - STUB_TSTATES
        assert_kept(HEADERS[name], before, self.cpu.registers())
        return tstates

    def call_long(self, name: str, bc: int, hl: int) -> None:
        """Run a routine that may take longer than `run_to` waits."""
        with suppress(VerifyError):
            self.call(name, bc=bc, hl=hl)
            return
        for _ in range(10):
            with suppress(VerifyError):
                self.cpu.run_to(RETURN_ADDR)
                return
        raise AssertionError(f"{name} does not return")

    def bytes(self, name: str, nbytes: int) -> Bits:
        return np.frombuffer(self.cpu.read(self.symbols[name], nbytes), np.uint8)

    def words(self, name: str, number: int) -> list[int]:
        return [int(word) for word in self.bytes(name, 2 * number).view("<u2")]

    def put(self, name: str, values: Bits) -> None:
        self.cpu.write(self.symbols[name], values.tobytes())

    def put_weights(self, weights: count.Weights) -> None:
        self.put("learn_weight_page", weights.weight)
        self.put("learn_digits", np.stack([weights.bias, weights.bias], axis=1).astype("<u2").view(np.uint8))

    def check_weights(self, weights: count.Weights) -> None:
        got = self.bytes("learn_weight_page", 12_800).reshape(weights.weight.shape)
        np.testing.assert_array_equal(got, weights.weight)
        assert self.words("learn_digits", 20)[::2] == weights.bias.tolist()

    def look(self, picture: Bits, top: int = 1, left: int = 1) -> dict[str, int]:
        """Make a picture (11, 9), moved, into a line and scores; return each routine's T-states."""
        self.put("learn_pictures", pack(picture[None]))
        return {
            "learn_unpack": self.call("learn_unpack", bc=left, hl=self.symbols["learn_pictures"]),
            "learn_code": self.call("learn_code", a=top),
            "learn_scores": self.call("learn_scores"),
        }


MACHINE = Machine()


@cache
def real() -> Bits:
    """Return small training pictures, the digits in turn."""
    dataset = data.load("mnist")
    return shrink(dataset.train_images[choose_training(dataset.train_labels, REAL)])


def move(picture: Bits, top: int, left: int) -> Bits:
    return border(picture[None])[0, top : top + ROWS, left : left + COLS]


def rows_of(picture: Bits) -> bytes:
    """Return the 13 rows of a picture (11, 9) as learn_unpack leaves them."""
    wide = np.pad(picture, ((1, 1), (0, 16 - COLS)))
    return np.packbits(wide, axis=1).tobytes()


def numbers(name: str) -> list[int]:
    """Return the numbers of a header's T-states."""
    return numbers_of(HEADERS[name])


def count_carries(digits: list[int]) -> int:
    """Return how often the sums of a picture's scores carried into their upper bytes."""
    return sum((score >> 8) - (bias >> 8) for bias, score in zip(digits[::2], digits[1::2], strict=True))


@given(PICTURES, st.sampled_from([0, 1, 2]))
def test_unpacked_rows_are_those_of_the_moved_picture(pictures: Bits, left: int) -> None:
    for picture in pictures:
        MACHINE.put("learn_pictures", pack(picture[None]))
        tstates = MACHINE.call("learn_unpack", bc=left, hl=MACHINE.symbols["learn_pictures"])
        assert MACHINE.bytes("learn_rows", 26).tobytes() == rows_of(move(picture, 1, left))
        assert tstates == numbers("learn_unpack")[2 * left]


@settings(max_examples=30)
@given(PICTURES, st.integers(0, 99), st.sampled_from([0, 1, 2]), st.sampled_from([0, 1, 2]))
def test_scores_are_the_references(pictures: Bits, seed: int, top: int, left: int) -> None:
    weights = random_weights(seed)
    MACHINE.put_weights(weights)
    for picture in pictures:
        tstates = MACHINE.look(picture, top, left)
        patterns = see_patterns(move(picture, top, left)[None])
        got = MACHINE.words("learn_digits", 20)
        assert got[1::2] == weights.scores(patterns)[0].tolist()
        inked = int((patterns > 0).sum())
        fixed, each = numbers("learn_code")
        assert tstates["learn_code"] == fixed + each * inked
        fixed, each = numbers("learn_scores")
        assert tstates["learn_scores"] == fixed + each * inked - count_carries(got)


@settings(max_examples=30)
@given(PICTURES)
def test_counts_are_the_references_after_every_picture(pictures: Bits) -> None:
    assert MACHINE.call("learn_clear") == numbers("learn_clear")[0]
    for i, picture in enumerate(pictures):
        MACHINE.put("learn_pictures", pack(picture[None]))
        MACHINE.call("learn_unpack", bc=1, hl=MACHINE.symbols["learn_pictures"])
        assert MACHINE.call("learn_count") == numbers("learn_count")[0]
        got = MACHINE.bytes("learn_counts", 12 * 10 * 16).reshape(12, 10, 16)
        np.testing.assert_array_equal(got, count.count_patterns(pictures[: i + 1]))


@settings(max_examples=30)
@given(st.integers(0, 9), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 30, 256]))
def test_weights_of_any_counts_are_the_references(digit: int, seed: int, most: int) -> None:
    counts = np.random.default_rng(seed).integers(0, most, (12, 10, 16)).astype(np.uint8)
    counts[:6, :, seed % 16] = most - 1
    MACHINE.put("learn_counts", counts)
    lowest, highest = numbers("learn_weigh")[:2]
    assert lowest <= MACHINE.call("learn_weigh", a=digit) <= highest
    bias, weight = count.weigh(counts)
    got = MACHINE.bytes("learn_weight_page", 12_800).reshape(10, 80, 16)[digit]
    np.testing.assert_array_equal(got, weight)
    assert MACHINE.words("learn_digits", 20)[2 * digit] == bias


@settings(max_examples=30)
@given(PICTURES, st.integers(0, 99))
def test_corrected_weights_are_the_references_after_every_picture(pictures: Bits, seed: int) -> None:
    weights = random_weights(seed)
    MACHINE.put_weights(weights)
    for i, picture in enumerate(pictures):
        digit = (i + seed) % 10
        MACHINE.look(picture)
        tstates = MACHINE.call("learn_correct", bc=digit)
        patterns = see_patterns(picture[None])[0]
        changed = correct.correct_picture(weights, patterns, digit)
        assert MACHINE.cpu.registers()["af"] & 1 == changed
        MACHINE.check_weights(weights)
        lowest, highest, more, each = numbers("learn_correct")
        assert lowest <= tstates - changed * (more + each * int((patterns > 0).sum())) <= highest


@pytest.mark.parametrize("digit", range(10))
def test_of_equal_rivals_the_first_is_lowered(digit: int) -> None:
    weights = count.Weights(np.zeros(10, np.uint16), np.full((10, 80, 16), 7, np.uint8))
    MACHINE.put_weights(weights)
    picture = noise(digit, 0.5)[0]
    MACHINE.look(picture)
    MACHINE.call("learn_correct", bc=digit)
    assert correct.correct_picture(weights, see_patterns(picture[None])[0], digit)
    MACHINE.check_weights(weights)


@pytest.mark.parametrize(
    ("ahead", "changes"), [(correct.MARGIN - 1, True), (correct.MARGIN, False), (-11_000, True), (8_000, False)]
)
def test_the_margin_is_exact(ahead: int, changes: bool) -> None:
    bias = np.full(10, 11_500, np.uint16)
    bias[3] = 11_500 + ahead
    weights = count.Weights(bias, np.full((10, 80, 16), 255, np.uint8))
    MACHINE.put_weights(weights)
    MACHINE.look(np.ones((ROWS, COLS), np.uint8))
    MACHINE.call("learn_correct", bc=3)
    assert MACHINE.cpu.registers()["af"] & 1 == changes


def test_random_numbers_are_the_references() -> None:
    machine, state = Machine(), correct.SEED
    for _ in range(2000):
        assert machine.call("learn_next_random") == numbers("learn_next_random")[0]
        state = correct.next_random(state)
        assert machine.words("learn_random", 1) == [state]


@pytest.mark.parametrize("interrupts", [False, True])
def test_real_pictures_are_counted_and_corrected_as_the_reference_does(interrupts: bool) -> None:
    machine, pictures = Machine(interrupts), real()
    where = {"hl": machine.symbols["learn_pictures"], "bc": len(pictures) // 10 * 256}
    machine.put("learn_pictures", pack(pictures))
    machine.call_long("learn_count_all", **where)
    weights, state = count.learn(pictures), correct.SEED
    machine.check_weights(weights)
    for _ in range(2):
        start = state
        state, changed = correct.correct_pass(weights, pictures, start)
        machine.call_long("learn_pass", **where)
        machine.check_weights(weights)
        assert machine.words("learn_random", 1) == [state]
        assert machine.words("learn_changed", 1) == [changed]


def test_every_score_and_weight_is_the_references_after_every_real_picture() -> None:
    pictures = real()
    weights, state = count.learn(pictures), correct.SEED
    machine = Machine()
    machine.put_weights(weights)
    for i, picture in enumerate(pictures):
        state = correct.next_random(state)
        top, left = correct.choose_shift(state)
        machine.look(picture, top, left)
        patterns = see_patterns(move(picture, top, left)[None])
        assert machine.words("learn_digits", 20)[1::2] == weights.scores(patterns)[0].tolist()
        machine.call("learn_correct", bc=i % 10)
        correct.correct_picture(weights, patterns[0], i % 10)
        machine.check_weights(weights)


def test_every_count_is_the_references_after_every_real_picture() -> None:
    pictures = real()[::2]
    MACHINE.call("learn_clear")
    for i, picture in enumerate(pictures):
        MACHINE.put("learn_pictures", pack(picture[None]))
        MACHINE.call("learn_unpack", bc=1, hl=MACHINE.symbols["learn_pictures"])
        MACHINE.call("learn_count")
        assert MACHINE.bytes("learn_counts", 1920).tobytes() == count.count_patterns(pictures[: i + 1]).tobytes()


@settings(max_examples=30)
@given(PICTURES, st.integers(0, 99))
def test_a_picture_is_read_as_the_reference_does(pictures: Bits, seed: int) -> None:
    weights = random_weights(seed)
    MACHINE.put_weights(weights)
    for picture in pictures:
        MACHINE.put("learn_pictures", pack(picture[None]))
        tstates = MACHINE.call("learn_read", hl=MACHINE.symbols["learn_pictures"])
        patterns = see_patterns(picture[None])
        scores = weights.scores(patterns)[0]
        registers = MACHINE.cpu.registers()
        assert [registers["af"] >> 8, registers["de"]] == [int(scores.argmax()), int(scores.max())]
        lowest, highest, each = numbers("learn_read")
        carries = count_carries(MACHINE.words("learn_digits", 20))
        assert lowest <= tstates - each * int((patterns > 0).sum()) + carries <= highest


def test_the_rival_is_the_first_of_the_greatest_scores_but_the_digits() -> None:
    taken = []
    random = np.random.default_rng(0)
    for i in range(900):
        scores = random.integers(0, [1, 3, 300, 32_000][i % 4], 10) if i > 10 else np.arange(1, 11)
        MACHINE.put("learn_digits", np.stack([scores, scores], axis=1).astype("<u2").view(np.uint8))
        left_out = i % 11
        taken.append(MACHINE.call("learn_rival", bc=left_out))
        scores[left_out : left_out + 1] = -1
        registers = MACHINE.cpu.registers()
        assert [registers["af"] >> 8, registers["de"]] == [int(scores.argmax()), int(scores.max())]
    assert [min(taken), max(taken)] == numbers("learn_rival")[:2]


@pytest.mark.parametrize(("name", "step", "end"), [("learn_raise", 1, 255), ("learn_lower", -1, 0)])
def test_weights_stop_at_the_ends_of_a_byte(name: str, step: int, end: int) -> None:
    weights = random_weights(1)
    MACHINE.put_weights(weights)
    for ink in (0, 0.1, 0.5, 1):
        picture = noise(1, ink)[0]
        patterns = see_patterns(picture[None]).ravel()
        MACHINE.look(picture)
        tstates = MACHINE.call(name, de=MACHINE.symbols["learn_weight_page"] + 5 * 256)
        for patch, pattern in enumerate(patterns):
            weights.weight[1, patch, pattern] += step * (pattern > 0 and weights.weight[1, patch, pattern] != end)
        MACHINE.check_weights(weights)
        fixed, each = numbers(name)
        assert tstates == fixed + each * int((patterns > 0).sum())


def test_a_pass_takes_the_time_its_header_states() -> None:
    machine, pictures = Machine(), real()[:200]
    machine.put("learn_pictures", pack(pictures))
    machine.put_weights(count.learn(real()))
    tstates = machine.call("learn_pass", bc=len(pictures) // 10 * 256, hl=machine.symbols["learn_pictures"])
    inked = float((see_patterns(pictures) > 0).sum(axis=(1, 2)).mean())
    (changed,) = machine.words("learn_changed", 1)
    assert tstates == pytest.approx(pass_tstates(len(pictures), changed, inked), rel=0.02)
    assert numbers("learn_pass") == [PASS_PICTURE, PASS_PATCH, CHANGE, CHANGE_PATCH]


def test_counting_takes_the_time_its_header_states() -> None:
    other = KosarevCpu(made().org, made().image)
    symbols, pictures = made().symbols, real()[:100]
    other.write(symbols["learn_pictures"], pack(pictures).tobytes())
    stub = (
        b"\x01" + (len(pictures) // 10 * 256).to_bytes(2, "little") + b"\xc3" + symbols["learn_count_all"].to_bytes(2, "little")
    )
    other.write(STUB_ADDR, stub)
    other.enter(STUB_ADDR, symbols["learn_pictures"])
    tstates = other.run_to(symbols["learn_count_digit_end"])
    assert tstates == pytest.approx(10 * COUNT_PICTURE + COUNT_DIGIT, rel=0.01)
    assert numbers("learn_count_all") == [COUNT_PICTURE, COUNT_DIGIT]


def test_the_headers_state_the_bytes() -> None:
    symbols = made().symbols
    starts = sorted((symbols["learn_line" if name == "learn_scores" else name], name) for name in HEADERS)
    ends = [start for start, _ in starts[1:]] + [symbols["learn_random"]]
    assert {name: end - start for (start, name), end in zip(starts, ends, strict=True)} == {
        name: int(header["Bytes"]) for name, header in HEADERS.items()
    }


def test_1800_pictures_the_program_and_the_weights_fit_a_48k() -> None:
    symbols = made().symbols
    assert symbols["learn_pictures"] + 1800 * 13 <= made().org
    assert symbols["learn_end"] <= symbols["learn_weight_page"]
    assert symbols["learn_weight_page"] + 10 * 5 * 256 <= 0x10000


def test_two_processors_learn_the_same_in_the_same_time() -> None:
    pictures, symbols = real()[:100], made().symbols
    weights = count.learn(real())
    other = KosarevCpu(made().org, made().image)
    bias = np.stack([weights.bias, weights.bias], axis=1).astype("<u2")
    for name, values in (("learn_pictures", pack(pictures)), ("learn_weight_page", weights.weight), ("learn_digits", bias)):
        for cpu in (MACHINE.cpu, other):
            cpu.write(symbols[name], values.tobytes())
    MACHINE.cpu.write(symbols["learn_random"], correct.SEED.to_bytes(2, "little"))
    stub = b"\x01" + (len(pictures) // 10 * 256).to_bytes(2, "little") + b"\xc3" + symbols["learn_pass"].to_bytes(2, "little")
    for cpu in (MACHINE.cpu, other):
        cpu.write(STUB_ADDR, stub)
    assert call(MACHINE.cpu, STUB_ADDR, symbols["learn_pictures"]) == call(other, STUB_ADDR, symbols["learn_pictures"])
    correct.correct_pass(weights, pictures, correct.SEED)
    MACHINE.check_weights(weights)
    assert other.read(symbols["learn_weight_page"], 12_800) == weights.weight.tobytes()


@pytest.mark.slow
def test_pasmo_makes_the_same_bytes(tmp_path: Path) -> None:
    assembly.build(tmp_path)
    assert pasmo_bytes(tmp_path / "learn.asm") == made().image


def test_a_flipped_bit_of_a_weight_is_noticed() -> None:
    weights = random_weights(3)
    MACHINE.put_weights(weights)
    addr = MACHINE.symbols["learn_weight_page"] + 777
    MACHINE.cpu.write(addr, bytes([MACHINE.cpu.read(addr, 1)[0] ^ 1]))
    with pytest.raises(AssertionError):
        MACHINE.check_weights(weights)
