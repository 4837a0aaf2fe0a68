"""looks: further looks at moved pictures, whose scores are added; they take the time of the layers looked with again, too.

Limits: scores and their sums are unsigned words.
"""

from __future__ import annotations

from functools import partial

from zxml.ir import Looks
from zxml.z80gen.cost import Cost, Counts
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.scores import read_scores
from zxml.z80gen.picture import NBYTES as PICTURE_NBYTES
from zxml.z80gen.writer import AsmWriter

NBYTES = 125
ROW_NBYTES = 4
ROUTINES = {-1: "looks_left", 0: "looks_copy", 1: "looks_right"}  # of the pixels that a picture is moved right by
ROUTINE_TSTATES = {-1: 3783, 0: 2118, 1: 4070}
MOST_SCORE = 0xFFFF
CALL_TSTATES, LOAD_TSTATES = 17, 10


def _looks(part: Part) -> Looks:
    layer = part.layers[0]
    assert isinstance(layer, Looks)
    return layer


def look_label(looks: Looks) -> str:
    """Return the label of the subroutine that looks with the layers that these looks have in common with the first."""
    return f"look_with_{looks.again}"


def _calls(part: Part) -> tuple[str, ...]:
    lines = ["call looks_keep"]
    for (down, right), moved in _moves(part):
        start = f"ld   hl, looks_picture + {ROW_NBYTES * (1 - down)}"
        lines += [*([f"call {ROUTINES[right]}"] if moved else []), start, f"call {look_label(_looks(part))}", "call looks_add"]
    return tuple(lines)


def _moves(part: Part) -> list[tuple[tuple[int, int], bool]]:
    """Return each look's shift, and whether the picture is to be moved: not if it lies there from the look before."""
    shifts = _looks(part).shifts
    return [(shift, number == 0 or shift[1] != shifts[number - 1][1]) for number, shift in enumerate(shifts)]


def _fits(part: Part) -> str | None:
    most = (1 + len(_looks(part).shifts)) * part.inputs.hi
    if part.inputs.lo < 0 or most > MOST_SCORE:
        return f"adds up unsigned words, and the sums may reach {part.inputs.lo if part.inputs.lo < 0 else most}"
    return None


def _cost(part: Part) -> Cost:
    units = part.shape[0]
    keep, add = CALL_TSTATES + 35 + 42 * units, CALL_TSTATES + 32 + 89 * units
    looks = [(CALL_TSTATES + ROUTINE_TSTATES[right]) * moved + LOAD_TSTATES + add for (_, right), moved in _moves(part)]
    return Cost(sum(section.nbytes for section in _sections(part)), keep + sum(looks), ())


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    return {}


def _constants(part: Part) -> dict[str, int]:
    return {"LOOKS_UNITS": part.shape[0]}


def _buffer(label: str, nbytes: int, what: str) -> str:
    writer = AsmWriter()
    writer.label(label, what)
    writer.op(f"defs {nbytes}")
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    sizes = {"looks_picture": PICTURE_NBYTES + 2 * ROW_NBYTES, "looks_total": 2 * part.shape[0]}
    texts = {"looks_picture": "a blank row, the picture, a blank row", "looks_total": "one word an output"}
    buffers = (
        table(name, nbytes, partial(_buffer, name, nbytes, texts[name]), Place.FAST, align=1) for name, nbytes in sizes.items()
    )
    return Section("kernel/looks", NBYTES, Place.FAST), *buffers


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_scores(memory, symbols, part.shape[0]) & MOST_SCORE


LOOKS = Kernel("looks", (Looks,), "scores", "scores", _calls, _fits, _cost, _count, _constants, _sections, _read)
