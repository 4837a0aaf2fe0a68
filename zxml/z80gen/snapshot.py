"""Snapshots of a Spectrum, .sna and .z80: the machine as it is, for emulators that need not wait for a tape."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skoolkit.snapshot import Z80

from zxml.errors import ZxmlError

MEMORY_BYTES = 0x10000
RAM_ADDR = 0x4000
INTERRUPTS_ON = 4  # bit of a .sna file's interrupt byte
BYTE_REGISTERS = ("A", "F", "^A", "^F", "I", "R")
WORD_REGISTERS = ("BC", "DE", "HL", "^BC", "^DE", "^HL", "IX", "IY", "SP", "PC")
HIGHEST = dict.fromkeys(BYTE_REGISTERS, 0xFF) | dict.fromkeys(WORD_REGISTERS, 0xFFFF) | {"IM": 2, "IFF": 1}
REGISTERS = tuple(HIGHEST)  # what a snapshot must know; ^ marks the alternate ones, IFF is 1 while interrupts are on


@dataclass(frozen=True)
class Paged:
    """What a 128K has besides: its eight banks, 16,384 bytes each, and what its paging port was told."""

    banks: Sequence[bytes]
    paging: int


def sna_bytes(memory: bytes | bytearray, registers: Mapping[str, int], border: int, paged: Paged | None = None) -> bytes:
    """Return a .sna file of 64K of memory, REGISTERS and the border's colour; raise ZxmlError for what cannot be.

    The format keeps the PC of a 48K on the machine's stack, two bytes below SP.
    Source: Sinclair FAQ, "SNA format".
    """
    _check(memory, registers, border)
    if paged:
        seen = paged.paging % len(paged.banks)
        others = (bank for number, bank in enumerate(paged.banks) if number not in (5, 2, seen))
        more = struct.pack("<H2B", registers["PC"], paged.paging, 0)
        return _sna_header(registers, registers["SP"], border) + memory[RAM_ADDR:] + more + b"".join(others)
    at = registers
    stack_addr = at["SP"] - 2
    if not RAM_ADDR <= stack_addr < MEMORY_BYTES - 1:
        raise ZxmlError(f"snapshot: .sna keeps PC at SP - 2, in {RAM_ADDR} to 65534, and SP is {at['SP']}; use .z80")
    ram = bytearray(memory[RAM_ADDR:])
    struct.pack_into("<H", ram, stack_addr - RAM_ADDR, at["PC"])
    return _sna_header(at, stack_addr, border) + bytes(ram)


def _sna_header(at: Mapping[str, int], stack_addr: int, border: int) -> bytes:
    return (
        struct.pack("<B3H", at["I"], at["^HL"], at["^DE"], at["^BC"])
        + struct.pack("<2B", at["^F"], at["^A"])
        + struct.pack("<5H", at["HL"], at["DE"], at["BC"], at["IY"], at["IX"])
        + struct.pack("<4B", INTERRUPTS_ON * at["IFF"], at["R"], at["F"], at["A"])
        + struct.pack("<H2B", stack_addr, at["IM"], border)
    )


def z80_bytes(memory: bytes | bytearray, registers: Mapping[str, int], border: int, paged: Paged | None = None) -> bytes:
    """Return a .z80 file, version 3, of 64K of memory, REGISTERS and the border's colour; raise ZxmlError as sna_bytes does."""
    _check(memory, registers, border)
    snapshot = Z80(ram=[list(bank) for bank in paged.banks] if paged else list(memory[RAM_ADDR:]))
    pairs = [f"{name}={registers[name]}" for name in (*BYTE_REGISTERS, *WORD_REGISTERS)]
    state = [f"iff={registers['IFF']}", f"im={registers['IM']}", f"border={border}", "tstates=0"]
    state += [f"7ffd={paged.paging}"] if paged else []
    snapshot.set_registers_and_state(pairs, state)
    return bytes(snapshot.data())


def _check(memory: bytes | bytearray, registers: Mapping[str, int], border: int) -> None:
    if len(memory) != MEMORY_BYTES:
        raise ZxmlError(f"snapshot: a Spectrum has {MEMORY_BYTES} bytes of memory, ROM included, got {len(memory)}")
    if missing := [name for name in REGISTERS if name not in registers]:
        raise ZxmlError(f"snapshot: no value for {', '.join(missing)}; give all of {', '.join(REGISTERS)}")
    for name, value, highest in [("border", border, 7), *((name, registers[name], most) for name, most in HIGHEST.items())]:
        if not 0 <= value <= highest:
            raise ZxmlError(f"snapshot: {name} must be 0 to {highest}, got {value}")
