"""The tape as .tzx and .wav, the machine as .sna and .z80: read again by tools that know nothing of zxml."""

from __future__ import annotations

import wave
from collections.abc import Callable
from functools import reduce
from operator import xor
from pathlib import Path

import numpy as np
import pytest

from tests.emulators import BREAK_KEYS, Resumed, tzxtool
from tests.fake_gallery import PROGRAM_ADDR, show, write_tape
from zxml.errors import ZxmlError
from zxml.spectrum import Spectrum
from zxml.z80gen.blocks import split_tap
from zxml.z80gen.snapshot import REGISTERS, sna_bytes, z80_bytes
from zxml.z80gen.tape import tape_bytes
from zxml.z80gen.tzx import tzx_bytes
from zxml.z80gen.wav import SAMPLE_HZ, wav_bytes

Write = Callable[[bytes | bytearray, dict[str, int], int], bytes]
WRITERS = {"sna": sna_bytes, "z80": z80_bytes}
KINDS = pytest.mark.parametrize("kind", list(WRITERS))
FIRST_PICTURE_FRAMES = 20


def block(*values: int) -> bytes:
    """Return a flag and data with their parity."""
    return bytes([*values, reduce(xor, values)])


HEADER_BLOCK = block(0, 3, *b"code      ", 5, 0, 0, 128, 0, 128)
DATA_BLOCK = block(255, 0, 85, 170, 255, 1)


def tap_of(*blocks: bytes) -> bytes:
    return b"".join(len(block).to_bytes(2, "little") + block for block in blocks)


@pytest.fixture(scope="module")
def tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tape(tmp_path_factory.mktemp("tape"), [show(7), show(5, digit=6)])


def registers_of(machine: Spectrum) -> dict[str, int]:
    return {name: machine.register(name) for name in REGISTERS}


def snapshot_of(tap: Path, kind: str) -> Path:
    machine = Spectrum(tap)
    path = tap.with_name(f"gallery.{kind}")
    path.write_bytes(WRITERS[kind](machine.memory, registers_of(machine), machine.border))
    return path


def test_a_tzx_has_the_pauses_and_blocks_of_its_tape() -> None:
    assert tzx_bytes(tap_of(HEADER_BLOCK, DATA_BLOCK)) == (
        b"ZXTape!\x1a\x01\x14\x10\xe8\x03\x13\x00" + HEADER_BLOCK + b"\x10\xe8\x03\x07\x00" + DATA_BLOCK
    )


def test_tzxtools_reads_the_same_tape_in_the_tzx(tap: Path, tmp_path: Path) -> None:
    (tmp_path / "gallery.tzx").write_bytes(tzx_bytes(tap.read_bytes()))
    tzxtool("tzxtap", str(tmp_path / "gallery.tzx"), "--to", str(tmp_path / "again.tap"))
    assert (tmp_path / "again.tap").read_bytes() == tap.read_bytes()


def hear(tap: bytes, folder: Path) -> bytes:
    """Return the .tap file that tzxtools hears in the sound of a .tap file."""
    (folder / "tape.wav").write_bytes(wav_bytes(tap))
    tzxtool("tzxwav", str(folder / "tape.wav"), "--to", str(folder / "heard.tzx"))
    tzxtool("tzxtap", str(folder / "heard.tzx"), "--to", str(folder / "heard.tap"))
    return (folder / "heard.tap").read_bytes()


def test_tzxtools_hears_a_short_tape_in_the_wav(tmp_path: Path) -> None:
    tap = tap_of(HEADER_BLOCK, DATA_BLOCK)
    assert hear(tap, tmp_path) == tap


@pytest.mark.slow
def test_tzxtools_hears_the_same_tape_in_the_wav(tap: Path, tmp_path: Path) -> None:
    assert hear(tap.read_bytes(), tmp_path) == tap.read_bytes()


def test_a_wav_is_mono_of_8_bits_and_lasts_as_long_as_the_rom_would_take(tmp_path: Path) -> None:
    (tmp_path / "tape.wav").write_bytes(wav_bytes(tap_of(DATA_BLOCK)))
    with wave.open(str(tmp_path / "tape.wav")) as sound:
        assert (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) == (1, 1, SAMPLE_HZ)
        seconds = sound.getnframes() / SAMPLE_HZ
    ones = int(np.unpackbits(np.frombuffer(DATA_BLOCK, np.uint8)).sum())
    tstates = 3223 * 2168 + 667 + 735 + (8 * len(DATA_BLOCK) + ones) * 2 * 855
    assert seconds == pytest.approx(2 + tstates / 3_500_000, abs=1 / SAMPLE_HZ)


def test_no_edge_of_a_wav_is_more_than_half_a_sample_off() -> None:
    samples = np.frombuffer(wav_bytes(tap_of(DATA_BLOCK)), np.uint8)[44:]
    assert set(samples.tolist()) == {0x20, 0xE0}
    edges = np.flatnonzero(np.diff(samples)) + 1
    pilot = SAMPLE_HZ * (1 + np.arange(3224) * 2168 / 3_500_000)
    assert np.abs(edges[:3224] - pilot).max() <= 0.5


@pytest.mark.parametrize("convert", [tzx_bytes, wav_bytes])
def test_the_same_tape_gives_the_same_file(tap: Path, convert: Callable[[bytes], bytes]) -> None:
    assert convert(tap.read_bytes()) == convert(tap.read_bytes())


@pytest.mark.parametrize("convert", [split_tap, tzx_bytes, wav_bytes])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda tap: b"", "without a block"),
        (lambda tap: tap[:-1], "block 2 should have 7 bytes, at least 2, and has 6"),
        (lambda tap: tap + b"\x13", "block 3 should have 19 bytes, at least 2, and has 0"),
        (lambda tap: tap + b"\x00\x00", "block 3 should have 0 bytes"),
        (lambda tap: tap[:-3] + bytes([tap[-3] ^ 4]) + tap[-2:], "block 2 fails its parity by 4"),
    ],
)
def test_a_damaged_tape_is_refused(convert: Callable[[bytes], object], damage: Callable[[bytes], bytes], message: str) -> None:
    with pytest.raises(ZxmlError, match=message):
        convert(damage(tap_of(HEADER_BLOCK, DATA_BLOCK)))


def test_a_tape_splits_into_the_blocks_that_its_maker_wrote() -> None:
    flags = [block[0] for block in split_tap(tape_bytes("net", b"code", 0x6000, 0x6000, bytes(6912)))]
    assert flags == [0, 255] * 3


@KINDS
def test_skoolkit_reads_every_register_and_byte_of_a_snapshot(tap: Path, kind: str) -> None:
    machine, resumed = Spectrum(tap), Resumed(snapshot_of(tap, kind))
    assert resumed.registers() == registers_of(machine)
    assert resumed.snapshot.border == machine.border
    stack_addr = machine.register("SP")
    differing = {addr for addr in range(0x4000, 0x10000) if resumed.memory[addr] != machine.memory[addr]}
    assert differing <= ({stack_addr - 2, stack_addr - 1} if kind == "sna" else set())  # where a .sna keeps PC


@KINDS
def test_a_snapshot_keeps_values_that_are_all_different(tmp_path: Path, kind: str) -> None:
    values = {name: 0x11 * (i + 1) for i, name in enumerate(REGISTERS)} | {"R": 0xC3, "IM": 2, "IFF": 0, "SP": 0x8002}
    path = tmp_path / f"all.{kind}"
    path.write_bytes(WRITERS[kind](bytes(0x10000), values, 5))
    resumed = Resumed(path)
    assert resumed.registers() == values
    assert resumed.snapshot.border == 5


@KINDS
def test_a_snapshot_starts_the_gallery_and_break_returns_to_basic(tap: Path, kind: str) -> None:
    machine = Resumed(snapshot_of(tap, kind))
    assert machine.snapshot.pc == PROGRAM_ADDR
    machine.run(FIRST_PICTURE_FRAMES)
    assert machine.text()[19][1:15] == " 1 of  1 right"
    machine.run(10, BREAK_KEYS)
    machine.run(20)
    assert machine.text()[23].startswith("0 OK, 50:4")


@KINDS
def test_the_same_machine_gives_the_same_snapshot(tap: Path, kind: str) -> None:
    assert snapshot_of(tap, kind).read_bytes() == snapshot_of(tap, kind).read_bytes()


@KINDS
@pytest.mark.parametrize(
    ("nbytes", "change", "border", "message"),
    [
        (0xC000, {}, 0, "65536 bytes of memory, ROM included, got 49152"),
        (0x10000, {"IY": 0x10000}, 0, "IY must be 0 to 65535, got 65536"),
        (0x10000, {"IM": 3}, 0, "IM must be 0 to 2, got 3"),
        (0x10000, {"A": -1}, 0, "A must be 0 to 255, got -1"),
        (0x10000, {}, 8, "border must be 0 to 7, got 8"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(kind: str, nbytes: int, change: dict[str, int], border: int, message: str) -> None:
    registers = dict.fromkeys(REGISTERS, 0) | {"SP": 0x8000} | change
    with pytest.raises(ZxmlError, match=message):
        WRITERS[kind](bytes(nbytes), registers, border)


@KINDS
def test_a_missing_register_is_named(kind: str) -> None:
    with pytest.raises(ZxmlError, match=r"no value for \^HL, IX; give all of A, F"):
        WRITERS[kind](bytes(0x10000), {name: 0 for name in REGISTERS if name not in ("^HL", "IX")}, 0)


@pytest.mark.parametrize("sp", [0, 1, 0x4001])
def test_a_sna_whose_stack_is_not_in_ram_is_refused(sp: int) -> None:
    with pytest.raises(ZxmlError, match=f"SP is {sp}; use .z80"):
        sna_bytes(bytes(0x10000), dict.fromkeys(REGISTERS, 0) | {"SP": sp}, 0)
