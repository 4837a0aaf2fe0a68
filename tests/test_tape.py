"""The tape and its loading screen: what their bytes say, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from skoolkit import ROM48
from skoolkit.basic import BasicLister
from skoolkit.tape import parse_tap

from tests.fake_gallery import picture
from zxml.errors import PlanError
from zxml.spectrum import read_text
from zxml.z80gen.loading_screen import loading_screen
from zxml.z80gen.tape import tape_bytes

SCREEN = bytes(range(256)) * 27
IMAGE = bytes(range(100, 200))


def blocks(tap: bytes) -> list[bytes]:
    return [bytes(block.data) for block in parse_tap(tap).blocks]


def test_the_same_inputs_give_the_same_tape() -> None:
    assert tape_bytes("net", IMAGE, 0x6000, 0x6000, SCREEN) == tape_bytes("net", IMAGE, 0x6000, 0x6000, SCREEN)


def test_a_tape_is_basic_a_screen_and_the_code() -> None:
    tape = blocks(tape_bytes("net", IMAGE, 0x6000, 0x6010, SCREEN))
    headers = [(block[1], block[2:12].decode(), int.from_bytes(block[14:16], "little")) for block in tape[::2]]
    assert headers == [(0, "net       ", 20), (3, "screen    ", 0x4000), (3, "code      ", 0x6000)]
    assert [block[1:-1] for block in tape[3::2]] == [SCREEN, IMAGE]


def test_every_block_ends_with_the_xor_of_its_bytes() -> None:
    for block in blocks(tape_bytes("net", IMAGE, 0x6000, 0x6000, SCREEN)):
        parity = 0
        for byte in block:
            parity ^= byte
        assert parity == 0


def test_line_10_is_for_run_and_line_20_for_the_tape() -> None:
    basic = blocks(tape_bytes("net", IMAGE, 0x6000, 0x6010, SCREEN))[1][1:-1]
    listing = BasicLister().list_basic([0] * 23755 + list(basic) + [0x80]).split("\n")
    assert [line.strip() for line in listing] == [
        "10 GO TO 40",
        "20 BORDER 0: PAPER 0: INK 0: CLEAR 24575",
        '30 LOAD ""SCREEN$ : POKE 23739,111: LOAD ""CODE : POKE 23739,244',
        "40 RANDOMIZE USR 24592",
        "50 BORDER 7: PAPER 7: INK 0: CLS",
    ]


def test_code_may_end_at_the_last_byte_of_memory() -> None:
    assert tape_bytes("net", bytes(0xA000), 0x6000, 0x6000, SCREEN)


def test_code_that_passes_the_last_byte_is_refused() -> None:
    with pytest.raises(PlanError, match="40961 bytes at 24576 end at 65536, 1 past 65535"):
        tape_bytes("net", bytes(0xA001), 0x6000, 0x6000, SCREEN)


@pytest.mark.parametrize("name", ["", "elevenchars", "né", "a\n"])
def test_a_name_that_a_header_cannot_hold_is_refused(name: str) -> None:
    with pytest.raises(PlanError, match="1 to 10 ASCII characters"):
        tape_bytes(name, IMAGE, 0x6000, 0x6000, SCREEN)


def test_an_entry_outside_the_code_is_refused() -> None:
    with pytest.raises(PlanError, match="entry 24676 lies outside the code, 24576 to 24675"):
        tape_bytes("net", IMAGE, 0x6000, 0x6064, SCREEN)


def test_a_screen_of_another_size_is_refused() -> None:
    with pytest.raises(PlanError, match="a screen has 6912 bytes, got 6144"):
        tape_bytes("net", IMAGE, 0x6000, 0x6000, SCREEN[:6144])


PICTURES = np.array([picture(digit) for digit in range(10)])


def test_the_loading_screen_is_a_screen_and_always_the_same() -> None:
    screen = loading_screen(PICTURES, "60-10")
    assert len(screen) == 6912
    assert screen == loading_screen(PICTURES, "60-10")


def test_the_loading_screen_shows_its_title_and_the_pictures_as_they_are() -> None:
    screen = loading_screen(PICTURES, "784 pixels-60-10, 98.5 %")
    text = read_text((Path(ROM48).read_bytes() + screen).ljust(0x10000, b"\0"))
    assert [text[row].strip() for row in (20, 22)] == ["784 pixels-60-10, 98.5 %", "loading"]
    lines = np.frombuffer(screen[:6144], np.uint8).reshape(3, 8, 8, 32).transpose(0, 2, 1, 3).reshape(192, 32)
    assert (np.unpackbits(lines, axis=1)[82:110, 34:62] == PICTURES[1]).all()


def test_every_cell_of_the_loading_screen_is_black_paper_and_ink_that_shows() -> None:
    screen = loading_screen(PICTURES, "60-10")
    lines = np.frombuffer(screen[:6144], np.uint8).reshape(3, 8, 8, 32).any(axis=1).reshape(24, 32)
    attributes = np.frombuffer(screen[6144:], np.uint8).reshape(24, 32)
    assert (attributes & 0x38 == 0).all()
    assert (attributes[lines] & 7 > 0).all()


def test_a_loading_screen_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(PlanError, match=r"must have shape \(n, 28, 28\), got \(0, 28, 28\)"):
        loading_screen(PICTURES[:0], "")
    with pytest.raises(PlanError, match="not one line of at most 32"):
        loading_screen(PICTURES, "x" * 33)
