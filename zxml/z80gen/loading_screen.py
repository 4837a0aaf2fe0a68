"""The picture that stays on the screen while the tape loads, drawn from the pictures that the net will read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from skoolkit import ROM48

from zxml.errors import PlanError
from zxml.ir import PICTURE_SIDE

Pixels = NDArray[np.uint8]  # zeros and ones

CELL, COLUMNS, ROWS = 8, 32, 24
FONT_ADDR = 0x3D00
BRIGHT = 64
BLUE, RED, MAGENTA, GREEN, CYAN, YELLOW, WHITE = range(1, 8)

NAME, NAME_ROW = "ZXML", 1  # a cell for every pixel of the ROM's letters, so 8 x 8 cells a letter
NAME_COLOURS = (BRIGHT + RED, BRIGHT + YELLOW, BRIGHT + GREEN, BRIGHT + CYAN)
STRIP_ROWS = (10, 15)  # two strips of pictures, 28 x 28 pixels in 32 x 32, the first to be read the brightest
STRIP_COLOURS = (BRIGHT + WHITE, BRIGHT + BLUE)
STRIP_CELLS = 4
STRIP_LENGTH = COLUMNS // STRIP_CELLS
TITLE_ROW, HINT_ROW = 20, 22
HINT = "loading"


class _Canvas:
    """A screen's pixels, (192, 256), and attributes, (24, 32)."""

    def __init__(self) -> None:
        self.pixels = np.zeros((ROWS * CELL, COLUMNS * CELL), np.uint8)
        self.attributes = np.zeros((ROWS, COLUMNS), np.uint8)

    def draw(self, pixels: Pixels, row: int, column: int, attribute: int) -> None:
        """Draw whole cells of pixels in one colour."""
        height, width = pixels.shape
        self.pixels[row * CELL :, column * CELL :][:height, :width] = pixels
        self.attributes[row:, column:][: height // CELL, : width // CELL] = attribute

    def write(self, text: str, row: int, attribute: int) -> None:
        """Write a centred line in the ROM's letters."""
        self.draw(np.hstack([_letter(letter) for letter in text]), row, (COLUMNS - len(text)) // 2, attribute)

    def screen(self) -> bytes:
        """Return the 6,912 bytes in the machine's order: thirds, lines of a cell, rows of a third, columns."""
        lines = np.packbits(self.pixels, axis=1).reshape(3, CELL, CELL, COLUMNS).transpose(0, 2, 1, 3)
        return lines.tobytes() + self.attributes.tobytes()


def loading_screen(pictures: Pixels, title: str) -> bytes:
    """Return the 6,912 bytes of a screen with 16 pictures, (n, 28, 28) of zeros and ones, repeated if fewer, and a title.

    Raises PlanError for pictures of another shape, or none, and for a title of more than 32 ASCII characters.
    """
    _check(pictures, title)
    canvas = _Canvas()
    for index, (letter, colour) in enumerate(zip(NAME, NAME_COLOURS, strict=True)):
        canvas.draw(_mosaic(_letter(letter), pictures, index), NAME_ROW, index * CELL, colour)
    for index in range(STRIP_LENGTH * len(STRIP_ROWS)):
        strip, place = divmod(index, STRIP_LENGTH)
        canvas.draw(np.pad(pictures[index % len(pictures)], 2), STRIP_ROWS[strip], place * STRIP_CELLS, STRIP_COLOURS[strip])
    if title:
        canvas.write(title, TITLE_ROW, WHITE)
    canvas.write(HINT, HINT_ROW, BRIGHT + YELLOW)
    return canvas.screen()


def _mosaic(letter: Pixels, pictures: Pixels, first: int) -> Pixels:
    """Return a letter with every pixel a cell, in which a small picture is cut out."""
    tiles = [np.pad(1 - _shrink(picture), ((0, 1), (0, 1))) for picture in pictures]
    cells = np.zeros((CELL, CELL, CELL, CELL), np.uint8)  # (cell row, cell column, line, pixel)
    for count, (row, column) in enumerate(np.argwhere(letter)):
        cells[row, column] = tiles[(first + count) % len(tiles)]
    mosaic: Pixels = cells.transpose(0, 2, 1, 3).reshape(CELL * CELL, CELL * CELL)
    return mosaic


def _shrink(picture: Pixels) -> Pixels:
    """Return the middle 21 x 21 pixels, where a digit lies, as 7 x 7."""
    shares: NDArray[np.float64] = picture[4:25, 4:25].reshape(7, 3, 7, 3).mean(axis=(1, 3))
    return (shares >= 0.5).astype(np.uint8)


def _letter(letter: str) -> Pixels:
    rom = Path(ROM48).read_bytes()
    shape = np.frombuffer(rom, np.uint8)[FONT_ADDR + CELL * (ord(letter) - 32) :][:CELL]
    return np.unpackbits(shape[:, None], axis=1)


def _check(pictures: Pixels, title: str) -> None:
    if len(pictures) == 0 or pictures.shape[1:] != (PICTURE_SIDE, PICTURE_SIDE):
        raise PlanError(f"loading screen: pictures must have shape (n, {PICTURE_SIDE}, {PICTURE_SIDE}), got {pictures.shape}")
    if not (title.isascii() and title.isprintable() and len(title) <= COLUMNS):
        raise PlanError(f"loading screen: title {title!r} is not one line of at most {COLUMNS} ASCII characters")
