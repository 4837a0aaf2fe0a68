"""Hand-written routines that have a form for maps of planes, too: its lines are comments in the form for maps of bits.

Lines that end in "bits only" are left out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from zxml.files import product_folder
from zxml.z80gen.kernel import Place, Section

MARK = ";planes "  # as long as what a line begins with
BITS_ONLY = "; bits only\n"


def hand_written(source: str) -> str:
    """Return the text of a file below asm/, its ending left out."""
    return (product_folder("asm") / f"{source}.asm").read_text(encoding="utf-8")


def planes_form(source: str, old: str, new: str) -> str:
    """Return the text of a file in the form for planes, with `old` in its labels as `new`.

    So both forms, each with labels of its own, may be in one program.
    """
    lines = hand_written(source).splitlines(keepends=True)
    text = "".join(line for line in lines if not line.endswith(BITS_ONLY))
    return text.replace(MARK, " " * len(MARK)).replace(old, new)


def routine_for_planes(source: str, old: str, new: str, nbytes: int, generated: Mapping[str, Callable[[], str]]) -> Section:
    """Return the section of a file in the form for planes, its name changed like its labels."""
    name = Path(source).name.replace(old, new)
    return Section(name, nbytes, Place.FAST, generated={name: partial(planes_form, source, old, new), **generated})
