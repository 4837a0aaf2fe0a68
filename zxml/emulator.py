"""Two independent Z80 processors that run an image: SkoolKit's C simulator and kosarev's z80.

Both run the image alone, from one address to another, and count T-states. `zxml.spectrum` is the whole machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Protocol

import skoolkit
import z80
from skoolkit.pagingtracer import Memory
from skoolkit.trace import Tracer

from zxml.errors import VerifyError, ZxmlError
from zxml.paged import BANK_ADDR, BANK_BITS, BANK_NBYTES, PAGING_LINES, ROM_48K, SeenMemory

FRAME_TSTATES = 69_888
INT_TSTATES = 32  # how long the video chip asks for an interrupt
RETURN_ADDR = 0x5B00  # where a called routine comes back to: the printer buffer, unused here
STACK_ADDR = 0x6000
IY = 0x5C3A  # as the ROM wants it
NO_C_SIMULATOR = (
    "SkoolKit's C simulator is missing, and without it a proof takes hours; install a C compiler, then "
    "`pip install --force-reinstall --no-binary skoolkit skoolkit`"
)
LIMIT_TSTATES = 1 << 29  # a routine that takes longer, two and a half minutes, has crashed


class Cpu(Protocol):
    """A processor with 64K of memory."""

    name: str
    version: str

    def write(self, addr: int, values: bytes) -> None:
        """Put bytes into memory."""

    def read(self, addr: int, nbytes: int) -> bytes:
        """Return bytes of memory."""

    def enter(self, addr: int, hl: int = 0) -> None:
        """Prepare to run a routine: its address, hl, a stack, and a return to RETURN_ADDR."""

    def run_to(self, addr: int) -> int:
        """Run until an address is reached and return the T-states that took; raise VerifyError if it never is."""

    def a(self) -> int:
        """Return register a."""

    def carry(self) -> bool:
        """Return the carry flag."""


def call(cpu: Cpu, addr: int, hl: int = 0) -> int:
    """Run a routine to its end and return its T-states, without a CALL and with its RET."""
    cpu.enter(addr, hl)
    return cpu.run_to(RETURN_ADDR)


def _lost(addr: int, pc: int) -> str:
    return f"the code never reached {addr:#06x}: after {LIMIT_TSTATES:,} T-states it was at {pc:#06x}"


class SkoolKitCpu:
    """SkoolKit's C simulator, on uncontended memory or with the delays of the video chip; interrupts if asked for.

    banks: what lies in the banks of a 128K, from 0xC000 on; None: the machine is a 48K.
    """

    name = "SkoolKit"
    version = version("skoolkit")

    def __init__(
        self,
        org: int,
        image: bytes,
        contended: bool = False,
        interrupts: bool = False,
        banks: Mapping[int, bytes] | None = None,
    ) -> None:
        kind = skoolkit.CCMIOSimulator if contended else skoolkit.CSimulator
        if kind is None:
            raise ZxmlError(NO_C_SIMULATOR)
        memory: Any = [0] * 0x10000 if banks is None else Memory(out7ffd=ROM_48K)
        if banks is None:
            memory[:0x4000] = skoolkit.read_bin_file(skoolkit.ROM48)
        state = {"iff": int(interrupts), "im": 1}
        self._interrupts = interrupts
        self._simulator = kind(memory, {"IY": IY}, state, {"frame_duration": FRAME_TSTATES, "int_active": INT_TSTATES})
        self._simulator.set_tracer(Tracer(self._simulator, 7, 0 if banks is None else ROM_48K, 0, [0] * 16, 0, False))
        self._memory = self._simulator.memory if banks is None else SeenMemory(self._simulator.memory)
        self.write(org, image)
        for bank, values in (banks or {}).items():
            self._simulator.memory.banks[bank][: len(values)] = values

    def write(self, addr: int, values: bytes) -> None:
        """Put bytes into memory."""
        self._memory[addr : addr + len(values)] = values

    def read(self, addr: int, nbytes: int) -> bytes:
        """Return bytes of memory."""
        return bytes(self._memory[addr : addr + nbytes])

    def enter(self, addr: int, hl: int = 0) -> None:
        """Prepare to run a routine."""
        registers = self._simulator.registers
        registers[6], registers[7] = divmod(hl, 256)
        registers[12] = STACK_ADDR - 2
        registers[24] = addr
        self.write(STACK_ADDR - 2, RETURN_ADDR.to_bytes(2, "little"))

    def run_to(self, addr: int) -> int:
        """Run until an address is reached and return the T-states that took."""
        simulator, registers = self._simulator, self._simulator.registers
        start = int(registers[25])
        simulator.trace(registers[24], addr, 0, start + LIMIT_TSTATES, self._interrupts, None, None, [0] * 8, None, None)
        if registers[24] != addr:
            raise VerifyError(_lost(addr, registers[24]))
        return int(registers[25]) - start

    def a(self) -> int:
        """Return register a."""
        return int(self._simulator.registers[0])

    def carry(self) -> bool:
        """Return the carry flag."""
        return bool(self._simulator.registers[1] & 1)

    def registers(self) -> dict[str, int]:
        """Return every register pair, for tests of what a routine changes."""
        r = self._simulator.registers
        pairs = {"af": 0, "bc": 2, "de": 4, "hl": 6, "ix": 8, "iy": 10, "af'": 16, "bc'": 18, "de'": 20, "hl'": 22}
        return {name: int(r[i]) * 256 + int(r[i + 1]) for name, i in pairs.items()} | {"sp": int(r[12])}


class KosarevCpu:
    """kosarev's z80, on uncontended memory, without interrupts.

    banks: what lies in the banks of a 128K, from 0xC000 on; None: the machine is a 48K.
    """

    name = "kosarev z80"
    version = version("z80")

    def __init__(self, org: int, image: bytes, banks: Mapping[int, bytes] | None = None) -> None:
        self._machine = z80.Z80Machine()
        self.write(org, image)
        if banks is not None:
            self._banks = {bank: values.ljust(BANK_NBYTES, b"\0") for bank, values in banks.items()}
            self._bank = 0
            self.write(BANK_ADDR, banks.get(0, b""))
            self._machine.set_output_callback(self._page)

    def _page(self, port: int, value: int) -> None:
        """Let memory from 0xC000 on take turns."""
        bank = value & BANK_BITS
        if port & PAGING_LINES or bank == self._bank:
            return
        self._banks[self._bank], self._bank = self.read(BANK_ADDR, BANK_NBYTES), bank
        self.write(BANK_ADDR, self._banks.get(bank, bytes(BANK_NBYTES)))

    def write(self, addr: int, values: bytes) -> None:
        """Put bytes into memory."""
        self._machine.set_memory_block(addr, values)

    def read(self, addr: int, nbytes: int) -> bytes:
        """Return bytes of memory."""
        return bytes(self._machine.memory[addr : addr + nbytes])

    def enter(self, addr: int, hl: int = 0) -> None:
        """Prepare to run a routine."""
        self.write(STACK_ADDR - 2, RETURN_ADDR.to_bytes(2, "little"))
        self._machine.sp, self._machine.pc, self._machine.hl = STACK_ADDR - 2, addr, hl

    def run_to(self, addr: int) -> int:
        """Run until an address is reached and return the T-states that took."""
        machine = self._machine
        machine.set_breakpoint(addr)
        machine.ticks_to_stop = LIMIT_TSTATES
        while machine.pc != addr and machine.ticks_to_stop > 0:
            if machine.run() & machine._TICKS_LIMIT_HIT:
                break
        machine.clear_breakpoint(addr)
        if machine.pc != addr:
            raise VerifyError(_lost(addr, machine.pc))
        return LIMIT_TSTATES - int(machine.ticks_to_stop)

    def a(self) -> int:
        """Return register a."""
        return int(self._machine.a)

    def carry(self) -> bool:
        """Return the carry flag."""
        return bool(self._machine.f & 1)
