"""The Z80 program that learns: the hand-written routines of `asm/learn/` and the files generated for them."""

from __future__ import annotations

from pathlib import Path

from zxml.files import product_folder, write_whole
from zxml.learn.correct import MARGIN
from zxml.learn.count import LOG_TABLE
from zxml.learn.pictures import PATCH_COLS, PATCHES, PATTERNS
from zxml.learn.teach import FIXES
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.writer import AsmWriter

OF_EACH = 180  # pictures of each digit that fill a 48K, with the routines and the weights
SHARED_SOURCES = ("lib/xorshift_u16",)
SLOTS = 256 // PATTERNS  # patches whose weights share a page
SEGMENT_NBYTES = 3 + 6 * SLOTS + 1
# what the hand-written routines are built with
CONSTANTS = {"LEARN_MARGIN": MARGIN, "LEARN_SEGMENT": SEGMENT_NBYTES, "LEARN_FIXES": FIXES}


def build(folder: Path) -> Assembly:
    """Write the program's sources into a folder and assemble them; raise ZxmlError if the assembler will not."""
    asm = product_folder("asm")
    for source in [*sorted((asm / "learn").glob("learn*.asm")), *(asm / f"{name}.asm" for name in SHARED_SOURCES)]:
        write_whole(folder / source.name, source.read_text(encoding="utf-8"))
    numbers = CONSTANTS | {"LEARN_OF_EACH": OF_EACH}
    constants = "".join(f"{name}: equ {value}\n" for name, value in numbers.items())
    for name, text in ({"learn_constants": constants} | generate()).items():
        write_whole(folder / f"{name}.asm", text)
    return assemble(folder / "learn.asm")


def generate() -> dict[str, str]:
    """Return the generated files by name: the line of code, what fills it, the logarithms."""
    return {"learn_line": write_line(), "learn_patches": write_patches(), "learn_log_page": write_log_page()}


def write_line() -> str:
    """Return the line of code that adds up a digit's weights: five segments of 16 slots, each with a jump to its entry."""
    out = AsmWriter()
    for segment in range(PATCHES // SLOTS):
        out.label(f"learn_line_{segment}")
        out.op(f"jp   learn_line_{segment}_end", "to the last slot filled")
        for slot in range(SLOTS):
            skip = f"learn_line_{segment}_{slot}"
            out.op("ld   l, 0")
            out.op("add  a, (hl)")
            out.op(f"jr   nc, {skip}")
            out.op("inc  d")
            out.label(skip)
        out.label(f"learn_line_{segment}_end")
        out.op("inc  h")
    return out.text()


def write_patches() -> str:
    """Return the code that fills the slots of two rows of patches.

    ix = three rows of pixels, hl = operand of the last slot, bc = -6; hl becomes the next operand to fill.
    """
    out = AsmWriter()
    for patch in range(SLOTS):
        row, col = divmod(patch, PATCH_COLS)
        if col == 0:
            _load_columns(out, row, 0, "columns 0..7 of two rows")
            out.op("xor  a")
            _shift_column(out)
        if col == PATCH_COLS - 1:
            _load_columns(out, row, 1, "column 8")
        _shift_column(out)
        out.op("and  15", f"a = pattern of patch {patch}")
        out.op(f"jr   z, learn_patch_{patch}")
        out.op(f"or   {PATTERNS * patch}")
        out.op("ld   (hl), a")
        out.op("add  hl, bc")
        out.label(f"learn_patch_{patch}")
    return out.text()


def _load_columns(out: AsmWriter, row: int, byte: int, comment: str) -> None:
    out.op(f"ld   d, (ix + {2 * row + byte})", comment)
    out.op(f"ld   e, (ix + {2 * row + 2 + byte})")


def _shift_column(out: AsmWriter) -> None:
    for text in ("sla  d", "rla", "sla  e", "rla"):
        out.op(text)


def write_log_page() -> str:
    """Return the page of logarithms."""
    out = AsmWriter()
    out.data(LOG_TABLE.tolist(), "12 * log2(2 * n + 1)")
    return out.text()
