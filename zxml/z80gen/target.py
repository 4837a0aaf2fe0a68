"""The machines that the code runs on: their memory and their clock."""

from __future__ import annotations

from dataclasses import dataclass, replace

BANK_ADDR, BANK_END_ADDR = 0xC000, 0xFFFF  # where a bank is seen, and one past the last byte of it that is used


@dataclass(frozen=True)
class Target:
    """One machine.

    program_addr: first byte of the image, above BASIC and its stack; fast_addr: first byte of RAM that the video chip never
    holds up; end_addr: one past the last byte that is used; frame_tstates: T-states of one TV frame; clock_hz: their rate.
    banks: those that take turns from BANK_ADDR on, the one that is there otherwise first; memory below is always there.
    """

    name: str
    program_addr: int
    fast_addr: int
    end_addr: int
    frame_tstates: int
    clock_hz: int
    banks: tuple[int, ...] = ()

    @property
    def flat(self) -> Target:
        """The same machine with the same bank there all the time."""
        return replace(self, end_addr=BANK_END_ADDR, banks=())


# The last byte of RAM stays unused: an end of 0x10000 reads as 0 in assemblers and loaders.
SPECTRUM_48K = Target("48K Spectrum", 0x6000, 0x8000, 0xFFFF, 69_888, 3_500_000)
# The banks that the video chip of a 128K or a +2 never holds up, less bank 2, which is at 0x8000.
SPECTRUM_128K = Target("128K Spectrum", 0x6000, 0x8000, BANK_ADDR, 70_908, 3_546_900, (0, 4, 6))
TARGETS = {"48K": SPECTRUM_48K, "128K": SPECTRUM_128K}  # as a spec, and the command line, names them
