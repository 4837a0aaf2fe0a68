"""The program: every routine keeps the contract of its header, and what it computes and draws is right."""

from __future__ import annotations

import contextlib
import io
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from skoolkit import ROM48, CSimulator
from skoolkit.simutils import REGISTERS, T, from_memory
from skoolkit.trace import Tracer

from tests.fake_gallery import COLD, FAST, build, pack, picture, show
from zxml.files import product_folder
from zxml.spectrum import read_text
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.program import pack_runs

RETURN_ADDR = 0x5B00  # a call returns here, to the printer buffer
STACK_ADDR = 0x5FF0
TSTATES_LIMIT = 100 * 69_888
SHOWS = [show(7, turns=1600), show(5, digit=6)]
LINE_0 = 0x4000
SCRATCH_ADDR = 0xC000
PARTS = {"ix": ("IXh", "IXl"), "iy": ("IYh", "IYl")}
ROUTINES = [name for name in (*COLD, *FAST) if name != "app/normalise"]  # which has tests of its own
KEPT = {part for part in REGISTERS if part not in ("I", "R", "PC", "T", "MEMPTR")}

SCREENS = {"app_start", "gallery", "draw", "challenge", "info"}  # never return, or only to BASIC

# What to call every routine with, to see that it keeps its contract: numbers, or labels.
CALLS: dict[str, list[dict[str, int | str]]] = {
    "next_key": [{}],
    "find_kept_key": [{}],
    "look_at_pen": [{}],
    "show_stick": [{}],
    "find_second": [{"c": 3}, {"c": 9}],
    "show_guess": [{"b": 3, "c": 3}, {"b": 3, "c": 8}],
    "read_pen": [{}],
    "find_pen": [{}],
    "show_pen": [{}],
    "use_pen": [{}],
    "move_pen": [{"b": 3, "c": 0}, {"b": 1, "c": 16 + 5}, {"b": 8, "c": 10}],
    "clear_canvas": [{}],
    "show_canvas": [{}],
    "find_cells": [{"b": 0, "c": 0}, {"b": 55, "c": 55}],
    "show_cells": [{"hl": "canvas", "c": 5, "a": 52, "b": 4, "de": 0x0F00}],
    "show_byte": [{"c": 0, "b": 0, "hl": LINE_0}, {"c": 0xFF, "b": 0xFF, "hl": LINE_0}],
    "show_challenge": [{}],
    "clear_screen": [{}],
    "clear_bytes": [{"hl": LINE_0, "bc": 1}, {"hl": LINE_0, "bc": 6911}],
    "fill_colour": [{"hl": 0x5800, "b": 24, "c": 32, "a": 0x47}],
    "draw_stage": [{}],
    "draw_picture": [{}],
    "draw_seen": [{}],
    "unpack_picture": [{"a": 0, "ix": "gallery_pictures"}, {"a": 1, "ix": "gallery_pictures"}],
    "judge": [{"b": 3, "c": 3}, {"b": 3, "c": 8}],
    "show_reading": [{"b": 3, "c": 3}, {"b": 3, "c": 8}],
    "draw_digit": [{"a": 0, "l": 0x44}, {"a": 9, "l": 0x42}, {"a": 15, "l": 0x47}],
    "measure_bars": [{}],
    "scale_bar": [{"hl": 0}, {"hl": 255}],
    "find_score_range": [{}],
    "draw_bars": [{"b": 3, "c": 3}, {"b": 3, "c": 8}],
    "draw_bar": [{"a": length, "de": LINE_0} for length in (0, 1, 57, 104)],
    "show_count": [{}],
    "show_time": [{"hl": 2609, "e": 0}, {"hl": 6521, "e": 20}],
    "scale_units": [{"hl": 65_535, "de": 65_535}, {"hl": 1, "de": 32_768}],
    "print_decimal": [{"hl": 176, "b": 4, "c": 46, "de": LINE_0}, {"hl": 65_535, "b": 3, "c": 46, "de": LINE_0}],
    "print_places": [
        {"hl": 1234, "b": 4, "ix": "power_10000", "de": LINE_0},
        {"hl": 9, "b": 1, "ix": "power_10", "de": LINE_0},
    ],
    "print_text": [{"hl": "text_net", "de": LINE_0}, {"hl": "text_info", "de": LINE_0}],
    "print_digit": [{"a": 7, "de": LINE_0}],
    "print_char": [{"a": 65, "de": LINE_0}, {"a": 255, "de": LINE_0 + 31}],
    "line_address": [{"a": 0}, {"a": 191}],
    "mul_u16_u16": [{"bc": 0, "de": 0}, {"bc": 65_535, "de": 65_535}, {"bc": 4307, "de": 2609}],
    "div_u16_u8": [{"hl": 65_535, "e": 1}, {"hl": 0xFEFF, "e": 255}],
    "read_picture": [{"hl": "text_place"}],
    "think": [{}],
    "time_classify": [{"hl": "picture"}],
    "count_to_frame": [{}],
}


def read_headers() -> dict[str, dict[str, str]]:
    """Return the fields of every routine's header in asm/app and asm/lib, by label."""
    headers = {}
    for name in ROUTINES:
        text = (product_folder("asm") / f"{name}.asm").read_text()
        for comment, label in re.findall(r"((?:^;.*\n)+)(\w+):", text, re.MULTILINE):
            if f"; {label} - " in comment:
                headers[label] = dict(re.findall(r"^; ([A-Z][\w-]+) +(.*)$", comment, re.MULTILINE))
    return headers


HEADERS = read_headers()


class Call:
    """One call of a routine on a fresh 48K machine: its registers, memory and T-states afterwards."""

    def __init__(self, memory: bytearray, start: dict[str, int], interrupts: bool):
        simulator = from_memory(CSimulator, list(memory), start, {"iff": int(interrupts), "im": 1})
        self._before = list(simulator.registers)
        tracer = Tracer(simulator, 7, 0, 0, [0] * 16, 0, False)
        tracer.keyboard = [0] * 8
        simulator.set_tracer(tracer)
        with contextlib.redirect_stdout(io.StringIO()) as log:
            tracer.run(start["PC"], RETURN_ADDR, 0, TSTATES_LIMIT, interrupts, None, None, None, None, "", "02X", "04X")
        assert log.getvalue() == f"Stopped at {RETURN_ADDR:04X}\n", "the routine does not return"
        self._after = list(simulator.registers)
        self.memory = bytes(simulator.memory)
        self.tstates: int = self._after[T]

    def __getitem__(self, pair: str) -> int:
        high = REGISTERS[pair[0].upper()]
        return int(self._after[high] if len(pair) == 1 else self._after[high] * 256 + self._after[high + 1])

    def changed(self) -> set[str]:
        """Return the registers that differ from before the call; sp is to be where the call instruction found it."""
        found = {part for part in KEPT if self._before[REGISTERS[part]] != self._after[REGISTERS[part]]}
        return found - {"SP"} if self._after[REGISTERS["SP"]] == STACK_ADDR + 2 else found


class Program:
    """The assembled gallery."""

    def __init__(self, assembly: Assembly):
        self.symbols = assembly.symbols
        self._memory = bytearray(Path(ROM48).read_bytes().ljust(0x10000, b"\0"))
        self._memory[assembly.org : assembly.org + len(assembly.image)] = assembly.image
        self._memory[self.symbols["pen_size"]] = 3
        self._memory[STACK_ADDR : STACK_ADDR + 2] = RETURN_ADDR.to_bytes(2, "little")

    def call(self, label: str, inputs: dict[str, int | str], pokes: dict[int, bytes] | None = None) -> Call:
        """Call a routine with registers that hold numbers, or the values of labels."""
        memory = bytearray(self._memory)
        for addr, data in (pokes or {}).items():
            memory[addr : addr + len(data)] = data
        start = {"A": 0x5A, "F": 0x28, "BC": 0xA55A, "DE": 0x3CC3, "HL": 0x9669, "IX": 0x1234, "SP": STACK_ADDR}
        start |= {"^A": 0x77, "^F": 0x11, "^BC": 0x89AB, "^DE": 0x4567, "^HL": 0xCDEF, "PC": self.symbols[label]}
        for name, value in inputs.items():
            start[name.upper()] = self.symbols[value] if isinstance(value, str) else value
        return Call(memory, start, "nterrupts on" in HEADERS[label].get("Needs", ""))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(build(tmp_path_factory.mktemp("app"), SHOWS))


def named_registers(text: str) -> set[str]:
    names = re.findall(r"\b(?:af|bc|de|hl|ix|[abcdefhl])\b", text)
    return {part for name in names for part in PARTS.get(name, tuple(name.upper()))}


@cache
def last_label(label: str) -> str:
    """Return the label just after a routine and its data: its own `_end`, or the next routine with a header."""
    source = "".join((product_folder("asm") / f"{name}.asm").read_text() for name in ROUTINES)
    after: list[str] = re.findall(r"^(\w+):(?! +equ)", source.split(f"\n{label}:")[1], re.MULTILINE)
    return next(name for name in after if name in HEADERS or name.endswith("_end"))


def test_every_routine_with_a_header_is_tested() -> None:
    assert set(HEADERS) == SCREENS | set(CALLS)


@pytest.mark.parametrize("label", HEADERS)
def test_the_header_states_the_bytes(program: Program, label: str) -> None:
    size = program.symbols[last_label(label)] - program.symbols[label]
    assert int(HEADERS[label]["Bytes"].split()[0]) == size


@pytest.mark.parametrize("label", CALLS)
def test_the_header_names_every_register_that_changes(program: Program, label: str) -> None:
    changed = set.union(*(program.call(label, inputs).changed() for inputs in CALLS[label]))
    out = re.findall(r"\b(\w+) = ", HEADERS[label].get("Out", ""))
    assert changed <= named_registers(" ".join(out)) | named_registers(HEADERS[label]["Clobbers"].split("(")[0])


@pytest.mark.parametrize("label", [label for label in HEADERS if "T-states" in HEADERS[label]])
def test_the_header_states_the_tstates(program: Program, label: str) -> None:
    low, _, high = HEADERS[label]["T-states"].partition("..")
    taken = {program.call(label, inputs).tstates for inputs in CALLS[label]}
    assert (min(taken), max(taken)) == (int(low), int(high or low))


@given(st.integers(0, 65_535), st.integers(0, 65_535))
def test_mul_u16_u16_multiplies(program: Program, left: int, right: int) -> None:
    call = program.call("mul_u16_u16", {"bc": left, "de": right})
    assert call["de"] * 65_536 + call["hl"] == left * right
    assert 902 <= call.tstates <= 1205


@given(st.integers(0, 65_535), st.integers(1, 255))
def test_div_u16_u8_divides(program: Program, dividend: int, divisor: int) -> None:
    call = program.call("div_u16_u8", {"hl": dividend, "e": divisor})
    assert (call["hl"], call["a"]) == divmod(dividend, divisor)


def test_line_address_knows_every_line(program: Program) -> None:
    addresses = [program.call("line_address", {"a": line})["hl"] for line in range(192)]
    lines = np.arange(192)
    assert addresses == (0x4000 + (lines // 64) * 0x800 + (lines % 8) * 0x100 + (lines // 8 % 8) * 32).tolist()


@given(st.integers(0, 65_535))
def test_print_decimal_prints_any_number_of_tenths_and_of_hundredths(program: Program, number: int) -> None:
    for places, wanted in ((4, f"{number // 10:>4}.{number % 10}"), (3, f"{number // 100:>3}.{number % 100:02}")):
        call = program.call("print_decimal", {"hl": number, "b": places, "c": 46, "de": LINE_0})
        assert read_text(call.memory)[0].rstrip() == wanted
        assert call["de"] == LINE_0 + 6


@given(st.lists(st.integers(0, 65_535), min_size=10, max_size=10) | st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_a_bar_is_as_long_as_its_score_is_high(program: Program, values: list[int]) -> None:
    scores = np.array(values)
    memory = program.call("measure_bars", {}, {program.symbols["scores"]: scores.astype("<u2").tobytes()}).memory
    lengths = np.frombuffer(memory[program.symbols["bar_lengths"] :][:10], np.uint8)
    exact = 1 + 103 * (scores - scores.min()) / max(1, scores.max() - scores.min())
    assert np.abs(lengths - exact).max() < 2
    assert lengths.max() == (104 if scores.max() > scores.min() else 1)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 103, 104])
def test_a_bar_is_as_long_as_asked_and_six_lines_high(program: Program, length: int) -> None:
    memory = np.frombuffer(program.call("draw_bar", {"a": length, "de": LINE_0}).memory, np.uint8)
    lines = [np.unpackbits(memory[LINE_0 + 256 * line :][:13]) for line in range(8)]
    assert [int(line[:length].sum()) for line in lines] == [0, *[length] * 6, 0]
    assert sum(int(line[length:].sum()) for line in lines) == 0


@given(st.lists(st.integers(0, 65_535), min_size=10, max_size=10))
def test_the_range_of_the_scores_is_found(program: Program, scores: list[int]) -> None:
    pokes = {program.symbols["scores"]: np.array(scores, "<u2").tobytes()}
    call = program.call("find_score_range", {}, pokes)
    assert (call["de"], call["hl"]) == (min(scores), max(scores) - min(scores))


def pixels(memory: bytes) -> NDArray[np.uint8]:
    """Return the screen in a memory, (192, 256)."""
    return np.unpackbits(
        np.frombuffer(memory[LINE_0:0x5800], np.uint8).reshape(3, 8, 8, 32).transpose(0, 2, 1, 3).reshape(192, 32), axis=1
    )


def test_every_pixel_of_a_picture_is_drawn_four_times_as_large(program: Program) -> None:
    noise = np.random.default_rng(7).integers(0, 2, (28, 28), np.uint8)
    screen = pixels(program.call("draw_picture", {}, {program.symbols["picture"]: pack([noise])}).memory)
    expected = np.zeros_like(screen)
    expected[32:144, 8:120] = np.kron(noise, np.ones((4, 4), np.uint8))
    assert (screen == expected).all()


@pytest.mark.parametrize("digit", range(10))
def test_the_lamps_show_the_roms_digit(program: Program, digit: int) -> None:
    memory = np.frombuffer(program.call("draw_digit", {"a": digit, "l": 0x44}).memory, np.uint8)
    lamps = memory[0x5800:0x5B00].reshape(24, 32)[3:9, 26:32]
    assert (lamps == 0x44 * picture(digit)[5:23:3, 5:23:3]).all()


@given(arrays(np.uint8, (28, 28), elements=st.integers(0, 1)))
def test_a_packed_picture_comes_back(program: Program, drawn: NDArray[np.uint8]) -> None:
    packed = pack_runs(picture(7)) + pack_runs(drawn)
    addr = program.symbols["picture"]
    for index, expected in enumerate((picture(7), drawn)):
        call = program.call("unpack_picture", {"a": index, "ix": SCRATCH_ADDR}, {SCRATCH_ADDR: packed})
        assert call.memory[addr - 5 : addr + 112] == bytes(5) + pack([expected])


@given(arrays(np.uint8, (56, 56), elements=st.integers(0, 1)))
def test_every_cell_of_the_canvas_is_drawn_twice_as_large(program: Program, cells: NDArray[np.uint8]) -> None:
    screen = pixels(program.call("show_canvas", {}, {program.symbols["canvas"]: np.packbits(cells, axis=1).tobytes()}).memory)
    expected = np.zeros_like(screen)
    expected[32:144, 8:120] = np.kron(cells, np.ones((2, 2), np.uint8))
    assert (screen == expected).all()


def test_what_the_net_sees_is_drawn_twice_as_large(program: Program) -> None:
    noise = np.random.default_rng(7).integers(0, 2, (28, 28), np.uint8)
    screen = pixels(program.call("draw_seen", {}, {program.symbols["picture"]: pack([noise])}).memory)
    expected = np.zeros_like(screen)
    expected[24:80, 136:192] = np.kron(noise, np.ones((2, 2), np.uint8))
    assert (screen == expected).all()


@given(st.integers(0, 54), st.integers(0, 54), st.integers(2, 4), st.booleans())
def test_the_pen_covers_a_square(program: Program, x: int, y: int, size: int, erases: bool) -> None:
    x, y = min(x, 56 - size), min(y, 56 - size)
    before = np.full((56, 56), int(erases), np.uint8)
    symbols = program.symbols
    pokes = {symbols["canvas"]: np.packbits(before, axis=1).tobytes(), symbols["pen_erases"]: bytes([255 * erases])}
    pokes |= {symbols["pen_x"]: bytes([x]), symbols["pen_y"]: bytes([y]), symbols["pen_size"]: bytes([size])}
    memory = program.call("use_pen", {}, pokes).memory
    cells = np.unpackbits(np.frombuffer(memory[symbols["canvas"] :][:392], np.uint8).reshape(56, 7), axis=1)
    before[y : y + size, x : x + size] ^= 1
    assert (cells == before).all()
    assert memory[symbols["canvas_changed"]] == 1


@given(st.lists(st.integers(1, 104), min_size=10, max_size=10), st.integers(0, 9))
def test_a_second_digit_is_named_if_its_bar_is_nearly_as_long(program: Program, lengths: list[int], digit: int) -> None:
    lengths[digit] = 104
    second = program.call("find_second", {"c": digit}, {program.symbols["bar_lengths"]: bytes(lengths)})["b"]
    others = [length for i, length in enumerate(lengths) if i != digit]
    if max(others) >= 91:
        assert second != digit
        assert lengths[second] == max(others)
    else:
        assert second == digit
