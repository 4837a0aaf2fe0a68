"""A whole Spectrum with its ROM, in SkoolKit's simulator: loads a tape as a person would, then runs frame by frame."""

from __future__ import annotations

import contextlib
import io
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from skoolkit import CCMIOSimulator, CSimulator, SkoolKitError, tap2sna
from skoolkit.graphics import Frame, scr_udgs
from skoolkit.image import ImageWriter
from skoolkit.kbtracer import KEY_BITS
from skoolkit.simutils import IFF, IM, PC, REGISTERS, T, from_snapshot
from skoolkit.snapshot import Snapshot
from skoolkit.trace import Tracer

from zxml.errors import ZxmlError
from zxml.paged import SeenMemory
from zxml.z80gen.target import SPECTRUM_48K, Target

FRAME_TSTATES = SPECTRUM_48K.frame_tstates
LOAD_SECONDS = 600  # of the Spectrum's own time; a tape that fills 48K plays for about 300, one with three banks for 450
PRESS_FRAMES = 4  # a key is down and then up this long: the ROM looks once a frame
SCREEN_ADDR = 0x4000
FONT_ADDR = 0x3D00
ROWS, COLUMNS = 24, 32


class Spectrum:
    """A 48K or 128K Spectrum that has just loaded a tape, and is about to run the code at `start`.

    `memory` is its live 65,536 bytes, ROM first; those of a 128K, which loads from its menu, are what its processor sees.
    With contention=True the video chip holds the processor up in memory below 0x8000, as on the real machine, once the tape
    has loaded; with edges=True the ROM reads the tape pulse by pulse.
    """

    memory: Any  # bytearray, or SeenMemory, which can do as much of what that can as is needed

    def __init__(
        self,
        tap: Path,
        *,
        start: int = SPECTRUM_48K.program_addr,
        contention: bool = False,
        edges: bool = False,
        target: Target = SPECTRUM_48K,
    ) -> None:
        """Type LOAD "", or press ENTER in a menu, and play the tape.

        Raises ZxmlError if the simulator will not do or `start` is never called.
        """
        simulator_class = CCMIOSimulator if contention else CSimulator
        if simulator_class is None:
            raise ZxmlError(
                "SkoolKit: its C simulator was not built, and without it a Spectrum is too slow; "
                "install a C compiler, then: pip install --force-reinstall --no-binary skoolkit skoolkit"
            )
        loaded = _load(tap, start, edges, target)
        self.target = target
        self._simulator = from_snapshot(simulator_class, loaded)
        self._tracer = Tracer(self._simulator, loaded.border, loaded.out7ffd or 0, 0, [0] * 16, 0, False)
        self._simulator.set_tracer(self._tracer)
        self.memory = SeenMemory(self._simulator.memory) if target.banks else self._simulator.memory

    def run(self, frames: int, keys: str = "") -> None:
        """Run for the machine's frames with keys held, for example "CS SPACE"; CS and SS are the two shifts."""
        self._tracer.keyboard = _half_rows(keys)
        with contextlib.redirect_stdout(io.StringIO()):
            pc, tstates = self._simulator.registers[PC], frames * self.target.frame_tstates
            self._tracer.run(pc, None, 0, tstates, True, None, None, None, None, "$", "02X", "04X")

    def press(self, *keys: str) -> None:
        """Press and release keys one after another."""
        for key in keys:
            self.run(PRESS_FRAMES, key)
            self.run(PRESS_FRAMES)

    @property
    def tstates(self) -> int:
        """T-states since the start of a frame a while ago."""
        return int(self._simulator.registers[T])

    @property
    def border(self) -> int:
        """The border's colour, 0..7."""
        return int(self._tracer.border)

    @property
    def paging(self) -> int:
        """What the paging port of a 128K was told last."""
        return int(self._tracer.out7ffd)

    def bank(self, number: int) -> bytes:
        """Return the 16,384 bytes of a bank of a 128K, whether it is seen or not."""
        return bytes(self._simulator.memory.banks[number])

    def register(self, name: str) -> int:
        """Return a register or pair: A, BC, IY, SP, PC, IM, IFF; ^HL is the alternate one."""
        registers = self._simulator.registers
        single = REGISTERS | {"IM": IM, "IFF": IFF}
        if name in single:
            return int(registers[single[name]])
        high = REGISTERS[f"{name}h"] if name in ("IX", "IY") else REGISTERS[name[:-1]]
        return int(registers[high] * 256 + registers[high + 1])

    def word(self, addr: int) -> int:
        """Return a little-endian word of memory."""
        return int(self.memory[addr] + 256 * self.memory[addr + 1])

    def text(self) -> list[str]:
        """Return the screen's 24 rows of text."""
        return read_text(bytes(self.memory))

    def has_report_ok(self) -> bool:
        """Tell whether BASIC has finished with its report 0 OK."""
        return self.text()[-1].startswith("0 OK")

    def png(self, scale: int = 2) -> bytes:
        """Return a picture of the screen."""
        return png(bytes(self.memory), scale)


def read_text(memory: bytes | bytearray) -> list[str]:
    """Return the 24 rows of text that a memory's screen shows in the ROM's letters; other cells read as a question mark."""
    letters = _letters(bytes(memory[FONT_ADDR:SCREEN_ADDR]))
    return ["".join(letters.get(_cell(memory, row, column), "?") for column in range(COLUMNS)) for row in range(ROWS)]


def png(memory: bytes | bytearray, scale: int = 2) -> bytes:
    """Return a PNG of the screen in a memory of 65,536 bytes."""
    image = io.BytesIO()
    ImageWriter().write_image([Frame(scr_udgs(memory, 0, 0, COLUMNS, ROWS), scale)], image)
    return image.getvalue()


def _load(tap: Path, start: int, edges: bool, target: Target) -> Any:
    """Return SkoolKit's snapshot of a Spectrum that has come to `start`."""
    typed = {"machine": "128", "load": "ENTER"} if target.banks else {"load": 'LOAD ""'}
    settings = {**typed, "timeout": LOAD_SECONDS, "fast-load": int(not edges)}
    options = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
        snapshot = Path(scratch, "loaded.szx")
        try:
            tap2sna.main([*options, "--start", str(start), str(tap), str(snapshot)])
            loaded = Snapshot.get(str(snapshot))
        except (SkoolKitError, OSError) as error:
            raise ZxmlError(f"{tap}: no tape that a Spectrum can load ({error}); make it anew") from error
    if loaded.pc != start:
        raise ZxmlError(f"{tap}: the tape was played, but nothing called {start}; make it anew")
    return loaded


def _half_rows(keys: str) -> list[int]:
    rows = [0] * 8
    for key in keys.split():
        if key not in KEY_BITS:
            raise ZxmlError(f"key {key!r}: a Spectrum has no such key; use {' '.join(KEY_BITS)}")
        address, bits = KEY_BITS[key]
        rows[(address >> 8).bit_length() - 1] |= bits ^ 0xFF
    return rows


@cache
def _letters(font: bytes) -> dict[bytes, str]:
    letters = {}
    for index in range(0, len(font), 8):
        shape = font[index : index + 8]
        letters[bytes(byte ^ 0xFF for byte in shape)] = chr(32 + index // 8)
        letters[shape] = chr(32 + index // 8)
    return letters


def _cell(memory: bytes | bytearray, row: int, column: int) -> bytes:
    first = SCREEN_ADDR + (row // 8) * 0x800 + (row % 8) * COLUMNS + column
    return bytes(memory[first : first + 0x800 : 0x100])
