"""What others have published, from `published.toml`: every figure with its source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reader:
    """A program that reads digits; what its source does not give is None.

    bits: of its processor; accuracy: a share of `pictures`; cycles, seconds: a picture, one of them published at most;
    measured: what the figures are of, exactly; caveat: why they compare badly with others.
    """

    name: str
    machine: str
    bits: int
    accuracy: float
    year: int
    title: str
    source: str
    measured: str
    caveat: str
    pictures: int | None = None
    clock_hz: int | None = None
    cycles: int | None = None
    seconds: float | None = None

    @property
    def cycles_a_picture(self) -> float | None:
        """Cycles of the processor's clock a picture: published, or worked out from the time and the clock."""
        if self.cycles is None and self.seconds is not None and self.clock_hz is not None:
            return self.seconds * self.clock_hz
        return self.cycles

    @property
    def seconds_a_picture(self) -> float | None:
        """Seconds a picture: published, or worked out from the cycles and the clock."""
        if self.seconds is None and self.cycles is not None and self.clock_hz is not None:
            return self.cycles / self.clock_hz
        return self.seconds


@dataclass(frozen=True)
class Learner:
    """A version of the net that a Spectrum trained in 2019; accuracy: a share of `pictures`, None where it is not published.

    epoch_s, test_s: seconds of one pass over its 640 training pictures, and of reading its test pictures.
    """

    name: str
    digits: int
    epochs: int
    epoch_s: float
    test_s: float
    published: str
    year: int
    source: str
    caveat: str
    accuracy: float | None = None
    pictures: int | None = None

    @property
    def training_s(self) -> float:
        """Seconds of all its epochs."""
        return self.epochs * self.epoch_s


@dataclass(frozen=True)
class Published:
    """All of them."""

    readers: tuple[Reader, ...]
    learners: tuple[Learner, ...]


def load() -> Published:
    """Return what `published.toml` holds."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return Published(
        tuple(Reader(**table) for table in tables["reader"]), tuple(Learner(**table) for table in tables["learner"])
    )
