"""The drawing's way to a picture: the Z80 gives the bits of the reference on every canvas, and the net reads what comes out."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pasmo import pasmo_bytes
from zxml.data import load
from zxml.drawings import PENS, SCALED, draw, find_boxes, measure_drawings, thin
from zxml.emulator import STACK_ADDR, SkoolKitCpu, call
from zxml.files import product_folder
from zxml.ir import load as load_model
from zxml.normalise import CANVAS_SIDE, Bits, normalise
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.picture import pack_pictures

PROGRAM_PAGE = Path(__file__).parent.parent / "docs" / "program.md"

ORG = 0x8000
CANVAS_ADDR, PICTURE_ADDR = 0xA000, 0xB000
LOAD_DE_TSTATES = 10
SOURCE = (product_folder("asm") / "app/normalise.asm").read_text()
HEADER = dict(re.findall(r"^; ([A-Z][\w-]+) +(.*)$", SOURCE, re.MULTILINE))
LOWEST, BOUND = (int(number) for number in re.findall(r"\d+", HEADER["T-states"])[:2])


def write_source(folder: Path, gap: int) -> Path:
    """Write a program that loads de and runs into normalise, and a byte behind it: pyz80 leaves buffers at the end out."""
    main = folder / "main.asm"
    main.write_text(
        f"        org  {ORG}\n        defs {gap}\nstart:\n        ld   de, {PICTURE_ADDR}\n{SOURCE}        defb 1\n"
    )
    return main


@cache
def make(gap: int = 0) -> Assembly:
    with TemporaryDirectory() as folder:
        return assemble(write_source(Path(folder), gap))


class Machine:
    """A 48K with normalise in its memory."""

    def __init__(self, interrupts: bool = False, gap: int = 0):
        assembly = make(gap)
        self.symbols = assembly.symbols
        self.cpu = SkoolKitCpu(assembly.org, assembly.image, interrupts=interrupts)
        self.cpu.write(self.symbols["normalise_end"], bytes([0xFF] * 512))  # what the buffers hold does not matter

    def run(self, canvas: Bits) -> tuple[bytes, bool, int]:
        """Return the picture's bytes, whether carry is set, and the T-states."""
        self.cpu.write(CANVAS_ADDR, np.packbits(canvas).tobytes())
        self.cpu.write(PICTURE_ADDR - 1, bytes([0xAA] * 114))
        tstates = call(self.cpu, self.symbols["start"], CANVAS_ADDR) - LOAD_DE_TSTATES
        around = self.cpu.read(PICTURE_ADDR - 1, 114)
        assert around[0] == around[-1] == 0xAA
        assert self.cpu.read(CANVAS_ADDR, 392) == np.packbits(canvas).tobytes()
        return around[1:-1], bool(self.cpu.registers()["af"] & 1), tstates

    def check(self, canvas: Bits) -> int:
        """Compare with the reference and return the T-states."""
        picture, carry, tstates = self.run(canvas)
        expected = normalise(canvas)
        assert picture == pack_pictures(expected[None]).tobytes()
        assert carry == (not expected.any())
        return tstates


MACHINE = Machine()


def blank() -> Bits:
    return np.zeros((CANVAS_SIDE, CANVAS_SIDE), np.uint8)


def block(top: int, left: int, rows: int, cols: int) -> Bits:
    canvas = blank()
    canvas[top : top + rows, left : left + cols] = 1
    return canvas


def slow_canvas() -> Bits:
    """Return the canvas that takes longest of those tried: its box is the canvas, its centre far left, few bytes are blank."""
    canvas = block(0, 0, 56, 1) | block(0, 24, 56, 1) | block(0, 46, 56, 1) | block(40, 0, 16, 16)
    canvas[0, 55] = 1
    return canvas


def line(ends: tuple[int, int, int, int]) -> Bits:
    canvas = blank()
    steps = np.linspace(0, 1, 57)
    y, x = (np.rint(a + (b - a) * steps).astype(int) for a, b in ((ends[0], ends[1]), (ends[2], ends[3])))
    canvas[y, x] = 1
    return canvas


PLACE = st.integers(0, 55)
BOX = st.tuples(PLACE, PLACE, st.integers(1, 56), st.integers(1, 56))
LINE = st.tuples(PLACE, PLACE, PLACE, PLACE).map(line)
SHAPE = st.one_of(BOX.map(lambda box: block(*box)), LINE)


@st.composite
def noise(draw_: st.DrawFn) -> Bits:
    density = draw_(st.sampled_from([0.001, 0.01, 0.1, 0.5, 0.9, 1]))
    random = np.random.default_rng(draw_(st.integers(0, 2**32 - 1)))
    return (random.random((CANVAS_SIDE, CANVAS_SIDE)) < density).astype(np.uint8) & block(*draw_(BOX))


CANVASES = st.one_of(SHAPE, noise(), st.lists(SHAPE, max_size=5).map(lambda shapes: np.max([blank(), *shapes], axis=0)))


@cache
def drawings() -> Bits:
    """Return digits drawn at all sizes and in all ways."""
    pictures = load("mnist").validation_images
    ways = [(side, pen) for side in range(8, 57, 3) for pen in (1, 2, *PENS, SCALED)]
    return np.concatenate([draw(pictures[4 * i : 4 * i + 4], side, pen, i) for i, (side, pen) in enumerate(ways)])


@settings(max_examples=600, deadline=None)
@given(CANVASES)
def test_the_z80_gives_the_bits_of_the_reference_within_its_time(canvas: Bits) -> None:
    assert LOWEST <= MACHINE.check(canvas) <= BOUND


def test_the_z80_gives_the_bits_of_the_reference_on_digits_of_all_sizes() -> None:
    taken = [MACHINE.check(canvas) for canvas in drawings()]
    assert max(taken) <= 142_000
    assert np.mean(taken) <= 112_000


def test_single_cells_and_small_boxes_are_exact_everywhere() -> None:
    for i in range(56):
        for canvas in (block(i, i, 1, 1), block(55 - i, i, 2, 1), block(i, 20, 3, 40), block(0, 0, i + 1, 56 - i)):
            MACHINE.check(canvas)


@pytest.mark.parametrize("side", range(1, 57))
def test_boxes_of_every_side_are_exact(side: int) -> None:
    for rows, cols in ((side, side), (side, 1), (1, side), (side, side // 2 + 1)):
        for top, left in ((0, 0), (56 - rows, 56 - cols)):
            MACHINE.check(block(top, left, rows, cols))


@pytest.mark.parametrize("gap", range(17))
def test_the_buffers_may_lie_anywhere(gap: int) -> None:
    behind = make().symbols["normalise_slack"]
    machine = Machine(gap=(256 - behind) % 256 - 8 + gap)  # the line within a page, or moved to the next
    for canvas in (block(0, 0, 56, 56), *drawings()[::29]):
        machine.check(canvas)


def test_a_blank_canvas_gives_a_blank_picture_and_carry() -> None:
    assert MACHINE.run(blank()) == (bytes(112), True, LOWEST)


def test_specks_between_the_points_looked_at_give_carry_too() -> None:
    canvas = blank()
    canvas[[0, 10, 10, 20], [10, 0, 20, 10]] = 1
    assert MACHINE.run(canvas)[:2] == (bytes(112), True)


def test_the_header_states_the_bytes() -> None:
    code, buffers = (int(number) for number in re.findall(r"\d+", HEADER["Bytes"]))
    symbols = MACHINE.symbols
    assert symbols["normalise_end"] - symbols["normalise"] == code
    assert symbols["normalise_buffers_end"] - symbols["normalise_end"] == buffers


def test_the_header_states_the_longest_time() -> None:
    assert MACHINE.check(slow_canvas()) == int(re.findall(r"\d+", HEADER["T-states"])[2]) <= BOUND


def test_the_header_states_the_stack() -> None:
    machine = Machine()
    machine.cpu.write(STACK_ADDR - 34, bytes([0xAA] * 32))
    machine.run(slow_canvas())
    assert len(machine.cpu.read(STACK_ADDR - 34, 32).lstrip(b"\xaa")) == int(HEADER["Stack"].split()[0])


@pytest.mark.parametrize("interrupts", [False, True])
def test_the_header_names_every_register_that_changes(interrupts: bool) -> None:
    machine = Machine(interrupts)
    for canvas in (blank(), *drawings()[::9]):
        before = machine.cpu.registers()
        machine.check(canvas)
        after = machine.cpu.registers()
        assert {name for name in before if after[name] != before[name]} <= {*HEADER["Clobbers"].split(), "sp"}
        assert after["sp"] == STACK_ADDR


def test_the_reference_takes_many_canvases_or_one() -> None:
    canvases = drawings()[:9]
    assert (normalise(canvases) == np.stack([normalise(canvas) for canvas in canvases])).all()
    assert normalise(canvases[:0]).shape == (0, 28, 28)


def test_where_a_drawing_lies_changes_nothing() -> None:
    digit = block(9, 5, 30, 4) | block(9, 5, 4, 20)
    assert (normalise(digit) == normalise(np.roll(digit, (16, 30), (0, 1)))).all()


def test_the_longer_side_becomes_twenty_and_the_centre_of_mass_the_middle() -> None:
    pictures = normalise(draw(load("mnist").validation_images[:200], 40, 3, 1))
    _, extent = find_boxes(pictures)
    assert (extent.max(axis=0) == 20).all()
    mass = pictures.sum(axis=(1, 2))
    centres = np.stack([pictures.sum(axis=axis) @ np.arange(28) / mass for axis in (2, 1)])
    assert abs(centres.mean() - 14) < 0.1
    assert abs(centres - 14).max() < 1.5


def test_a_dot_stays_a_dot() -> None:
    assert find_boxes(normalise(block(30, 40, 3, 3))[None])[1].max() <= 6


def test_thinned_strokes_are_a_pixel_wide_and_whole() -> None:
    lines = thin(block(3, 4, 7, 30)[None])[0]
    assert lines.sum(axis=0).max() == 1
    assert (np.diff(lines.any(axis=0).nonzero()[0]) == 1).all()


@pytest.mark.parametrize("pen", [*PENS, SCALED])
def test_a_drawing_is_as_large_as_asked(pen: int) -> None:
    _, extent = find_boxes(draw(load("mnist").validation_images[:50], 33, pen, 2))
    assert abs(extent.max(axis=0) - 33).max() <= (pen == SCALED)


@pytest.mark.slow
def test_pasmo_makes_the_same_bytes(tmp_path: Path) -> None:
    assert pasmo_bytes(write_source(tmp_path, 0)) == make().image


@pytest.mark.slow
def test_docs_tell_how_many_drawn_test_digits_the_shipped_net_reads() -> None:
    model, data = load_model(product_folder("models") / "mnist.npz"), load("mnist")
    shares = measure_drawings(model, data.test_images, data.test_labels, (16, 24, 36, 52))
    lines = PROGRAM_PAGE.read_text(encoding="utf-8").splitlines()
    for pen, name in ((3, "a pen of 3 cells"), (4, "a pen of 4 cells"), (SCALED, "the picture scaled")):
        figures = " | ".join(f"{share:.1%}".replace("%", " %") for share in shares[pen])
        assert f"| {name} | {figures} |" in lines, f"{PROGRAM_PAGE}: {name}: {figures}"
