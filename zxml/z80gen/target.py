"""The machines that the code runs on: their memory and their clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One machine.

    program_addr: first byte of the image, above BASIC and its stack; fast_addr: first byte of RAM that the video chip never
    holds up; end_addr: one past the last byte that is used; frame_tstates: T-states of one TV frame; clock_hz: their rate.
    """

    name: str
    program_addr: int
    fast_addr: int
    end_addr: int
    frame_tstates: int
    clock_hz: int


# The last byte of RAM stays unused: an end of 0x10000 reads as 0 in assemblers and loaders.
SPECTRUM_48K = Target("48K Spectrum", 0x6000, 0x8000, 0xFFFF, 69_888, 3_500_000)
