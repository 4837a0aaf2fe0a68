"""The Z80 program that trains the net: the hand-written routines of `asm/learn/seed*.asm` and the files generated for them."""

from __future__ import annotations

from pathlib import Path

from zxml.files import product_folder, write_whole
from zxml.learn.seed.arithmetic import CHOSEN
from zxml.learn.seed.net import BIAS_INIT, LEAD, SCORE_ONE, UNITS
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.writer import AsmWriter

SCORE_ZERO = 0x8000  # a stored score is this much above its value, so that all are u16
WINDOWS = 6  # a row of them
LEVELS = 16


def build(folder: Path) -> Assembly:
    """Write the program's sources into a folder and assemble them; raise ZxmlError if the assembler will not."""
    asm = product_folder("asm")
    for source in [*sorted((asm / "learn").glob("seed*.asm")), asm / "lib/xorshift_u16.asm"]:
        write_whole(folder / source.name, source.read_text(encoding="utf-8"))
    generated = {
        "seed_constants": write_constants(),
        "seed_patterns": write_patterns(),
        "seed_units": write_units(),
        "seed_slots": write_slots(),
        "seed_products": write_products(),
    }
    for name, text in generated.items():
        write_whole(folder / f"{name}.asm", text)
    return assemble(folder / "seed.asm")


def write_constants() -> str:
    """Return the numbers that the routines share with the reference."""
    out = AsmWriter()
    out.equ("SEED_BIAS", BIAS_INIT)
    out.equ("SEED_LEAD", LEAD)
    for who, target, limits in (("DIGIT", SCORE_ONE, CHOSEN.digit_limits), ("OTHER", 0, CHOSEN.other_limits)):
        out.equ(f"SEED_{who}_LEAST", SCORE_ZERO + target - limits.far + 1, "the least score that is not very far too low")
        out.equ(f"SEED_{who}_FAR", limits.far - limits.near)
        out.equ(f"SEED_{who}_NEAR", 2 * limits.near - 1)
    return out.text()


def write_patterns() -> str:
    """Return the code that makes a picture into patterns; hl = its first row."""
    out = AsmWriter()
    for row in range(8):
        out.op("ld   c, (hl)", f"row {row}")
        if row < 7:
            out.op("inc  hl")
        for column in reversed(range(WINDOWS)):
            if column < 4:
                out.op("rrc  c")
            out.op("ld   a, c")
            if column == WINDOWS - 1:
                out.op("rlca")
            out.op("and  14")
            out.op(f"ld   (seed_pattern_page + {8 * row + column}), a")
            _write_operands(out, row, column)
    return out.text()


def _write_operands(out: AsmWriter, row: int, column: int) -> None:
    """Write a = twice a pattern into the windows that it is the first, second or third row of."""
    added = 0
    for part in range(max(0, row - WINDOWS + 1), min(3, row + 1)):
        if part > added:
            out.op(f"add  a, {16 * (part - added)}")
            added = part
        out.op(f"ld   (seed_window_{row - part}_{column} + {1 + 3 * part}), a")


def write_units() -> str:
    """Return the code that looks at the nine places of a filter.

    h = page of the filter, ixl = its first unit, de = end of the list of active units.
    """
    out = AsmWriter()
    for place in range(9):
        for window in range(4):
            row, column = 2 * (place // 3) + window // 2, 2 * (place % 3) + window % 2
            _write_window(out, row, column)
            skip = f"seed_window_{row}_{column}_less"
            if window:
                out.op("cp   b")
                out.op(f"jr   c, {skip}")
            out.op("ld   b, a", "b = greatest sum")
            out.op(f"ld   c, {8 * row + column}", "c = its window")
            if window:
                out.label(skip)
        out.op("ld   a, b")
        out.op("sub  129", "a = level - 1")
        out.op(f"ld   l, {place}")
        out.op("call nc, seed_active")
    return out.text()


def _write_window(out: AsmWriter, row: int, column: int) -> None:
    out.label(f"seed_window_{row}_{column}")
    for part in range(3):
        out.op("ld   l, 0", "twice the pattern of a row" if part == 0 else "")
        out.op("add  a, (hl)" if part else "ld   a, (hl)")


def write_slots() -> str:
    """Return the line of code that adds up a digit's score: a slot a unit, d = page of the weights, ix = sum."""
    out = AsmWriter()
    for _ in range(UNITS):
        for text in (
            "ld   e, 0",
            "ld   a, (de)",
            "ld   l, a",
            "ld   h, 0",
            "ld   c, (hl)",
            "inc  h",
            "ld   b, (hl)",
            "add  ix, bc",
        ):
            out.op(text)
    return out.text()


def write_products() -> str:
    """Return the pages of the products of a level, 1 to 15, with an s8: lower bytes, then upper bytes."""
    out = AsmWriter()
    for level in range(1, LEVELS):
        products = [level * ((weight ^ 128) - 128) for weight in range(256)]
        out.data(products, f"level {level}")
        out.data([product >> 8 for product in products])
    return out.text()
