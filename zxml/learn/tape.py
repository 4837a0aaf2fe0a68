"""The tape that learns: a program, pictures to learn from and others to read, and a Spectrum that does the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zxml.data import Dataset
from zxml.errors import PlanError
from zxml.files import product_folder, write_whole
from zxml.learn import assembly
from zxml.learn.command import PASSES, PICTURES
from zxml.learn.pictures import CLASSES, NBYTES, Bits, choose_training, pack, shrink
from zxml.learn.words import words
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.loading_screen import loading_screen
from zxml.z80gen.tape import tape_bytes
from zxml.z80gen.writer import AsmWriter

BUILD = Path("build/learn")
NAME, TITLE = "learn", "a Spectrum that learns to read"
TESTS = 50  # test pictures on the tape
LOG_ADDR = 0xCB00  # the table of logarithms and all behind it: variables, what has been learned
WEIGHTS_ADDR, WEIGHTS_NBYTES = 0xCE00, 12_800
SHARED_SOURCES = (
    *(f"app/{name}" for name in ("enter", "leave", "system", "keys", "screen", "text", "numbers", "bars")),
    *(f"app/{name}" for name in ("verdict", "draw", "pen", "canvas", "normalise")),
    *assembly.SHARED_SOURCES,
    *(f"lib/{name}" for name in ("line_address", "mul_u16_u16", "div_u16_u8")),
)


@dataclass(frozen=True, eq=False)
class LearningTape:
    """The assembled program and where its tape lies; train, test: the small pictures (n, 11, 9) on it, and their labels."""

    assembly: Assembly
    tap: Path
    train: Bits
    test: Bits
    test_labels: Bits

    @property
    def symbols(self) -> dict[str, int]:
        """The program's labels."""
        return self.assembly.symbols


def record(dataset: Dataset, folder: Path = BUILD) -> LearningTape:
    """Write folder/asm/ and folder/learn.tap; raise PlanError if the pictures do not fit."""
    train = shrink(dataset.train_images[choose_training(dataset.train_labels, PICTURES)])
    test, labels = shrink(dataset.test_images[:TESTS]), dataset.test_labels[:TESTS]
    assembled = build(folder / "asm", train, test, labels)
    screen = loading_screen(dataset.test_images[:16], TITLE)
    image = assembled.image[: WEIGHTS_ADDR - assembled.org]
    write_whole(folder / f"{NAME}.tap", tape_bytes(NAME, image, assembled.org, assembled.symbols["app_start"], screen))
    return LearningTape(assembled, folder / f"{NAME}.tap", train, test, labels)


def build(folder: Path, train: Bits, test: Bits, test_labels: Bits) -> Assembly:
    """Write the sources into a folder and assemble them; raise PlanError if they do not fit the memory."""
    texts = assembly.generate() | {
        "learn_constants": write_constants(len(train), len(test)),
        "app_texts": words(len(train), PASSES, len(test)),
        "app_tests": write_pictures("app_tests", with_labels(test, test_labels)),
        "app_pictures": write_pictures("app_pictures", pack(train)),
    }
    for path in find_sources():
        write_whole(folder / path.name, path.read_text(encoding="utf-8"))
    for name, text in texts.items():
        write_whole(folder / f"{name}.asm", text)
    assembled = assemble(folder / "app_map.asm")
    check(assembled)
    return assembled


def find_sources() -> Iterator[Path]:
    """Return the hand-written files of the program."""
    asm = product_folder("asm")
    yield from sorted((asm / "learn").glob("app_*.asm"))
    yield from sorted((asm / "learn").glob("learn_*.asm"))
    yield from (asm / f"{name}.asm" for name in SHARED_SOURCES)


def write_constants(pictures: int, tests: int) -> str:
    """Return what the hand-written files are built with."""
    out = AsmWriter()
    hundreds = pictures // 100
    for name, value in assembly.CONSTANTS.items():
        out.equ(name, value)
    out.equ("LEARN_OF_EACH", pictures // CLASSES, "pictures of each digit")
    out.equ("MARKS_COUNT", pictures // CLASSES, "lamps, one for every ten pictures")
    out.equ("PASSES", PASSES)
    out.equ("HUNDREDS", hundreds, "points of the curve in a pass")
    out.equ("CURVE_POINTS", PASSES * hundreds)
    out.equ("SHARE_TENTHS", round(65536 * 1000 / pictures), "tenths of a hundredth in a picture, * 65536")
    out.equ("TESTS", tests)
    out.equ("NET_THINKS", 0, "what learned here always answers at once")
    out.equ("APP_LOG", LOG_ADDR)
    return out.text()


def write_pictures(label: str, packed: Bits) -> str:
    """Return pictures (n, 13), one a line."""
    out = AsmWriter()
    out.comment(f"{label}: {len(packed)} pictures, 13 bytes each")
    out.label(label)
    for row in packed:
        out.data(row, width=NBYTES)
    return out.text()


def with_labels(small: Bits, labels: Bits) -> Bits:
    """Return packed pictures (n, 13) that tell their digits in the last four bits, which show nothing."""
    packed = pack(small)
    packed[:, -1] |= labels
    return np.asarray(packed, np.uint8)


def check(assembled: Assembly) -> None:
    """Raise PlanError unless everything lies where the memory map says."""
    symbols = assembled.symbols
    if symbols["app_free"] > LOG_ADDR:
        raise PlanError(
            f"learning tape: program and pictures end at {symbols['app_free']:#x}, {symbols['app_free'] - LOG_ADDR} past "
            f"{LOG_ADDR:#x}; choose fewer pictures"
        )
    wanted = {"learn_log_page": LOG_ADDR, "state_end": WEIGHTS_ADDR}
    for name, addr in wanted.items():
        if symbols[name] != addr:
            raise PlanError(f"learning tape: {name} should be at {addr:#x}, got {symbols[name]:#x}; correct the memory map")
