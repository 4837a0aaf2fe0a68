"""What hidden_bits and hidden_codes have in common: a line of code that sums weights of a unit, or of a pair of units.

A pair's weights of 4 bits share a byte, 16 first + second, modulo 256. Slots of the line take up a byte each; a batch of them
then takes the first weights out of their bytes, through a page, and sums these, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from zxml.z80gen.kernel import Place, Section, Values, table
from zxml.z80gen.writer import AsmWriter

NIBBLE, SIGN = 16, 8
PAGE = 256
SLOTS_A_BATCH, SLOT_NBYTES, PACKED_SLOT_NBYTES, TAIL_NBYTES = 4, 3, 4, 12


@dataclass(frozen=True)
class WeightLine:
    """How weights lie in memory: two in a byte, or a byte each."""

    packed: bool

    @property
    def share(self) -> int:
        """The units that a line sums."""
        return 2 if self.packed else 1

    @property
    def batch(self) -> int:
        """The slots that the line takes up at once."""
        return SLOTS_A_BATCH if self.packed else 1

    @property
    def step(self) -> int:
        """The bytes from one operand of a batch to the next."""
        return PACKED_SLOT_NBYTES if self.packed else SLOT_NBYTES

    @property
    def batch_nbytes(self) -> int:
        """The bytes of a batch of the line."""
        return self.batch * self.step + (TAIL_NBYTES if self.packed else 0)

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest weight."""
        return (-SIGN, SIGN - 1) if self.packed else (-128, 127)

    def reject(self, weights: Values) -> str | None:
        """Return why weights do not fit their bits, or None."""
        least, most = self.reach
        if weights.min() < least or weights.max() > most:
            return f"weights are in [{least}, {most}], not in [{weights.min()}, {weights.max()}]"
        return None

    def start(self, slot: int) -> int:
        """Return how many bytes before the end of the line a slot starts; slot 0 is the last that runs."""
        batch, place = divmod(slot, self.batch)
        return self.batch_nbytes * (batch + 1) - self.step * (self.batch - 1 - place)

    def write_batch(self, writer: AsmWriter) -> None:
        """Write the code of a batch."""
        for line in _packed_batch() if self.packed else ("ld   l, 0", "add  a, (hl)"):
            writer.op(line)

    def lines(self, units: int) -> int:
        """Return how many lines so many units take."""
        return -(-units // self.share)

    def pack(self, weights: Values) -> Values:
        """Return the bytes, (n, lines), of weights (n, units)."""
        if not self.packed:
            return weights
        first, second = split_pairs(weights)
        return NIBBLE * first + second


def _packed_batch() -> Iterator[str]:
    """Yield the code of four slots, h = e = page of weights, a = sum of the bytes, a' = sum of the first units' weights."""
    for register in "bcdl":
        yield from ("ld   l, 0", f"ld   {register}, (hl)", f"add  a, {register}")
    yield from ("ex   af, af'", "ld   h, hidden_nibble_page / 256", "add  a, (hl)")
    for register in "bcd":
        yield from (f"ld   l, {register}", "add  a, (hl)")
    yield from ("ld   h, e", "ex   af, af'")


def split_pairs(values: Values, rest: int = 0) -> tuple[Values, Values]:
    """Return the first and the second of each two columns of values (n, units); rest: the second of an odd last one."""
    padded = np.pad(values, ((0, 0), (0, values.shape[1] % 2)), constant_values=rest)
    return padded[:, ::2], padded[:, 1::2]


def nibble_section() -> Section:
    """Return the page of the first weight of each packed byte; it is looked at too often to be held up by the video chip."""
    return table("hidden_nibble_page", PAGE, _nibbles, Place.FAST)


def _nibbles() -> str:
    packed = np.arange(PAGE)
    second = (packed + SIGN) % NIBBLE - SIGN
    writer = AsmWriter()
    writer.label("hidden_nibble_page", "the first weight of each packed byte 16 first + second")
    writer.data(((packed - second) // NIBBLE + SIGN) % NIBBLE - SIGN)
    return writer.text()
