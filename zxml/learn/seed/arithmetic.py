"""The arithmetics that the net can learn with, and what reads best with each on validation pictures."""

from __future__ import annotations

from dataclasses import dataclass

EXACT = "4.12"  # the seed's own: zxml.learn.seed.exact
NEVER = 1 << 30


@dataclass(frozen=True)
class Limits:
    """How far a score may be from what it should be, in 1/1024: from `near` on it teaches, from `far` on twice as much."""

    near: int
    far: int


@dataclass(frozen=True)
class Arithmetic:
    """How many bits the numbers of learning have.

    level_bits: of an activation; delta_bits: of what is wrong with a score, or None where Limits grade it in halves;
    digit_limits, other_limits: those for the score of the picture's digit and for the other nine; lesson_shift: what the
    filters are taught is shifted down by so much.
    """

    name: str
    level_bits: int
    delta_bits: int | None
    lesson_shift: int
    digit_limits: Limits = Limits(0, 0)
    other_limits: Limits = Limits(0, 0)

    @property
    def fine(self) -> int:
        """Bits of an activation below the 1/16 of a 4-bit one."""
        return self.level_bits - 4

    @property
    def delta_shift(self) -> int:
        """Bits of an error below a half."""
        return 0 if self.delta_bits is None else self.delta_bits - 2


CHOSEN = Arithmetic("quinary", 4, None, 1, Limits(192, 288), Limits(448, 672))  # what asm/learn/seed.asm computes
ARITHMETICS = {
    arithmetic.name: arithmetic
    for arithmetic in (
        Arithmetic(EXACT, 16, 16, 0),
        Arithmetic("8x8", 8, 8, 2),
        Arithmetic("4x5", 4, 5, 2),
        CHOSEN,
        Arithmetic("ternary", 4, None, 0, Limits(256, NEVER), Limits(384, NEVER)),
    )
}
