"""The program with the fake net in the hands of a person, for its tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tests.fake_gallery import Show, picture, show
from zxml.player import Player

ZERO_OR_SIX = Show(0, 0, [9000, 100, 200, 1300, 400, 500, 8800, 700, 2800, 900])  # what is wide reads as
ONE = Show(1, 1, [900, 9000, 800, 1700, 2600, 500, 400, 4300, 1200, 1100], turns=4000)  # and what is narrow
SHOWS = [ZERO_OR_SIX, ONE, show(5, digit=6), show(7), show(3, digit=8), show(2), show(4), show(9, digit=4)]
SLOW_SHOWS = [replace(ZERO_OR_SIX, think=3), ONE, show(5, digit=6, think=3), show(7)]  # a second and a third, or quick
SECOND = 50  # frames
CHALLENGE_DIGITS = [each.label for each in SHOWS][::-1]
CANVAS = slice(0x5E00, 0x5E00 + 392)
QUESTION_MARK = 15  # as a digit
CYAN, WHITE, RED, YELLOW, BRIGHT = 5, 7, 2, 6, 64


class FakePlayer(Player):
    """A person at the machine, which plays the fake program."""

    def draw_one(self) -> None:
        self.enter("d")
        self.go_to((27, 6))
        self.until(lambda: self.pen()[1] == 46, "a SPACE")
        self.run(20)

    def draw_zero(self) -> None:
        self.enter("d")
        self.go_to((14, 8))
        for keys, frames in (("p", 60), ("a", 80), ("o", 60), ("q", 80)):
            self.run(frames, f"{keys} SPACE")
        self.run(20)

    def until_thinking(self, row: int = 5) -> None:
        self.until(lambda: "thinking" in self.text()[row])
        self.run(2)

    def attributes(self) -> NDArray[np.uint8]:
        return np.frombuffer(bytes(self.memory[0x5800:0x5B00]), np.uint8).reshape(24, 32)


def lamps(digit: int, colour: int) -> NDArray[np.uint8]:
    return np.asarray(colour * picture(digit)[5:23:3, 5:23:3])
