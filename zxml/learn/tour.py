"""Somebody shows what the learning tape does, for a film."""

from __future__ import annotations

from zxml.learn.machine import Learner
from zxml.player import DIGITS

COUNT_LOOKS, COUNT_FRAMES = 14, 30
PASS_LOOKS, PASS_FRAMES = 12, 160
READ_LOOKS, READ_FRAMES = 4, 53
SCREEN_FRAMES = 40


def tour(machine: Learner) -> list[bytes]:
    """Show the menu, the lesson, reading, drawing and teaching; return the memory at each screen worth seeing."""
    memories: list[bytes] = []

    def look() -> None:
        memories.append(bytes(machine.memory))

    machine.run(SCREEN_FRAMES)
    look()
    machine.press("l")
    for looks, frames in ((COUNT_LOOKS, COUNT_FRAMES), (PASS_LOOKS, PASS_FRAMES)):
        for _ in range(looks):
            machine.run(frames)
            look()
    machine.press("r")
    for _ in range(READ_LOOKS):
        machine.run(READ_FRAMES)
        look()
    machine.press("d")
    machine.run(SCREEN_FRAMES)
    machine.draw(DIGITS[7], look)
    look()
    machine.press("k")
    machine.run(SCREEN_FRAMES)
    look()
    return memories
