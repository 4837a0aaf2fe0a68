"""What a kernel costs: exact T-states as a linear formula in what it counts, and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Term:
    """T-states for each of something, and the most of it that any picture can have."""

    name: str
    tstates: int
    most: int


@dataclass(frozen=True)
class Cost:
    """The T-states of one call, CALL included, on uncontended memory: fixed + sum of tstates x count over the terms."""

    nbytes: int
    fixed: int
    terms: tuple[Term, ...]

    def tstates(self, counts: Counts) -> NDArray[np.int64]:
        """Return the T-states for each picture, (n,), from the count of each term, (n,) each."""
        total = sum((term.tstates * counts[term.name] for term in self.terms), np.int64(self.fixed))
        return np.asarray(total, np.int64)

    @property
    def worst(self) -> int:
        """No picture takes more T-states than this."""
        return self.fixed + sum(term.tstates * term.most for term in self.terms if term.tstates > 0)

    def __str__(self) -> str:
        return " ".join([f"{self.fixed}", *(f"{term.tstates:+} x {term.name}" for term in self.terms)])
