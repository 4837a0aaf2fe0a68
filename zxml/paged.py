"""The paged memory of a 128K Spectrum in SkoolKit's simulators, as the processor sees it."""

from __future__ import annotations

from typing import Any

from skoolkit.pagingtracer import Memory

BANK_NBYTES = 0x4000
BANK_ADDR = 0xC000  # where banks are seen in turn
ROM_48K = 16  # bit of what the paging port was told: the ROM of 48 BASIC is seen
BANK_BITS, PAGING_LINES = 7, 0x8002  # bits of that; address lines that are low where that port is meant


class SeenMemory:
    """The 65,536 bytes that the processor of SkoolKit's 128K sees now, but always with the ROM of 48 BASIC."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __len__(self) -> int:
        return 0x10000

    def __bytes__(self) -> bytes:
        return b"".join(self._part(start) for start in range(0, len(self), BANK_NBYTES))

    def __getitem__(self, where: int | slice) -> Any:
        if isinstance(where, int):
            return self._part(where)[where % BANK_NBYTES]
        return bytearray(bytes(self))[where]

    def __setitem__(self, where: int | slice, values: Any) -> None:
        if isinstance(where, int):
            self._part(where)[where % BANK_NBYTES] = values
            return
        for addr, value in zip(range(*where.indices(len(self))), values, strict=True):
            self._part(addr)[addr % BANK_NBYTES] = value

    def _part(self, addr: int) -> bytearray:
        part: bytearray = self._memory.memory[addr // BANK_NBYTES] if addr >= BANK_NBYTES else self._memory.roms[1]
        return part
