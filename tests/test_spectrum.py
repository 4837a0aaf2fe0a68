"""The whole machine: a tape loads through the ROM, the gallery runs, and BREAK gives the machine back to BASIC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.fake_gallery import FAKE_TSTATES, PROGRAM_ADDR, TURN_TSTATES, Show, build, picture, show, write_tape
from tests.pasmo import pasmo_bytes
from zxml import spectrum
from zxml.errors import ZxmlError
from zxml.spectrum import Spectrum, png, read_text

SHOWS = [show(7), show(5, digit=6), show(0), Show(4, 4, [9] * 10)]
KNOWN_TSTATES = (10_007, 40_007, 59_999, 67_991, 68_999, 69_887, 70_487, 100_007, 150_023)
GREEN, RED, YELLOW, WHITE = 0x44, 0x42, 0x46, 0x07
FIRST_PICTURE_FRAMES = 20
PICTURE_FRAMES = 57


@pytest.fixture(scope="module")
def tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tape(tmp_path_factory.mktemp("tape"), SHOWS)


@pytest.fixture
def machine(tap: Path) -> Spectrum:
    loaded = Spectrum(tap)
    loaded.run(FIRST_PICTURE_FRAMES)
    return loaded


def next_picture(machine: Spectrum) -> None:
    """Run until the gallery has counted one more picture, and drawn it."""
    before = machine.text()[19]
    for _ in range(2 * PICTURE_FRAMES):
        machine.run(1)
        after = machine.text()[19]
        if after != before and after[8].isdigit():
            machine.run(2)
            return
    pytest.fail("the gallery stands still")


def attributes(machine: Spectrum) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(bytes(machine.memory[0x5800:0x5B00]), np.uint8).reshape(24, 32)


def test_a_tape_loads_through_the_rom_and_calls_the_program(tap: Path) -> None:
    loaded = Spectrum(tap)
    assert loaded.register("PC") == PROGRAM_ADDR
    assert loaded.register("IY") == 0x5C3A


def test_the_rom_reads_the_tape_pulse_by_pulse_too(tap: Path) -> None:
    fast, slow = Spectrum(tap), Spectrum(tap, edges=True)
    assert slow.register("PC") == PROGRAM_ADDR
    assert slow.memory[PROGRAM_ADDR:0xFF00] == fast.memory[PROGRAM_ADDR:0xFF00]


def test_the_first_picture_and_what_the_net_reads_in_it_are_shown(machine: Spectrum) -> None:
    text = machine.text()
    assert text[0] == "zxml     a Z80 reads handwriting"
    assert text[1].rstrip() == "784 pixels-60-10, 98.5 %"
    assert (text[3][17:25], text[5][17:25], text[7][17:25]) == ("it reads", "   right", " " * 8)
    assert text[19][1:15] == " 1 of  1 right"
    assert text[23].rstrip() == "Gallery   Draw   Challenge  Info"
    assert machine.border == 0
    lamps = attributes(machine)[3:9, 26:32]
    assert (lamps == GREEN * picture(7)[5:23:3, 5:23:3]).all()


def test_a_wrong_digit_is_red_and_the_true_one_is_told(machine: Spectrum) -> None:
    next_picture(machine)
    text = machine.text()
    assert (text[5][17:25], text[7][17:25]) == ("   wrong", " it is 5")
    assert text[19][1:15] == " 1 of  2 right"
    assert (attributes(machine)[3:9, 26:32] == RED * picture(6)[5:23:3, 5:23:3]).all()
    assert attributes(machine)[10:20, 17].tolist() == [WHITE] * 5 + [YELLOW, RED] + [WHITE] * 3


def test_the_bars_show_the_scores(machine: Spectrum) -> None:
    screen = np.frombuffer(bytes(machine.memory[0x4000:0x5800]), np.uint8).reshape(3, 8, 8, 32).transpose(0, 2, 1, 3)
    lengths = np.unpackbits(screen.reshape(24, 8, 32)[10:20, 3, 19:], axis=1).sum(axis=1)
    scores = np.array(SHOWS[0].scores)
    expected = 1 + 103 * (scores - scores.min()) / (scores.max() - scores.min())
    assert np.abs(lengths - expected).max() < 2
    assert lengths.max() == 104
    assert [row[17] for row in machine.text()[10:20]] == list("0123456789")


def test_after_the_last_picture_the_count_begins_again(machine: Spectrum) -> None:
    counts = []
    for _ in range(5):
        counts.append(machine.text()[19][1:15])
        next_picture(machine)
    assert counts == [" 1 of  1 right", " 1 of  2 right", " 2 of  3 right", " 3 of  4 right", " 1 of  1 right"]


def test_a_picture_stays_a_second_and_a_tenth_of_one_with_space_held(tap: Path) -> None:
    slow, fast = Spectrum(tap), Spectrum(tap)
    slow.run(FIRST_PICTURE_FRAMES + 2 * PICTURE_FRAMES)
    fast.run(FIRST_PICTURE_FRAMES + 20, "SPACE")
    assert slow.text()[19][1:15] == " 2 of  3 right"
    assert fast.text()[19][1:15] == " 3 of  4 right"


@pytest.mark.parametrize("contention", [False, True])
def test_the_time_shown_is_the_time_taken(tmp_path: Path, contention: bool) -> None:
    shows = [show(1, turns=(tstates - FAKE_TSTATES) // TURN_TSTATES) for tstates in KNOWN_TSTATES]
    machine = Spectrum(write_tape(tmp_path, shows), contention=contention)
    for tstates in KNOWN_TSTATES:
        next_picture(machine)
        line = machine.text()[21]
        assert abs(int(line[15:23].replace(",", "")) - tstates) <= 75  # of which 50 are rounding
        assert abs(float(line[5:11]) - tstates / 3500) <= 0.06


def test_break_gives_the_machine_back_to_basic(tap: Path) -> None:
    machine = Spectrum(tap)
    alternate = machine.register("^HL")
    machine.run(FIRST_PICTURE_FRAMES)
    assert machine.register("^HL") == alternate
    machine.run(10, "CS SPACE")
    machine.run(20)
    assert machine.has_report_ok()
    assert machine.text()[23].rstrip() == "0 OK, 50:4"
    assert machine.register("IY") == 0x5C3A
    assert (machine.register("IM"), machine.register("IFF")) == (1, 1)
    assert machine.border == 7


def test_run_starts_the_program_again(machine: Spectrum) -> None:
    machine.run(10, "CS SPACE")
    machine.run(20)
    machine.press("r", "ENTER")
    machine.run(FIRST_PICTURE_FRAMES)
    assert machine.text()[19][1:15] == " 1 of  1 right"


def test_print_usr_tells_how_many_were_right(machine: Spectrum) -> None:
    machine.run(10, "CS SPACE")
    machine.run(20)
    machine.press("p", "CS SS", "l", "2", "4", "5", "7", "6", "ENTER")
    machine.run(FIRST_PICTURE_FRAMES + 2 * PICTURE_FRAMES)
    machine.run(10, "CS SPACE")
    machine.run(20)
    assert machine.text()[23].rstrip() == "0 OK, 0:1"
    assert machine.text()[0].startswith("2")  # printed over the title
    assert machine.border == 7


@pytest.mark.slow
def test_the_program_needs_nothing_of_one_assembler_alone(tmp_path: Path) -> None:
    assembly = build(tmp_path, SHOWS)
    assert pasmo_bytes(tmp_path / "gallery.asm") == assembly.image


def test_a_screen_can_be_had_as_a_png(machine: Spectrum) -> None:
    assert machine.png() == png(machine.memory)
    assert machine.png().startswith(b"\x89PNG")


def test_a_cell_that_is_no_letter_reads_as_a_question_mark(machine: Spectrum) -> None:
    machine.memory[0x4000] ^= 1
    assert read_text(machine.memory)[0].startswith("?xml")


def test_an_unknown_key_is_refused(machine: Spectrum) -> None:
    with pytest.raises(ZxmlError, match="key 'ESCAPE': a Spectrum has no such key"):
        machine.run(1, "ESCAPE")


def test_a_file_that_is_no_tape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ZxmlError, match=r"none\.tap: no tape that a Spectrum can load"):
        Spectrum(tmp_path / "none.tap")


def test_a_tape_that_never_calls_its_program_is_refused(tap: Path) -> None:
    damaged = tap.with_name("damaged.tap")
    damaged.write_bytes(tap.read_bytes()[:-1] + bytes([tap.read_bytes()[-1] ^ 1]))
    with pytest.raises(ZxmlError, match="nothing called 24576"):
        Spectrum(damaged)


def test_a_missing_c_simulator_is_told_with_its_cure(tap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "CSimulator", None)
    with pytest.raises(ZxmlError, match="pip install"):
        Spectrum(tap)
