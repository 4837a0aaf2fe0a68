"""A person at the machine: loads the tape, presses keys, draws; for the film in the README and for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zxml.errors import VerifyError
from zxml.spectrum import Spectrum
from zxml.z80gen.target import SPECTRUM_48K, Target

Point = tuple[int, int]  # a column and a row of the canvas, 0 to 55
Strokes = Sequence[Sequence[Point]]

CANVAS_SIDE = 56
ENTER_FRAMES = 12  # a key pressed, another screen drawn
SETTLE_FRAMES = 20  # the last reading of a drawing
THINK_FRAMES = 1000  # the longest that a net may think
UNKNOWN = 15  # the second digit that the program shows where a net in haste gives no answer
DIGITS: dict[int, Strokes] = {  # how this person writes
    1: [[(28, 6), (28, 48)]],
    2: [[(16, 18), (22, 10), (34, 10), (40, 18), (40, 22), (16, 46), (42, 46)]],
    3: [[(16, 10), (40, 10), (28, 24), (36, 24), (41, 30), (41, 38), (34, 46), (16, 46)]],
    4: [[(30, 6), (14, 32), (44, 32)], [(34, 18), (34, 50)]],
    7: [[(14, 10), (42, 10), (24, 48)]],
}


class Player(Spectrum):
    """A Spectrum with the program loaded, and the labels of that program."""

    def __init__(
        self, tap: Path, symbols: Mapping[str, int], *, contention: bool = False, target: Target = SPECTRUM_48K
    ) -> None:
        """Load the tape; raise ZxmlError if it cannot be loaded."""
        super().__init__(tap, contention=contention, target=target)
        self.symbols = symbols

    def byte(self, label: str) -> int:
        """Return a byte of the program's memory."""
        return int(self.memory[self.symbols[label]])

    def enter(self, key: str) -> None:
        """Press the key of a screen and wait until it is drawn."""
        self.press(key)
        self.run(ENTER_FRAMES)

    def until(self, true: Callable[[], bool], keys: str = "", frames: int = 200) -> None:
        """Hold keys until something is true; raise VerifyError if it never is."""
        for _ in range(frames):
            if true():
                return
            self.run(1, keys)
        raise VerifyError(f"holding {keys or 'no key'} for {frames} frames did not lead to what was waited for")

    def pen(self) -> Point:
        """Return where the pen is."""
        return self.byte("pen_x"), self.byte("pen_y")

    def go_to(self, point: Point, pen_down: bool = False) -> None:
        """Move the pen, along a diagonal first and then straight."""
        while self.pen() != point:
            (x, y), (to_x, to_y) = self.pen(), point
            keys = ("p" if x < to_x else "o" if x > to_x else "", "a" if y < to_y else "q" if y > to_y else "")
            self.run(1, " ".join([*filter(None, keys), *(["SPACE"] if pen_down else [])]))
        self.run(3)

    def draw(self, strokes: Strokes, look: Callable[[], None] = lambda: None) -> None:
        """Draw on the draw screen, looking after each line, and wait for the last reading, however long the net thinks."""
        for first, *rest in strokes:
            self.go_to(first)
            for point in rest:
                self.go_to(point, pen_down=True)
                look()
        self.run(SETTLE_FRAMES)
        if self._will_think():
            self.until(lambda: not self._will_think(), frames=THINK_FRAMES)
            self.run(SETTLE_FRAMES)

    def _will_think(self) -> bool:
        return bool(self.memory[self.symbols["draw_guess"] + 1] == UNKNOWN)

    def canvas(self) -> NDArray[np.uint8]:
        """Return the cells of the canvas, (56, 56)."""
        at = self.symbols["canvas"]
        cells = np.frombuffer(bytes(self.memory[at : at + CANVAS_SIDE * CANVAS_SIDE // 8]), np.uint8)
        return np.unpackbits(cells.reshape(CANVAS_SIDE, -1), axis=1)


def tour(player: Player) -> list[bytes]:
    """Show what the program does and return the memory at each screen worth seeing."""
    memories: list[bytes] = []

    def look() -> None:
        memories.append(bytes(player.memory))

    for _ in range(3):
        player.run(55)
        look()
    player.enter("d")
    player.draw(DIGITS[3], look)
    look()
    player.enter("n")
    player.draw(DIGITS[4], look)
    look()
    player.enter("c")
    look()
    player.press("5")
    player.run(ENTER_FRAMES)
    look()
    player.enter("i")
    look()
    return memories
