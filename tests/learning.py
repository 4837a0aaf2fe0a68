"""The learning tape in a Spectrum, for its tests: loaded once, then put back to where it was; and a cassette recorder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from numpy.typing import NDArray
from skoolkit.simutils import REGISTERS

from zxml import data
from zxml.learn.cost import CLOCK_HZ
from zxml.learn.machine import Learner
from zxml.learn.tape import LearningTape, record
from zxml.spectrum import _half_rows

SA_BYTES, LD_BYTES = 0x04C2, 0x0556
ENOUGH_FRAMES = 20  # for a key to be seen and a screen to be drawn
CARRY = 1
MIC, EAR, NO_KEY = 8, 64, 0xBF  # bits of port 0xFE


@cache
def made() -> LearningTape:
    """Return the tape, as `make learn` makes it."""
    return record(data.load("mnist"), Path(mkdtemp()))


class Pupil(Learner):
    """A Spectrum with the tape in it, in a user's hands."""

    def __init__(self) -> None:
        super().__init__(made())
        self.run(ENOUGH_FRAMES)

    def state(self) -> tuple[bytes, list[int], int]:
        """Return all that `restore` needs."""
        return bytes(self.memory), list(self._simulator.registers), self.border

    def restore(self, state: tuple[bytes, list[int], int]) -> None:
        """Go back to where the machine was."""
        memory, registers, border = state
        self.memory[:] = memory
        for i, value in enumerate(registers):
            self._simulator.registers[i] = value
        self._tracer.border = border

    def show(self, key: str) -> list[str]:
        """Press the key of a screen and return the screen's text."""
        self.press(key)
        self.run(ENOUGH_FRAMES)
        return self.text()

    def attributes(self) -> NDArray[np.uint8]:
        return np.frombuffer(bytes(self.memory[0x5800:0x5B00]), np.uint8).reshape(24, 32)

    # The tape routines of the ROM, done by hand.

    def press_to(self, key: str, addr: int) -> None:
        """Hold a key until the program comes to an address."""
        self._tracer.keyboard = _half_rows(key)
        self._go_to(addr, ENOUGH_FRAMES)

    def saved_block(self) -> tuple[int, bytes]:
        """Run until the ROM is asked to save a block; return its flag and bytes, and go on as if it was saved."""
        if self.register("PC") != SA_BYTES:
            self.run_to(SA_BYTES)
        start, nbytes, flag = self.register("IX"), self.register("DE"), self.register("A")
        block = bytes(self.memory[start : start + nbytes])
        self._return(carry=True)
        return flag, block

    def load_block(self, flag: int, block: bytes, good: bool = True) -> bool:
        """Run until the ROM is asked to load a block; play one, damaged if not good. Return whether it was the one wanted."""
        if self.register("PC") != LD_BYTES:
            self.run_to(LD_BYTES)
        assert self.register("F") & CARRY, "LD-BYTES was asked to verify"
        start, nbytes, wanted = self.register("IX"), self.register("DE"), self.register("A")
        if flag == wanted:
            part = block[:nbytes] if good else block[: nbytes // 2]
            self.memory[start : start + len(part)] = part
        fits = flag == wanted and len(block) == nbytes and good
        self._return(carry=fits)
        return fits

    def _return(self, carry: bool) -> None:
        """Return from a routine of the ROM's with a carry or without."""
        registers, stack = self._simulator.registers, self.register("SP")
        registers[REGISTERS["PC"]] = self.word(stack)
        registers[REGISTERS["SP"]] = stack + 2
        registers[REGISTERS["F"]] = registers[REGISTERS["F"]] & 0xFE | carry


@cache
def loaded() -> tuple[Pupil, tuple[bytes, list[int], int]]:
    pupil = Pupil()
    return pupil, pupil.state()


@cache
def counted() -> tuple[bytes, list[int], int]:
    """Return the state of a machine that has just counted."""
    pupil, state = loaded()
    pupil.restore(state)
    pupil.run(2, "l")
    pupil.run_to("lesson_counted")
    return pupil.state()


def after_counting() -> Pupil:
    """Return a machine that has counted and looked at a few pictures more, at its menu."""
    pupil, _ = loaded()
    pupil.restore(counted())
    pupil.run(50)
    pupil.show("m")
    return pupil


class Cassette:
    """A recorder at a machine's sockets: every edge that the ROM writes to port 0xFE, and the same edges to its EAR again."""

    def __init__(self, pupil: Pupil) -> None:
        self._pupil, self._edges = pupil, list[int]()  # T-states at which the level changes, from 0
        self._tracer = pupil._tracer
        self._ports = self._tracer.write_port, self._tracer.read_port

    @property
    def seconds(self) -> float:
        """How long the recording is, from its first edge to its last."""
        return (self._edges[-1] - self._edges[0]) / CLOCK_HZ

    @contextmanager
    def record(self) -> Iterator[None]:
        """Record while the machine runs."""
        level = 0

        def write_port(registers: list[int], port: int, value: int, offset: int) -> None:
            nonlocal level
            self._ports[0](registers, port, value, offset)
            if port % 2 == 0 and level != value & MIC:
                level = value & MIC
                self._edges.append(registers[REGISTERS["T"]] + offset)

        with self._plugged("write_port", write_port):
            yield

    @contextmanager
    def play(self) -> Iterator[None]:
        """Play while the machine runs, beginning a second from now."""
        late = self._pupil.tstates + CLOCK_HZ - self._edges[0]
        edges, passed = [edge + late for edge in self._edges] + [1 << 62], 0

        def read_port(registers: list[int], port: int) -> int:
            nonlocal passed
            while registers[REGISTERS["T"]] >= edges[passed]:
                passed += 1
            return NO_KEY | EAR * (passed % 2)

        with self._plugged("read_port", read_port):
            yield

    @contextmanager
    def _plugged(self, port: str, what: object) -> Iterator[None]:
        setattr(self._tracer, port, what)
        self._pupil._simulator.set_tracer(self._tracer)
        yield
        self._tracer.write_port, self._tracer.read_port = self._ports
        self._pupil._simulator.set_tracer(self._tracer)
