"""Other people's emulators and tools as the tests use them: Fuse on a display of its own, SkoolKit's snapshots, tzxtools."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import pytest
import skoolkit
from numpy.typing import NDArray
from skoolkit import CSimulator
from skoolkit.simutils import PC, from_snapshot
from skoolkit.snapshot import Snapshot
from skoolkit.trace import Tracer

from zxml.spectrum import FRAME_TSTATES, read_text
from zxml.z80gen.snapshot import REGISTERS

Picture = NDArray[np.int16]  # (192, 256, 3), red green blue

DEBIAN_PACKAGES = "fuse-emulator-sdl xvfb xdotool imagemagick"
DISPLAY_SIZE = (800, 600)
SCREEN_X, SCREEN_Y, SCALE = 64, 48, 2  # where Fuse draws the Spectrum's screen, and each of its pixels
WIDTH, HEIGHT = 256, 192
SHADE = 40  # of 255: emulators disagree by less on a colour, and its two brightnesses differ by more
HOLD_SECONDS = 0.2
START_SECONDS = 20
STARTS, READY_SECONDS = 4, 1.5  # how often Fuse is started at most, and how long it lives if it lives
LIFE_SECONDS = 240  # Fuse is ended then, whatever happens
NO_KEYS = (0,) * 8
BREAK_KEYS = (1, 0, 0, 0, 0, 0, 0, 1)  # CAPS SHIFT and SPACE, in their half-rows


def need(program: str) -> str:
    """Return where a program lies, or fail."""
    found = shutil.which(program)
    if found is None:
        pytest.fail(f"{program} is missing; on Debian: apt install {DEBIAN_PACKAGES}")
    return found


def tzxtool(name: str, *arguments: str) -> None:
    """Run a command of tzxtools, or fail."""
    command = Path(sys.executable).with_name(name)
    if not command.is_file():
        pytest.fail(f"{command} is missing; pip install tzxtools")
    subprocess.run([command, *arguments], check=True, stdin=subprocess.DEVNULL)


class Resumed:
    """A 48K Spectrum that SkoolKit has loaded from a snapshot file."""

    def __init__(self, path: Path) -> None:
        if CSimulator is None:
            pytest.fail("SkoolKit's C simulator is missing; install a C compiler and build SkoolKit from source")
        self.snapshot = Snapshot.get(str(path))
        if self.snapshot.type == "SNA":
            self.snapshot.sp += 2  # a .sna is entered by RETN, which takes PC off the stack; SkoolKit's trace.py does so too
        self._simulator = from_snapshot(CSimulator, self.snapshot)
        self._tracer = Tracer(self._simulator, self.snapshot.border, 0, 0, [0] * 16, 0, False)
        self._simulator.set_tracer(self._tracer)

    def run(self, frames: int, keys: Sequence[int] = NO_KEYS) -> None:
        """Run for frames with the keys of eight half-rows down."""
        self._tracer.keyboard = list(keys)
        pc, tstates = self._simulator.registers[PC], frames * FRAME_TSTATES
        with contextlib.redirect_stdout(io.StringIO()):
            self._tracer.run(pc, None, 0, tstates, True, None, None, None, None, "$", "02X", "04X")

    def registers(self) -> dict[str, int]:
        """Return the registers as the snapshot had them."""
        pairs = ("A", "F", "BC", "DE", "HL")
        names = {f"^{pair}": f"{pair.lower()}2" for pair in pairs} | {"IFF": "iff1"}
        return {name: getattr(self.snapshot, names.get(name, name.lower())) for name in REGISTERS}

    def text(self) -> list[str]:
        """Return the screen's 24 rows of text."""
        return read_text(self._simulator.memory)

    @property
    def memory(self) -> bytes:
        """The 65,536 bytes of memory."""
        return bytes(self._simulator.memory)


class Fuse:
    """The Fuse emulator with a file to load, on a display that nobody sees; its ROMs are those that SkoolKit brings."""

    def __init__(self, home: Path, file: Path, machine: str = "48", auto_load: bool = True) -> None:
        for program in ("Xvfb", "fuse", "xdotool", "import", "convert", "timeout"):
            need(program)
        _give_roms(home)
        self._home = home
        self._display, self._environment = self._start_display()
        load = "--auto-load" if auto_load else "--no-auto-load"
        options = ["--no-sound", "--machine", machine, "--graphics-filter", "2x", load]
        command = ["timeout", "-k", "2", str(LIFE_SECONDS), "fuse", *options, str(file)]
        self._fuse = self._start_living(command, self._environment)

    def __enter__(self) -> Fuse:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in (self._fuse, self._display):
            process.terminate()
            process.wait(START_SECONDS)

    def picture(self) -> Picture:
        """Return the Spectrum's screen as it is now."""
        width, height = DISPLAY_SIZE
        grab = self._ask("import", "-window", "root", "-depth", "8", "rgb:-")
        root = np.frombuffer(grab, np.uint8).reshape(height, width, 3).astype(np.int16)
        screen = root[SCREEN_Y : SCREEN_Y + SCALE * HEIGHT, SCREEN_X : SCREEN_X + SCALE * WIDTH]
        return screen[::SCALE, ::SCALE]

    def text(self) -> list[str]:
        """Return the screen's 24 rows of text, read from its pixels."""
        return picture_text(self.picture())

    def hold(self, *keys: str, seconds: float = HOLD_SECONDS) -> None:
        """Hold keys of the PC's keyboard for a time: Shift_L is CAPS SHIFT, Control_L SYMBOL SHIFT."""
        for key in keys:
            self._ask("xdotool", "keydown", key)
        time.sleep(seconds)
        for key in reversed(keys):
            self._ask("xdotool", "keyup", key)
        time.sleep(HOLD_SECONDS)

    def wait_text(self, row: int, start: str, seconds: float = 60) -> None:
        """Wait until a row of the screen begins with a text, or fail and tell what the screen says."""
        self.wait(lambda: self.text()[row].startswith(start), f"{start!r} in row {row}", seconds)

    def wait_picture(self, wanted: Picture, seconds: float = 60) -> None:
        """Wait until at least 99 % of the pixels are as wanted, or fail and tell what the screen says."""
        self.wait(lambda: equal_share(self.picture(), wanted) >= 0.99, "the picture", seconds)

    def wait(self, happens: Callable[[], bool], what: str, seconds: float) -> None:
        """Wait until something happens, or fail and tell what the screen says."""
        end = time.monotonic() + seconds
        while not happens():
            if self._fuse.poll() is not None:
                pytest.fail(f"Fuse ended by itself with {self._fuse.returncode}; was waiting for {what}")
            if time.monotonic() > end:
                pytest.fail("\n".join([f"Fuse never showed {what}; it shows", *self.text()]))

    def _start_display(self) -> tuple[subprocess.Popen[bytes], dict[str, str]]:
        """Start a display and return it with the environment of programs that use it."""
        size = "x".join(map(str, (*DISPLAY_SIZE, 24)))
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-nolisten", "tcp", "-screen", "0", size]
        display = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        added = {"DISPLAY": f":{number}", "HOME": str(self._home), "SDL_AUDIODRIVER": "dummy"}
        return display, {**os.environ, **added}

    @staticmethod
    def _start_living(command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Start Fuse; on a busy machine it may end at once, when its display is not ready, and is started again."""
        for _ in range(STARTS):
            fuse = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                fuse.wait(READY_SECONDS)
            except subprocess.TimeoutExpired:
                return fuse
        pytest.fail(f"Fuse ended by itself {STARTS} times with {fuse.returncode}")

    def _ask(self, *command: str) -> bytes:
        asked = subprocess.run(command, env=self._environment, check=True, capture_output=True, timeout=START_SECONDS)
        return asked.stdout


def _give_roms(home: Path) -> None:
    """Put SkoolKit's ROMs where Fuse looks first: with its own options for ROM files it would not type LOAD ""."""
    folder = home / ".spectrum-roms"
    folder.mkdir(exist_ok=True)
    for rom in (skoolkit.ROM48, *skoolkit.ROM128, *skoolkit.ROM_PLUS2):
        shutil.copy(rom, folder)


def png_picture(png: bytes) -> Picture:
    """Return the pixels of a PNG of 256 x 192."""
    decoded = subprocess.run([need("convert"), "png:-", "-depth", "8", "rgb:-"], input=png, check=True, capture_output=True)
    return np.frombuffer(decoded.stdout, np.uint8).reshape(HEIGHT, WIDTH, 3).astype(np.int16)


def equal_share(left: Picture, right: Picture) -> float:
    """Return the share of pixels that have the same colour, but for its shade."""
    return float((np.abs(left - right).max(axis=2) < SHADE).mean())


def picture_text(picture: Picture) -> list[str]:
    """Return the 24 rows of text of a picture; a cell's first pixel is taken as its paper."""
    cells = picture.reshape(24, 8, 32, 8, 3).transpose(0, 2, 1, 3, 4)  # (row, column, line, pixel, colour)
    ink = (cells != cells[:, :, :1, :1]).any(axis=4)
    lines = np.packbits(ink, axis=3)[..., 0]  # (row, column, line)
    screen = lines.reshape(3, 8, 32, 8).transpose(0, 3, 1, 2).tobytes()
    return read_text((Path(skoolkit.ROM48).read_bytes() + screen).ljust(0x10000, b"\0"))
