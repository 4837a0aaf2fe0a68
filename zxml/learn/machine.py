"""A Spectrum with the learning tape in it: runs to a label, tells what it has learned."""

from __future__ import annotations

import contextlib
import io

import numpy as np

from zxml.errors import VerifyError
from zxml.learn.count import Weights
from zxml.learn.pictures import CLASSES, PATCHES, PATTERNS, Bits
from zxml.learn.tape import WEIGHTS_NBYTES, LearningTape
from zxml.player import Player
from zxml.spectrum import FRAME_TSTATES

LIMIT_FRAMES = 3000  # a minute


class Learner(Player):
    """A 48K that has loaded the tape; with the delays of its video chip, and the ROM's interrupts."""

    def __init__(self, tape: LearningTape) -> None:
        """Load the tape; raise ZxmlError if it cannot be loaded."""
        super().__init__(tape.tap, tape.symbols, contention=True)

    def run_to(self, label: str | int, frames: int = LIMIT_FRAMES) -> None:
        """Run with no key down until the program comes to a label or an address; raise VerifyError if it does not."""
        self._tracer.keyboard = [0] * 8
        self._go_to(label, frames)

    def _go_to(self, label: str | int, frames: int) -> None:
        addr = self.symbols[label] if isinstance(label, str) else label
        with contextlib.redirect_stdout(io.StringIO()):
            self._tracer.run(
                self.register("PC"), addr, 0, frames * FRAME_TSTATES, True, None, None, None, None, "$", "02X", "04X"
            )
        if self.register("PC") != addr:
            raise VerifyError(f"the learning tape never came to {label} in {frames} frames; it was at {self.register('PC'):#x}")

    def bytes(self, label: str, nbytes: int) -> Bits:
        """Return bytes of memory."""
        addr = self.symbols[label]
        return np.frombuffer(bytes(self.memory[addr : addr + nbytes]), np.uint8)

    def word_at(self, label: str) -> int:
        """Return a word of memory."""
        return self.word(self.symbols[label])

    def weights(self) -> Weights:
        """Return what it has learned."""
        digits = self.bytes("learn_digits", 4 * CLASSES).view("<u2").reshape(CLASSES, 2)
        weight = self.bytes("learn_weight_page", WEIGHTS_NBYTES).reshape(CLASSES, PATCHES, PATTERNS)
        return Weights(digits[:, 0].astype(np.uint16), weight.copy())
