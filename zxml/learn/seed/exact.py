"""The seed's own arithmetic: every number in 4.12, every product rounded, momentum 0.9, weight decay, every picture teaches."""

from __future__ import annotations

import numpy as np

from zxml.learn.seed.arithmetic import ARITHMETICS, EXACT, Arithmetic
from zxml.learn.seed.net import CLASSES, TAPS, Net, Seen, Values, wrap

ONE = 4096
RATE, SLOW_RATE, MOMENTUM, DECAY = 41, 4, 3686, 2  # 0.01, 0.001, 0.9 and 0.0005 in 4.12
SLOW_EPOCH = 3


class ExactNet(Net):
    """The nets of some seeds in 4.12: weights, velocities and lessons as those of Net; dense_lessons: (seeds, 10, 108), s16."""

    def __init__(self, seeds: list[int]) -> None:
        """Draw the first weights; a seed is 1 to 65,535."""
        super().__init__(ARITHMETICS[EXACT], seeds)
        self.filters, self.dense = self.filters // 2, self.dense // 2  # smaller ones read better on validation pictures
        self.filters[:, :, TAPS] = 0
        self.dense_lessons = np.zeros_like(self.dense)

    def first_slow(self, epochs: int) -> int:
        """Return the epoch, counted from 1, from which on steps are small."""
        del epochs
        return SLOW_EPOCH

    def tables(self) -> Values:
        """Return what a row of a filter adds for each pattern, (seeds, 12, 3, 8), in 4.12; row 0 holds the bias."""
        return wrap(self._row_sums())

    def look(self, windows: Values) -> Seen:
        """Return what the nets make of pictures, given their windows (n, 9, 4, 3); all in 4.12."""
        greatest, winners = self._pool(windows, 16)
        levels = np.maximum(greatest, 0)
        products = (multiply(levels, self.dense[:, None, digit]) for digit in range(CLASSES))
        return Seen(levels, winners, wrap(np.stack([product.sum(axis=2) for product in products], axis=2)))

    def learn(self, windows: Values, digit: int) -> Seen:
        """Look at a picture of a digit, windows (9, 4, 3), and learn from it; return what was seen."""
        seen = self.look(windows[None])
        levels, scores = seen.levels[:, 0], seen.scores[:, 0]
        raise_by = np.where(np.arange(CLASSES) == digit, ONE, 0) - scores
        self.dense_lessons = wrap(self.dense_lessons + multiply(raise_by[:, :, None], levels[:, None]))
        news = wrap(multiply(raise_by[:, :, None], self.dense).sum(axis=1)) * (levels > 0)
        self._teach(windows, seen.winners[:, 0], news)
        self._count(levels > 0, np.ones(len(scores), np.bool_), raise_by, news)
        return seen

    def step(self, slow: bool) -> None:
        """Change the weights by the velocities: v = 0.9 v + rate (lesson - decay w), w += v."""
        self.filters, self.filter_velocity = move(self.filters, self.filter_velocity, self._gather(), slow)
        self.dense, self.dense_velocity = move(self.dense, self.dense_velocity, self.dense_lessons, slow)
        self.dense_lessons = np.zeros_like(self.dense_lessons)
        self.tally.steps += len(self.filters)
        self.tally.slow_steps += slow * len(self.filters)


def make_net(arithmetic: Arithmetic, seeds: list[int]) -> Net:
    """Return nets that learn with an arithmetic, one for each seed."""
    return ExactNet(seeds) if arithmetic.name == EXACT else Net(arithmetic, seeds)


def multiply(one: Values | int, other: Values) -> Values:
    """Return the rounded products of numbers in 4.12."""
    return wrap(one * other + ONE // 2 >> 12)


def move(weights: Values, velocities: Values, lessons: Values, slow: bool) -> tuple[Values, Values]:
    """Return weights and velocities after a step."""
    gradient = wrap(lessons - multiply(DECAY, weights))
    velocities = wrap(multiply(MOMENTUM, velocities) + multiply(SLOW_RATE if slow else RATE, gradient))
    return wrap(weights + velocities), velocities
