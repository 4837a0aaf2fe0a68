"""The program on a 128K Spectrum, in that machine's own BASIC, which keeps code where a 48K has its printer buffer."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from skoolkit import ROM48, CSimulator, tap2sna
from skoolkit.simutils import PC, from_snapshot
from skoolkit.snapshot import Snapshot
from skoolkit.trace import Tracer

from tests.fake_gallery import PROGRAM_ADDR, show, write_tape
from zxml.spectrum import read_text

KEY_BITS = {"d": (1, 4), "p": (5, 1), "a": (1, 1), "CS": (0, 1), "SPACE": (7, 1)}  # half row and bit
ROM_CODE = slice(0x5B00, 0x5B58)  # what switches the ROMs
ROM_1 = 16  # what BASIC wrote to port 0x7FFD


class Spectrum128:
    """A 128K Spectrum that has loaded a tape from its menu."""

    def __init__(self, tap: Path):
        snapshot = tap.with_suffix(".szx")
        with contextlib.redirect_stdout(io.StringIO()):
            tap2sna.main(["-c", "machine=128", "--start", str(PROGRAM_ADDR), str(tap), str(snapshot)])
        loaded = Snapshot.get(str(snapshot))
        self._simulator: Any = from_snapshot(CSimulator, loaded)
        self.tracer = Tracer(self._simulator, 0, loaded.out7ffd, 0, [0] * 16, 0, False)
        self._simulator.set_tracer(self.tracer)

    def run(self, frames: int, keys: str = "") -> None:
        self.tracer.keyboard = rows = [0] * 8
        for key in keys.split():
            row, bit = KEY_BITS[key]
            rows[row] |= bit
        tstates = frames * self._simulator.frame_duration
        with contextlib.redirect_stdout(io.StringIO()):
            pc = self._simulator.registers[PC]
            self.tracer.run(pc, None, 0, tstates, True, None, None, None, None, "$", "02X", "04X")

    def memory(self) -> bytes:
        """Return 65,536 bytes as the processor sees them, with the 48K ROM's font."""
        return Path(ROM48).read_bytes() + bytes(self._simulator.memory[addr] for addr in range(0x4000, 0x10000))


@pytest.fixture
def machine(tmp_path: Path) -> Spectrum128:
    return Spectrum128(write_tape(tmp_path, [show(7), show(5, digit=6)]))


def test_the_program_runs_draws_and_returns_to_128_basic(machine: Spectrum128) -> None:
    before = machine.memory()[ROM_CODE]
    machine.run(20)
    assert read_text(machine.memory())[19][1:15] == " 1 of  1 right"
    machine.run(4, "d")
    machine.run(20)
    machine.run(40, "p a SPACE")
    machine.run(10)
    assert read_text(machine.memory())[19].startswith("not sure: 7 or 8")
    assert machine.tracer.out7ffd == ROM_1
    machine.run(12, "CS SPACE")
    machine.run(60)
    assert read_text(machine.memory())[23].startswith("0 OK")
    assert machine.memory()[ROM_CODE] == before
