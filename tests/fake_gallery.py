"""The program with a net that only pretends: in the gallery digits and scores from a table, and a delay of known length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from skoolkit import ROM48

from zxml.files import product_folder
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.program import SOURCES, Facts, clock_source, info_lines, picture_source, texts
from zxml.z80gen.tape import tape_bytes

PROGRAM_ADDR = 0x6000
FAST_ADDR = 0x8000
FAST = ("app/timing", "app/normalise", "app/memory")
COLD = tuple(source for source in SOURCES if "/" in source)  # those that lie below asm/
TEXT_NET = "784 pixels-60-10, 98.5 %"
FAKE_TSTATES, TURN_TSTATES = 780, 24  # classify without its delay, and a turn of that
THINK_TSTATES = 65_536 * TURN_TSTATES + 13
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Show:
    """One picture of the gallery: what it is, what the net says, and how many turns of its delay that takes.

    think: 0 where the net answers in haste; else THINK_TSTATES come so often after its delay, but not in haste.
    """

    label: int
    digit: int
    scores: Sequence[int]
    turns: int = 2600
    think: int = 0


def show(label: int, digit: int | None = None, turns: int = 2600, think: int = 0) -> Show:
    """Return a show whose scores fall with the distance from the digit read."""
    read = label if digit is None else digit
    return Show(label, read, [60_000 - 1_000 * (i - read) ** 2 for i in range(10)], turns, think)


def tstates(shown: Show) -> int:
    """Return the T-states that classify takes."""
    return FAKE_TSTATES + shown.turns * TURN_TSTATES + (24 + shown.think * THINK_TSTATES if shown.think else 0)


def picture(label: int) -> Pixels:
    """Return a picture of a digit, (28, 28) of 0 and 1: the ROM's letter three times as large."""
    rom = Path(ROM48).read_bytes()
    shape = np.frombuffer(rom[0x3D80 + 8 * label :][:8], np.uint8)
    return np.pad(np.kron(np.unpackbits(shape[:, None], axis=1), np.ones((3, 3), np.uint8)), 2)


def pack(pictures: Sequence[Pixels]) -> bytes:
    """Return pictures of 28 rows of 4 bytes."""
    return np.packbits(np.pad(np.asarray(pictures), ((0, 0), (0, 0), (0, 4))), axis=2).tobytes()


def source(shows: Sequence[Show], pictures: Sequence[Pixels] | None = None) -> str:
    """Return the main file of a program whose challenge has the pictures of the gallery from the last to the first."""
    drawn = np.array(pictures if pictures is not None else [picture(each.label) for each in shows])
    labels = np.array([each.label for each in shows], np.uint8)
    order = range(len(shows))
    generated = {
        "texts": texts(TEXT_NET, info_lines(TEXT_NET, Facts(0.985, 60_000, 35_000)), len(order)) + clock_source(),
        "pictures": picture_source("gallery", order, drawn, labels) + picture_source("challenge", order[::-1], drawn, labels),
    }
    asm = product_folder("asm")
    lines = [f"        org {PROGRAM_ADDR}"]
    lines += [generated[name] if name in generated else f'        include "{asm / name}.asm"' for name in SOURCES]
    lines += [
        "program_end:",
        f"        defs {FAST_ADDR} - $",
        *(f'        include "{asm / name}.asm"' for name in FAST),
        CLASSIFY,
    ]
    lines += ["fake_digits:", *_rows("defb", [each.digit for each in shows])]
    lines += ["fake_think:", *_rows("defb", [each.think for each in shows])]
    lines += ["fake_turns:", *_rows("defw", [each.turns for each in shows])]
    lines += ["fake_scores:", *_rows("defw", [score for each in shows for score in each.scores])]
    return "\n".join([*lines, ""])


CLASSIFY = """
classify:                       ; in the gallery, what the table says; elsewhere 1 for what is narrow, 0 for the rest
        ld   a, (app_screen)
        cp   KEY_GALLERY
        ld   a, (gallery_index)
        jr   z, classify_show
        ld   b, 28
        inc  hl
        inc  hl
        xor  a
classify_right:
        or   (hl)               ; columns 16 to 23
        inc  hl
        inc  hl
        inc  hl
        inc  hl
        djnz classify_right
        and  63                 ; 18 to 23
        add  a, 255
        sbc  a, a
        inc  a                  ; 1 if those are blank
classify_show:
        ld   l, a
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
        ld   d, h
        ld   e, l
        ld   bc, fake_think
        add  hl, bc
        ld   a, (hl)
        or   a
        jr   z, classify_digit
        ld   b, a
        ld   a, (classify_haste)
        or   a
        ret  nz
        ld   l, a
        ld   h, a
classify_slow:
        dec  hl
        ld   a, h
        or   l
        jp   nz, classify_slow
        djnz classify_slow
classify_digit:
        ld   hl, fake_digits
        add  hl, de
        ld   a, (hl)
        ret
classify_haste: defb 0
scores: defs 20
"""


def build(folder: Path, shows: Sequence[Show], pictures: Sequence[Pixels] | None = None) -> Assembly:
    """Assemble a gallery."""
    main = folder / "gallery.asm"
    main.write_text(source(shows, pictures))
    return assemble(main)


def write_tape(folder: Path, shows: Sequence[Show], pictures: Sequence[Pixels] | None = None) -> Path:
    """Write the tape of a gallery."""
    assembly = build(folder, shows, pictures)
    tap = folder / "gallery.tap"
    tap.write_bytes(tape_bytes("gallery", assembly.image, assembly.org, assembly.symbols["app_start"], bytes(6912)))
    return tap


def _rows(directive: str, values: Sequence[int] | bytes) -> list[str]:
    return [f"        {directive} {', '.join(map(str, values[i : i + 14]))}" for i in range(0, len(values), 14)]
