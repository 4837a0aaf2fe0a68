"""The same tape in other people's emulators: Fuse, as four machines, and zx, which hears every pulse."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import zx

from tests.emulators import Fuse, Picture, png_picture
from tests.fake_gallery import PROGRAM_ADDR, show, write_tape
from zxml import ir
from zxml.cassette import record
from zxml.data import load
from zxml.files import product_folder
from zxml.spectrum import Spectrum, png, read_text
from zxml.z80gen.snapshot import REGISTERS, sna_bytes, z80_bytes
from zxml.z80gen.tape import NO_BANKS
from zxml.z80gen.target import SPECTRUM_128K
from zxml.z80gen.tzx import tzx_bytes
from zxml.z80gen.wav import wav_bytes

pytestmark = pytest.mark.slow

SHOWS = [show(7), show(5, digit=6), show(3)]
COUNTS = [" 1 of  1 right", " 1 of  2 right", " 2 of  3 right"]
FIRST_FRAMES, NEXT_FRAMES = 20, 57
MANY = 40
BREAK = ("Shift_L", "space")
OK = "0 OK, 50:4"


@pytest.fixture(scope="module")
def tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tape(tmp_path_factory.mktemp("tape"), SHOWS)


@pytest.fixture(scope="module")
def screens(tap: Path) -> list[bytes]:
    """The memory of SkoolKit's Spectrum at each picture of the gallery."""
    machine = Spectrum(tap)
    machine.run(FIRST_FRAMES)
    memories = []
    for count in COUNTS:
        assert machine.text()[19][1:15] == count
        memories.append(bytes(machine.memory))
        machine.run(NEXT_FRAMES)
    return memories


@pytest.fixture(scope="module")
def pictures(screens: list[bytes]) -> list[Picture]:
    return [png_picture(png(memory, 1)) for memory in screens]


def test_fuse_loads_the_tape_and_shows_what_skoolkit_shows(tap: Path, tmp_path: Path, pictures: list[Picture]) -> None:
    with Fuse(tmp_path, tap) as fuse:
        for picture in pictures:
            fuse.wait_picture(picture)
        fuse.hold(*BREAK)
        fuse.wait_text(23, OK)


def test_fuse_plays_the_tape_of_the_shipped_net(tmp_path: Path) -> None:
    model = ir.load(product_folder("models") / "mnist.npz")
    cassette = record(model, load("mnist"), tmp_path / "mnist")
    machine = Spectrum(cassette.tap, contention=True)
    machine.run(FIRST_FRAMES)
    with Fuse(tmp_path, cassette.tap) as fuse:
        fuse.wait_picture(png_picture(machine.png(1)))
        fuse.hold("d")
        fuse.wait_text(19, "nothing yet")
        fuse.hold(*BREAK)
        fuse.wait_text(23, OK)


def pictures_passed(fuse: Fuse, seconds: float, keys: tuple[str, ...]) -> int:
    """Return how many pictures the gallery of MANY goes on in a time with keys held."""
    first = shown(fuse)
    if keys:
        fuse.hold(*keys, seconds=seconds)
    else:
        time.sleep(seconds)
    return (shown(fuse) - first) % MANY


def shown(fuse: Fuse) -> int:
    """Return how many pictures the screen counts."""
    while not (count := re.match(r"[ \d]\d of ([ \d]\d) right", fuse.text()[19][1:])):
        pass
    return int(count[1])


def test_in_fuse_space_makes_the_gallery_faster(tmp_path: Path) -> None:
    tap = write_tape(tmp_path, [show(i % 10) for i in range(MANY)])
    with Fuse(tmp_path, tap) as fuse:
        fuse.wait_text(19, "  1 of  1 right")
        slow = pictures_passed(fuse, 3, ())
        fast = pictures_passed(fuse, 3, ("space",))
    assert 1 <= slow <= 5
    assert fast >= 3 * slow


@pytest.mark.parametrize("machine", ["128", "plus2"])
def test_a_128_loads_the_tape_from_its_menu(tap: Path, tmp_path: Path, machine: str, pictures: list[Picture]) -> None:
    with Fuse(tmp_path, tap, machine) as fuse:
        fuse.wait_picture(pictures[0])
        fuse.hold(*BREAK)
        fuse.wait_text(23, OK)


@pytest.mark.parametrize("machine", ["128", "plus2"])
def test_a_128_loads_what_lies_in_banks(tmp_path: Path, machine: str) -> None:
    model = ir.load(product_folder("models") / "frame.npz")
    cassette = record(model, load("mnist"), tmp_path / "frame", SPECTRUM_128K)
    assert len(cassette.plan.banks) > 1
    spectrum = Spectrum(cassette.tap, target=SPECTRUM_128K)
    spectrum.run(FIRST_FRAMES)
    with Fuse(tmp_path, cassette.tap, machine) as fuse:
        fuse.wait_picture(png_picture(spectrum.png(1)))
        fuse.hold("d")
        fuse.wait_text(19, "nothing yet")
        fuse.hold(*BREAK)
        fuse.wait_text(23, "0 OK, 60:1")


def test_a_48_says_that_it_has_no_banks(tmp_path: Path) -> None:
    cassette = record(ir.load(product_folder("models") / "frame.npz"), load("mnist"), tmp_path / "frame", SPECTRUM_128K)
    with Fuse(tmp_path, cassette.tap) as fuse:
        fuse.wait_text(0, NO_BANKS)


@pytest.mark.parametrize("machine", ["128", "plus2"])
def test_a_128_loads_the_tape_as_a_48(tap: Path, tmp_path: Path, machine: str, pictures: list[Picture]) -> None:
    with Fuse(tmp_path, tap, machine, auto_load=False) as fuse:
        fuse.wait(lambda: any("48 BASIC" in row for row in fuse.text()), "the menu", 60)
        for _ in range(3):  # to "48 BASIC", the menu's fourth line
            fuse.hold("Down")
        fuse.hold("Return")
        fuse.wait_text(23, "\x7f 1982")  # 0x7F is the Spectrum's copyright sign
        for keys in (("j",), ("Control_L", "p"), ("Control_L", "p"), ("Return",)):  # LOAD ""
            fuse.hold(*keys)
        fuse.wait_picture(pictures[0])
        fuse.hold(*BREAK)
        fuse.wait_text(23, OK)


def snapshot_bytes(tap: Path, kind: str) -> bytes:
    machine = Spectrum(tap)
    registers = {name: machine.register(name) for name in REGISTERS}
    write = {"sna": sna_bytes, "z80": z80_bytes}[kind]
    return write(machine.memory, registers, machine.border)


@pytest.mark.parametrize("kind", ["tzx", "wav", "sna", "z80"])
def test_fuse_takes_the_other_formats_too(tap: Path, tmp_path: Path, kind: str, pictures: list[Picture]) -> None:
    convert = {"tzx": tzx_bytes, "wav": wav_bytes}
    content = convert[kind](tap.read_bytes()) if kind in convert else snapshot_bytes(tap, kind)
    file = tmp_path / f"gallery.{kind}"
    file.write_bytes(content)
    with Fuse(tmp_path, file) as fuse:
        fuse.wait_picture(pictures[0])
        fuse.hold(*BREAK)
        fuse.wait_text(23, OK)


def test_zx_hears_the_tape_and_shows_what_skoolkit_shows(tap: Path, screens: list[bytes]) -> None:
    with zx.Spectrum(headless=True) as machine:
        machine.load_tape(str(tap))
        wanted = {read_text(memory)[19]: memory for memory in screens}
        for _ in screens:
            shown = zx_next_picture(machine)
            memory = wanted.pop(read_text(shown)[19])
            assert shown[PROGRAM_ADDR : PROGRAM_ADDR + 100] == memory[PROGRAM_ADDR : PROGRAM_ADDR + 100]
            assert read_text(shown) == read_text(memory)
            assert shown[0x4000:0x5B00] == memory[0x4000:0x5B00]
        machine.generate_key_strokes("CS+SPACE")
        machine.run(duration=0.5, fast_forward=True)
        assert read_text(machine.read(0, 0x10000))[23].startswith(OK)


def zx_next_picture(machine: zx.Spectrum) -> bytes:
    """Run until the count changes, and then until everything about the picture is drawn; return the memory."""
    before = read_text(machine.read(0, 0x10000))[19]
    for _ in range(200):
        machine.run(duration=0.02, fast_forward=True)
        after = read_text(machine.read(0, 0x10000))[19]
        if after != before and re.match(r" [ \d]\d of [ \d]\d right", after):
            machine.run(duration=0.1, fast_forward=True)
            return bytes(machine.read(0, 0x10000))
    pytest.fail("the gallery stands still in zx")
