"""arg_max: the greatest of several unsigned words.

Limits: unsigned words.
"""

from __future__ import annotations

import numpy as np

from zxml.ir import ArgMax
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call
from zxml.z80gen.kernels.digit import DIGIT_NBYTES, digit_section

NBYTES = 32


def _fits(part: Part) -> str | None:
    if part.inputs.lo < 0:
        return f"compares unsigned words, and scores may reach {part.inputs.lo}"
    return None


def _cost(part: Part) -> Cost:
    others = part.shape[0] - 1
    return Cost(NBYTES + DIGIT_NBYTES, 79 + 59 * others, (Term("later score that is greater", 36, others),))


def _count(part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    best_before = np.maximum.accumulate(inputs, axis=1)[:, :-1]  # (n, units - 1)
    return {"later score that is greater": (inputs[:, 1:] > best_before).sum(axis=1)}


def _constants(part: Part) -> dict[str, int]:
    return {"ARG_MAX_UNITS": part.shape[0]}


def _sections(part: Part) -> tuple[Section, ...]:
    return Section("kernel/arg_max", NBYTES, Place.FAST), digit_section()


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return np.array([memory[symbols["digit"]]], np.int64)


ARG_MAX = Kernel("arg_max", (ArgMax,), "scores", "digit", call("arg_max"), _fits, _cost, _count, _constants, _sections, _read)
