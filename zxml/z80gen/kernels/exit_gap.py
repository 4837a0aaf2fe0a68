"""exit_gap: an early answer where the greatest score leads by a gap; scores are unsigned words."""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Exit
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, table
from zxml.z80gen.kernels.digit import digit_section
from zxml.z80gen.writer import AsmWriter

NBYTES = 77
MOST_GAP, NO_ANSWER = 0xFFFF, 255


def _exit(part: Part) -> Exit:
    layer = part.layers[0]
    assert isinstance(layer, Exit)
    return layer


def _fits(part: Part) -> str | None:
    gap = _exit(part).gap
    if part.inputs.lo < 0:
        return f"compares unsigned words, and scores may reach {part.inputs.lo}"
    if not 0 <= gap <= MOST_GAP:
        return f"the gap is an unsigned word, not {gap}"
    if part.shape[0] < 2:
        return "a gap needs two scores"
    return None


def _cost(part: Part) -> Cost:
    others = part.shape[0] - 1
    terms = (
        Term("later score greater than the second", 63, others),
        Term("later score greater than all", 49, others),
        Term("answer", 16, 1),
    )
    return Cost(sum(section.nbytes for section in _sections(part)), 204 + 50 * others, terms)


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    second, first = np.zeros((2, len(inputs)), np.int64)
    best, next_best = inputs[:, 0], np.zeros(len(inputs), np.int64)
    for score in inputs[:, 1:].T:
        leads, follows = score > best, score > next_best
        second += follows
        first += leads
        next_best = np.where(leads, best, np.where(follows, score, next_best))
        best = np.maximum(best, score)
    return {
        "later score greater than the second": second,
        "later score greater than all": first,
        "answer": outputs[-1][:, 0],
    }


def _constants(part: Part) -> dict[str, int]:
    return {}


def _label(part: Part) -> str:
    return f"{_exit(part).name}_answer"


def _answer(part: Part) -> str:
    writer = AsmWriter()
    writer.label(_label(part), f"the answer, or {NO_ANSWER}")
    writer.op("defs 1")
    return writer.text()


def _sections(part: Part) -> tuple[Section, ...]:
    answer = table(_label(part), 1, partial(_answer, part), Place.FAST, align=1)
    return Section("kernel/exit_gap", NBYTES, Place.FAST), digit_section(), answer


def _calls(part: Part) -> tuple[str, ...]:
    others = part.shape[0] - 1
    return f"ld   hl, {_exit(part).gap}", f"ld   bc, {others} * 256", "call exit_gap", f"ld   ({_label(part)}), a"


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return np.array([memory[symbols[_label(part)]] != NO_ANSWER], np.int64)


EXIT_GAP = Kernel("exit_gap", (Exit,), "scores", "answer", _calls, _fits, _cost, _count, _constants, _sections, _read)
