"""A 48K that trains the net, in an emulator, and how to compare what it holds with the reference."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from zxml.data.seed8 import Pictures
from zxml.emulator import SkoolKitCpu, call
from zxml.learn.seed import assembly
from zxml.learn.seed.net import BATCH, CLASSES, FILTERS, TAPS, UNITS, Bits, Net, Values, wrap
from zxml.z80gen.assemble import Assembly

STUB_ADDR, STUB_TSTATES = 0x5B10, 7 + 10 + 10 + 10  # sets the registers and jumps to a routine
PICTURE_NBYTES = 8


@cache
def made() -> Assembly:
    """Return the program, assembled."""
    with tempfile.TemporaryDirectory() as folder:
        return assembly.build(Path(folder))


class Machine:
    """A 48K with the program in its memory; interrupts as the ROM has them, if asked for."""

    def __init__(self, interrupts: bool = False) -> None:
        self.symbols = made().symbols
        self.cpu = SkoolKitCpu(made().org, made().image, interrupts=interrupts)

    def call(self, name: str, *, a: int = 0, bc: int = 0, de: int = 0, hl: int = 0) -> int:
        """Run a routine and return its T-states, CALL excluded; raise VerifyError if it does not end within seven million."""
        words = b"".join(bytes([op]) + value.to_bytes(2, "little") for op, value in ((0x01, bc), (0x11, de)))
        self.cpu.write(STUB_ADDR, bytes([0x3E, a]) + words + b"\xc3" + self.symbols[name].to_bytes(2, "little"))
        return call(self.cpu, STUB_ADDR, hl) - STUB_TSTATES

    def put_pictures(self, pictures: Pictures) -> None:
        """Put at most 640 pictures and their labels where the program looks for them."""
        self.cpu.write(self.symbols["seed_pictures"], np.packbits(pictures.images, axis=2).tobytes())
        self.cpu.write(self.symbols["seed_labels"], pictures.labels.tobytes())

    def picture_addr(self, number: int) -> int:
        """Return the address of a picture."""
        return self.symbols["seed_pictures"] + PICTURE_NBYTES * number

    def learn_ten(self, first: int, slow: bool) -> int:
        """Learn from ten pictures and step; return the T-states."""
        where = {"hl": self.picture_addr(first), "de": self.symbols["seed_labels"] + first}
        return self.call("seed_epoch", a=int(slow), bc=256, **where)

    def learn_epoch(self, pictures: int, slow: bool) -> int:
        """Learn from so many tens of the pictures, ten at a time; return the T-states."""
        return sum(self.learn_ten(first, slow) for first in range(0, pictures, BATCH))

    def scores(self) -> list[int]:
        """Return the ten scores of the picture last looked at."""
        stored = np.frombuffer(self.cpu.read(self.symbols["seed_score"], 2 * CLASSES), "<u2")
        return [int(score) - assembly.SCORE_ZERO for score in stored]

    def put(self, net: Net) -> None:
        """Put the first seed's weights, velocities and lessons into memory, and the tables of its filters."""
        for page, filters, dense in (
            ("seed_filters_page", net.filters, net.dense),
            ("seed_filters_velocity_page", net.filter_velocity, net.dense_velocity),
        ):
            self.cpu.write(self.symbols[page], _as_pages([filters[0].ravel(), *dense[0]]).tobytes())
        pages = np.zeros((FILTERS, 256), np.uint8)
        pages[:, 64:112] = net.lessons[0].astype("<i2").view(np.uint8).reshape(FILTERS, 48)
        self.cpu.write(self.symbols["seed_filter_page"], pages.tobytes())
        self.call("seed_tables")

    def differences(self, net: Net, which: int = 0) -> list[str]:
        """Return the names of what is not as one of a net's seeds has it, by default the first."""
        ours = {
            "filters": self._words("seed_filters_page", 1, FILTERS * (TAPS + 1)),
            "dense": self._words("seed_dense_page", CLASSES, UNITS),
            "filter_velocity": self._words("seed_filters_velocity_page", 1, FILTERS * (TAPS + 1)),
            "dense_velocity": self._words("seed_dense_velocity_page", CLASSES, UNITS),
            "lessons": self._lessons(),
        }
        return [name for name, found in ours.items() if not np.array_equal(found.ravel(), getattr(net, name)[which].ravel())]

    def pages(self, name: str, count: int) -> Values:
        """Return pages of memory, (count, 256)."""
        found = np.frombuffer(self.cpu.read(self.symbols[name], 256 * count), np.uint8)
        return found.reshape(count, 256).astype(np.int64)

    def tables(self) -> Values:
        """Return the tables of the filters as Net.tables has them, (12, 3, 8)."""
        tables = self.pages("seed_filter_page", FILTERS)[:, :48:2].reshape(FILTERS, 3, 8)
        tables[:, 0] -= 128
        return wrap(tables, 8)

    def _words(self, name: str, count: int, width: int) -> Values:
        pages = self.pages(name, count)
        return wrap(256 * pages[:, :width] + pages[:, 128 : 128 + width])

    def _lessons(self) -> Values:
        pages = self.pages("seed_filter_page", FILTERS)
        return wrap(256 * pages[:, 65:113:2] + pages[:, 64:112:2])


def _as_pages(rows: list[Values]) -> Bits:
    """Return s16 as pages of upper bytes from 0 and lower bytes from 128."""
    pages = np.zeros((len(rows), 256), np.uint8)
    for page, row in zip(pages, rows, strict=True):
        page[: len(row)], page[128 : 128 + len(row)] = row >> 8 & 255, row & 255
    return pages
