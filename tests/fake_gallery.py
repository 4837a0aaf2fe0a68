"""A gallery with a net that only pretends: digits and scores from a table, and a delay of known length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from skoolkit import ROM48

from zxml.files import product_folder
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.tape import tape_bytes

PROGRAM_ADDR = 0x6000
FAST_ADDR = 0x8000
COLD = (
    *(f"app/{name}" for name in ("system", "gallery", "screen", "picture", "verdict", "bars", "numbers", "text")),
    *(f"lib/{name}" for name in ("line_address", "mul_u16_u16", "div_u16_u8")),
)
TEXT_NET = "784 pixels-60-10, 98.5 %"
DELAY_TURN_TSTATES = 24


@dataclass(frozen=True)
class Show:
    """One picture of the gallery: what it is, what the net says, and how many turns of its delay that takes."""

    label: int
    digit: int
    scores: Sequence[int]
    turns: int = 2600


def show(label: int, digit: int | None = None, turns: int = 2600) -> Show:
    """Return a show whose scores fall with the distance from the digit read."""
    read = label if digit is None else digit
    return Show(label, read, [60_000 - 1_000 * (i - read) ** 2 for i in range(10)], turns)


def picture(label: int) -> NDArray[np.uint8]:
    """Return a picture of a digit, (28, 28) of 0 and 1: the ROM's letter three times as large."""
    rom = Path(ROM48).read_bytes()
    shape = np.frombuffer(rom[0x3D80 + 8 * label :][:8], np.uint8)
    return np.pad(np.kron(np.unpackbits(shape[:, None], axis=1), np.ones((3, 3), np.uint8)), 2)


def pack(pictures: Sequence[NDArray[np.uint8]]) -> bytes:
    """Return pictures of 28 rows of 4 bytes."""
    return np.packbits(np.pad(np.asarray(pictures), ((0, 0), (0, 0), (0, 4))), axis=2).tobytes()


def source(shows: Sequence[Show], pictures: Sequence[NDArray[np.uint8]] | None = None) -> str:
    """Return the main file of a gallery."""
    packed = pack(pictures if pictures is not None else [picture(each.label) for each in shows])
    asm = product_folder("asm")
    lines = [f"        org {PROGRAM_ADDR}", *(_include(asm / f"{name}.asm") for name in COLD)]
    lines += [f"GALLERY_COUNT: equ {len(shows)}", "gallery_pictures:", *_rows("defb", packed)]
    lines += ["gallery_labels:", *_rows("defb", [each.label for each in shows])]
    lines += ["text_net:", *_rows("defb", [*TEXT_NET.encode(), 0])]
    lines += [f"        defs {FAST_ADDR} - $", _include(asm / "app/timing.asm"), CLASSIFY]
    lines += ["fake_digits:", *_rows("defb", [each.digit for each in shows])]
    lines += ["fake_turns:", *_rows("defw", [each.turns for each in shows])]
    lines += ["fake_scores:", *_rows("defw", [score for each in shows for score in each.scores])]
    return "\n".join([*lines, ""])


CLASSIFY = """
classify:
        ld   hl, (app_shown)
        ld   h, 0
        push hl
        add  hl, hl
        push hl
        ld   de, fake_turns
        add  hl, de
        ld   c, (hl)
        inc  hl
        ld   b, (hl)
        pop  hl                 ; scores are 20 bytes a picture
        ld   d, h
        ld   e, l
        add  hl, hl
        add  hl, hl
        add  hl, hl
        add  hl, de
        add  hl, de
        push bc
        ld   de, fake_scores
        add  hl, de
        ld   de, scores
        ld   bc, 20
        ldir
        pop  bc
classify_turn:
        dec  bc
        ld   a, b
        or   c
        jp   nz, classify_turn
        pop  hl
        ld   de, fake_digits
        add  hl, de
        ld   a, (hl)
        ret
scores: defs 20
"""


def build(folder: Path, shows: Sequence[Show], pictures: Sequence[NDArray[np.uint8]] | None = None) -> Assembly:
    """Assemble a gallery."""
    main = folder / "gallery.asm"
    main.write_text(source(shows, pictures))
    return assemble(main)


def write_tape(folder: Path, shows: Sequence[Show], pictures: Sequence[NDArray[np.uint8]] | None = None) -> Path:
    """Write the tape of a gallery."""
    assembly = build(folder, shows, pictures)
    tap = folder / "gallery.tap"
    tap.write_bytes(tape_bytes("gallery", assembly.image, assembly.org, assembly.symbols["app_start"], bytes(6912)))
    return tap


def _include(path: Path) -> str:
    return f'        include "{path}"'


def _rows(directive: str, values: Sequence[int] | bytes) -> list[str]:
    return [f"        {directive} {', '.join(map(str, values[i : i + 14]))}" for i in range(0, len(values), 14)]
