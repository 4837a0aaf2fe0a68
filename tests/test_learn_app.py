"""The learning tape's routines keep the contracts of their headers, and draw what they say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning import made
from tests.pasmo import pasmo_bytes
from tests.test_app import pixels
from tests.test_learn_count import noise
from zxml.emulator import STACK_ADDR, SkoolKitCpu, call
from zxml.files import product_folder
from zxml.learn.pictures import COLS, ROWS, Bits, pack
from zxml.spectrum import read_text

STUB_ADDR, PICTURE_ADDR, SCREEN_ADDR = 0x5B10, 0x5D80, 0x4000
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((product_folder("asm") / "learn").glob("app_*.asm"))}
HEADERS = {
    match[2]: dict(re.findall(r"^; ([A-Z][\w-]+) +(.*)$", match[1], re.MULTILINE))
    for text in SOURCES.values()
    for match in re.finditer(r"((?:^;.*\n)+)(\w+):", text, re.MULTILINE)
    if f"; {match[2]} - " in match[1]
}
SCREENS = {"app_start", "menu", "lesson", "read", "draw_digits", "save", "fetch", "teach"}  # never return, or only to BASIC
STAGES = {"lesson_count", "lesson_pass"}  # take seconds: test_learn_tape
CALLS: dict[str, list[dict[str, int]]] = {
    "tell_learned": [{"de": SCREEN_ADDR}],
    "print_two": [{"hl": 7, "de": SCREEN_ADDR}, {"hl": 99, "de": SCREEN_ADDR}],
    "show_memory": [{}],
    "must_have_learned": [{}],
    "draw_small": [{"a": 16, "c": 25}],
    "draw_cells": [{}],
    "draw_lattice": [{}],
    "draw_seen": [{}],
    "classify": [{"hl": PICTURE_ADDR}],
    "read_small": [{"hl": PICTURE_ADDR}],
    "draw_board": [{}],
    "sleep_marks": [{}],
    "draw_counts": [{}],
    "draw_curve": [{}],
    "plot_hundred": [{"a": 0, "c": 0}, {"a": 100, "c": 239}],
    "show_progress": [{}],
    "show_clock": [{}],
    "show_share": [{}],
    "print_four": [{"hl": 0, "de": SCREEN_ADDR}, {"hl": 9999, "de": SCREEN_ADDR}],
    "point_of_pass": [{"a": 0}, {"a": 14}],
}


class Bench:
    """The program in the memory of a processor, a thing or two learned."""

    def __init__(self) -> None:
        self.symbols = made().symbols
        self.cpu = SkoolKitCpu(made().assembly.org, made().assembly.image)
        self.cpu.write(self.symbols["state_stage"], bytes([3, 20]))

    def call(
        self, label: str, a: int = 0x5A, bc: int = 0xA55A, de: int = 0x3CC3, hl: int = 0x9669, c: int | None = None
    ) -> None:
        """Call a routine and check that it changes no register but those its header names."""
        bc = bc if c is None else bc & 0xFF00 | c
        words = b"".join(bytes([op]) + value.to_bytes(2, "little") for op, value in ((0x01, bc), (0x11, de)))
        self.cpu.write(STUB_ADDR, bytes([0x3E, a]) + words + b"\xc3" + self.symbols[label].to_bytes(2, "little"))
        before = self.cpu.registers() | {"bc": bc, "de": de, "hl": hl, "sp": STACK_ADDR}
        before["af"] = 256 * a + before["af"] % 256
        call(self.cpu, STUB_ADDR, hl)
        after, header = self.cpu.registers(), HEADERS[label]
        out = " ".join(re.findall(r"\b(\w+) = ", header.get("Out", "")))
        named = re.findall(r"\b(?:af|bc|de|hl|ix|[abcdefhl])\b", f"{header['Clobbers']} {out}")
        letters = {letter for name in named for letter in ([name] if name == "ix" else name)}
        for pair in before:
            for shift, letter in ((8, pair[0]), (0, pair[1])) if pair in ("af", "bc", "de", "hl") else ((0, pair),):
                mask = 255 if pair in ("af", "bc", "de", "hl") else 0xFFFF
                assert letter in letters or before[pair] >> shift & mask == after[pair] >> shift & mask, f"{label}: {letter}"

    def memory(self) -> bytes:
        return self.cpu.read(0, 0x10000)

    def put_rows(self, picture: Bits) -> None:
        """Put a picture (11, 9) where learn_unpack leaves it."""
        rows = np.packbits(np.pad(picture, ((1, 1), (0, 16 - COLS))), axis=1)
        self.cpu.write(self.symbols["learn_rows"], rows.tobytes())


BENCH = Bench()


def attributes(memory: bytes) -> Bits:
    return np.frombuffer(memory[0x5800:0x5B00], np.uint8).reshape(24, 32)


def test_every_routine_with_a_header_is_tested() -> None:
    assert set(HEADERS) == SCREENS | STAGES | set(CALLS)


@pytest.mark.parametrize("name", SOURCES)
def test_the_headers_state_the_bytes(name: str) -> None:
    labels = [label for label in re.findall(r"^(\w+):", SOURCES[name], re.MULTILINE) if label in HEADERS]
    ends = [*labels[1:], f"{name}_end"]
    sizes = {label: made().symbols[end] - made().symbols[label] for label, end in zip(labels, ends, strict=False)}
    assert {label: int(HEADERS[label]["Bytes"].split()[0]) for label in labels} == sizes


@pytest.mark.parametrize("label", CALLS)
def test_the_header_names_every_register_that_changes(label: str) -> None:
    for inputs in CALLS[label]:
        BENCH.call(label, **inputs)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_picture_is_drawn_four_times_as_large(seed: int) -> None:
    picture = noise(seed, 0.5)[0]
    BENCH.put_rows(picture)
    BENCH.call("draw_small", a=16, c=25)
    shown = pixels(BENCH.memory())[16 : 16 + 4 * ROWS, 200 : 200 + 4 * COLS]
    assert (shown == np.kron(picture, np.ones((4, 4), np.uint8))).all()


def test_a_picture_is_shown_as_cells() -> None:
    picture = noise(3, 0.5)[0]
    BENCH.put_rows(picture)
    BENCH.call("draw_cells")
    assert (attributes(BENCH.memory())[5:16, 4:13] == np.where(picture, 0x78, 8)).all()


@given(st.integers(0, 100), st.integers(0, 239))
@settings(max_examples=30)
def test_a_point_of_the_curve_is_a_column_of_its_height(wrong: int, number: int) -> None:
    BENCH.call("draw_counts")
    BENCH.call("plot_hundred", a=wrong, c=number)
    column = pixels(BENCH.memory())[64:128, 16 + number]
    top = 4 * min(wrong, 15)
    assert not column[:top].any()
    assert column[top:].all()


@given(st.integers(0, 9999))
@settings(max_examples=30)
def test_numbers_are_printed_right_aligned(number: int) -> None:
    BENCH.call("print_four", hl=number, de=SCREEN_ADDR)
    assert read_text(BENCH.memory())[0][:4] == f"{number:>4}"
    BENCH.call("print_two", hl=number % 100, de=SCREEN_ADDR)
    assert read_text(BENCH.memory())[0][:2] == f"{number % 100:>2}"


@pytest.mark.parametrize("passes", range(15))
def test_each_pass_begins_where_the_one_before_ends_in_the_curve(passes: int) -> None:
    BENCH.call("point_of_pass", a=passes)
    assert BENCH.cpu.registers()["af"] >> 8 == passes * len(made().train) // 100


def test_the_scores_of_a_reading_are_laid_out_for_the_bars() -> None:
    BENCH.cpu.write(PICTURE_ADDR, pack(made().test[:1]).tobytes())
    BENCH.call("read_small", hl=PICTURE_ADDR)
    digits = np.frombuffer(BENCH.cpu.read(BENCH.symbols["learn_digits"], 40), "<u2")
    assert BENCH.cpu.read(BENCH.symbols["scores"], 20) == digits[1::2].tobytes()


@pytest.mark.slow
def test_pasmo_makes_the_same_bytes() -> None:
    image = made().assembly.image  # pyz80 leaves room at the end out
    assert pasmo_bytes(made().tap.parent / "asm" / "app_map.asm").rstrip(b"\0") == image.rstrip(b"\0")
