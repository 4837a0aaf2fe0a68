"""A small convolutional net that learns in whole numbers, as a Z80 without a multiplication can.

Pictures of 8 x 8 bits -> 12 filters of 3 x 3 and a bias -> the greatest of 2 x 2, ReLU -> dense, 108 to 10. Squared error,
steps with momentum after every ten pictures. The first axis of all arrays is the seeds: nets with other first weights.

A filter never sees a number: three pixels beside each other are one of eight patterns, so a row of three weights is a table of
eight sums. What a picture teaches a filter goes the same way back: it is added up by pattern, and a weight gets the sum of the
patterns in which its pixel is set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.learn.correct import next_random
from zxml.learn.seed.arithmetic import Arithmetic

FILTERS, TAPS, POOLED, CLASSES = 12, 9, 9, 10
UNITS = FILTERS * POOLED
PARAMETERS = FILTERS * (TAPS + 1) + CLASSES * UNITS
BATCH = 10
PATTERN_BITS = np.array([[pattern >> 2 & 1, pattern >> 1 & 1, pattern & 1] for pattern in range(8)])  # (pattern, column)

FILTER_INIT, DENSE_INIT, BIAS_INIT = 8, 2, 512  # factors of a random s8, and every filter's first bias
SCORE_ONE = 1024  # what a score of 1 is: a level of 1/16 times a weight of 1/64
LEAD = 320  # a digit ahead of its rival by this much, 5/16, teaches nothing
MOMENTUM_SHIFT = 2  # a velocity loses a quarter a step
SLOW_SHIFT = 4  # in the last epoch weights move by a sixteenth of the velocities

Bits = NDArray[np.uint8]
Values = NDArray[np.int64]
Truths = NDArray[np.bool_]


def wrap(values: Values, bits: int = 16) -> Values:
    """Return values modulo 2^bits, signed."""
    half = 1 << bits - 1
    return np.asarray((values + half & 2 * half - 1) - half)


def see_windows(images: Bits) -> Values:
    """Return the patterns, 0..7, of the three rows of each window, (n, 9, 4, 3), of pictures (n, 8, 8).

    The axes: pooled places, row by row; the four windows of a place, row by row; the rows of a window. Bit 2 is the left pixel.
    """
    image = images.astype(np.int64)
    patterns = image[:, :, :6] << 2 | image[:, :, 1:7] << 1 | image[:, :, 2:]  # (n, 8, 6)
    rows = np.stack([patterns[:, row : row + 6] for row in range(3)], axis=3)  # (n, 6, 6, 3)
    return rows.reshape(-1, 3, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, POOLED, 4, 3)


@dataclass(frozen=True, eq=False)
class Seen:
    """What the nets make of pictures.

    levels: (seeds, n, 108), of the units, filter by filter; winners: (seeds, n, 108), the window of each, 0..3; scores:
    (seeds, n, 10), s16.
    """

    levels: Values
    winners: Values
    scores: Values


@dataclass
class Tally:
    """How often what takes time happened, over all seeds.

    active: units above 0, in all pictures; taught: pictures that were not ahead; taught_active: active units in those;
    errors: scores in those that were wrong enough; gains: active units times those, twice where a score teaches twice;
    moved: active units that had something to tell their filter.
    """

    pictures: int = 0
    active: int = 0
    taught: int = 0
    taught_active: int = 0
    errors: int = 0
    gains: int = 0
    moved: int = 0
    steps: int = 0
    slow_steps: int = 0


class Net:
    """The nets of some seeds: weights, velocities, and what the pictures since the last step taught the filters.

    filters, filter_velocity: (seeds, 12, 10), s16, 4.12: nine taps, then the bias. dense, dense_velocity: (seeds, 10, 108),
    s16, 2.14. lessons: (seeds, 12, 3, 8), s16, by row and pattern.
    """

    def __init__(self, arithmetic: Arithmetic, seeds: list[int]) -> None:
        """Draw the first weights; a seed is 1 to 65,535."""
        self.arithmetic, self.tally = arithmetic, Tally()
        drawn = np.array([_draw(seed) for seed in seeds])
        cut = FILTERS * (TAPS + 1)
        self.filters: Values = drawn[:, :cut].reshape(-1, FILTERS, TAPS + 1) * FILTER_INIT
        self.filters[:, :, TAPS] = BIAS_INIT
        self.dense: Values = drawn[:, cut:].reshape(-1, CLASSES, UNITS) * DENSE_INIT
        self.filter_velocity, self.dense_velocity = np.zeros_like(self.filters), np.zeros_like(self.dense)
        self.lessons: Values = np.zeros((len(seeds), FILTERS, 3, 8), np.int64)

    def first_slow(self, epochs: int) -> int:
        """Return the epoch, counted from 1, from which on steps are small."""
        return max(epochs, 2)

    def tables(self) -> Values:
        """Return what a row of a filter adds for each pattern, (seeds, 12, 3, 8), in 1/16 or finer; row 0 holds the bias."""
        shift = 8 - self.arithmetic.fine
        return wrap(self._row_sums() + (1 << shift - 1)) >> shift

    def look(self, windows: Values) -> Seen:
        """Return what the nets make of pictures, given their windows (n, 9, 4, 3)."""
        fine = self.arithmetic.fine
        levels, winners = self._pool(windows, 16 if fine else 8)
        levels = np.clip(levels, 0, (1 << self.arithmetic.level_bits) - 1)
        scores = np.matmul(levels.astype(np.float64), (self.dense >> 8).transpose(0, 2, 1).astype(np.float64))
        return Seen(levels, winners, wrap(scores.astype(np.int64)))

    def learn(self, windows: Values, digit: int) -> Seen:
        """Look at a picture of a digit, windows (9, 4, 3), and learn from it unless it is ahead; return what was seen."""
        seen = self.look(windows[None])
        levels, scores = seen.levels[:, 0], seen.scores[:, 0]
        fine, delta_shift = self.arithmetic.fine, self.arithmetic.delta_shift
        taught = ~is_ahead(scores, digit, LEAD << fine)
        raise_by = np.where(taught[:, None], -self.errors(scores, digit), 0)  # (seeds, 10)
        news = wrap(_round(np.einsum("sk,sku->su", raise_by, self.dense >> 8), delta_shift), 8) * (levels > 0)
        gains = _round(2 * raise_by[:, :, None] * levels[:, None], delta_shift + fine)
        self.dense_velocity = wrap(self.dense_velocity + gains)
        self._teach(windows, seen.winners[:, 0], news)
        self._count(levels > 0, taught, raise_by, news)
        return seen

    def errors(self, scores: Values, digit: int) -> Values:
        """Return how much too great scores (seeds, 10) are, in bits of the arithmetic or in halves."""
        bits, fine = self.arithmetic.delta_bits, self.arithmetic.fine
        of_digit = np.arange(CLASSES) == digit
        off = scores - np.where(of_digit, SCORE_ONE << fine, 0)
        if bits is None:
            digits, others = self.arithmetic.digit_limits, self.arithmetic.other_limits
            near, far = np.where(of_digit, digits.near, others.near), np.where(of_digit, digits.far, others.far)
            return np.asarray(np.sign(off) * ((abs(off) >= near).astype(np.int64) + (abs(off) >= far)))
        most = 1 << bits - 1
        return np.clip(_round(off, 11 + fine - bits), -most, most - 1)

    def step(self, slow: bool) -> None:
        """Change the weights by the velocities, and let those fade; slow: by a sixteenth of them."""
        self.filter_velocity = wrap(self.filter_velocity + (wrap(self._gather()) >> self.arithmetic.lesson_shift))
        self.filters, self.filter_velocity = move(self.filters, self.filter_velocity, slow)
        self.dense, self.dense_velocity = move(self.dense, self.dense_velocity, slow)
        self.tally.steps += len(self.filters)
        self.tally.slow_steps += slow * len(self.filters)

    def accuracy(self, windows: Values, labels: Bits) -> list[float]:
        """Return, for each seed, the share of pictures whose greatest score is their label's; the first of equals wins."""
        parts = [self.look(windows[start : start + 500]).scores.argmax(axis=2) for start in range(0, len(windows), 500)]
        right = np.concatenate(parts, axis=1) == labels
        return [float(share) for share in right.mean(axis=1)]

    def _row_sums(self) -> Values:
        """Return the exact sums of a row's weights for each pattern, (seeds, 12, 3, 8); row 0 holds the bias."""
        taps = self.filters[:, :, :TAPS].reshape(-1, FILTERS, 3, 3)
        sums = np.einsum("sfrb,pb->sfrp", taps, PATTERN_BITS)
        sums[:, :, 0] += self.filters[:, :, TAPS, None]
        return np.asarray(sums)

    def _pool(self, windows: Values, bits: int) -> tuple[Values, Values]:
        """Return the greatest sum of each unit's four windows, and which that is, the last of equals: (seeds, n, 108)."""
        tables = self.tables()
        rows = [tables[:, :, row][:, :, windows[..., row]] for row in range(3)]
        sums = wrap(rows[0] + rows[1] + rows[2], bits)  # (seeds, 12, n, 9, 4)
        winners = 3 - sums[..., ::-1].argmax(axis=4)
        greatest, winners = (found.transpose(0, 2, 1, 3).reshape(len(sums), -1, UNITS) for found in (sums.max(axis=4), winners))
        return greatest, winners

    def _teach(self, windows: Values, winners: Values, news: Values) -> None:
        """Add the news (seeds, 108) to what their filters are taught, under the patterns of each unit's winning window."""
        seen = windows[np.arange(UNITS) % POOLED, winners]  # (seeds, 108, 3)
        seed, unit = np.nonzero(news)
        for row in range(3):
            np.add.at(self.lessons[:, :, row], (seed, unit // POOLED, seen[seed, unit, row]), news[seed, unit])
        self.lessons = wrap(self.lessons)

    def _gather(self) -> Values:
        """Return what each tap and bias was taught, (seeds, 12, 10), and forget it."""
        taps = np.einsum("sfrp,pb->sfrb", self.lessons, PATTERN_BITS).reshape(-1, FILTERS, TAPS)
        biases = self.lessons[:, :, 0].sum(axis=2)
        self.lessons = np.zeros_like(self.lessons)
        return np.concatenate([taps, biases[:, :, None]], axis=2)

    def _count(self, active: Truths, taught: Truths, raise_by: Values, news: Values) -> None:
        units = active.sum(axis=1)
        lessons = np.minimum(abs(raise_by), 1 if self.arithmetic.delta_bits else 2).sum(axis=1)
        self.tally.pictures += len(taught)
        self.tally.active += int(units.sum())
        self.tally.taught += int(taught.sum())
        self.tally.taught_active += int((units * taught).sum())
        self.tally.errors += int((raise_by != 0).sum())
        self.tally.gains += int((lessons * units).sum())
        self.tally.moved += int((news != 0).sum())


def is_ahead(scores: Values, digit: int, lead: int) -> Truths:
    """Tell where a digit's score is at least a lead above all others, of scores (seeds, 10)."""
    return np.asarray(scores[:, digit] - np.delete(scores, digit, axis=1).max(axis=1) >= lead)


def move(weights: Values, velocities: Values, slow: bool) -> tuple[Values, Values]:
    """Return weights and velocities after a step: v -= v / 4, w += v, or v / 16 if it is slow; quotients are rounded."""
    velocities = wrap(velocities - _fade(velocities, MOMENTUM_SHIFT))
    return wrap(weights + (_fade(velocities, SLOW_SHIFT) if slow else velocities)), velocities


def _fade(velocities: Values, bits: int) -> Values:
    return wrap(velocities + (1 << bits - 1)) >> bits


def _round(values: Values, bits: int) -> Values:
    return values + (1 << bits >> 1) >> bits


def _draw(seed: int) -> list[int]:
    """Return a random s8 for each weight and bias, in their order in memory."""
    drawn, state = [], seed
    for _ in range(PARAMETERS):
        state = next_random(state)
        drawn.append((state & 255 ^ 128) - 128)
    return drawn
