"""Learning by counting: a weight is the logarithm of how often a patch showed a pattern, in pictures of one digit.

The sum of the logarithms that a picture picks is, but for a constant, the logarithm of how likely the picture is for the digit,
if patches had nothing to do with each other (naive Bayes). Nothing is multiplied, and each picture is seen once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.learn.pictures import CLASSES, PATCH_COLS, PATCH_ROWS, PATCHES, PATTERNS, Bits, Patterns, border, see_patterns

OCTAVE = 12  # what a weight grows by when a count doubles
WEIGHT_ZERO, WEIGHT_MOST = 128, 255  # a stored weight is this much above its value, so that all are u8

Counts = NDArray[np.uint8]
Values = NDArray[np.int64]

LOG_TABLE: Values = np.rint(OCTAVE * np.log2(2 * np.arange(256) + 1)).astype(np.int64)  # (256,), 0..108


@dataclass(frozen=True, eq=False)
class Weights:
    """What has been learned; `correct` changes it in place.

    bias: (10,), u16, the score of a blank picture; weight: (10, 80, 16), u8, 128 + what a pattern is worth more than a blank
    patch; pattern 0 is never looked up and stays 0.
    """

    bias: NDArray[np.uint16]
    weight: NDArray[np.uint8]

    def scores(self, patterns: Patterns) -> Values:
        """Return scores (n, 10) of patterns (n, 10, 8): the bias plus the weights of all patches that are not blank.

        A picture's ten scores are too great by 128 for each such patch, which changes neither their order nor their distances.
        """
        seen = patterns.reshape(-1, PATCHES)
        of_digit = [self.weight[c, np.arange(PATCHES), seen].sum(axis=1, dtype=np.int64) for c in range(CLASSES)]
        return np.stack(of_digit, axis=1) + self.bias.astype(np.int64)

    def accuracy(self, small: Bits, labels: Bits) -> float:
        """Return the share of small pictures (n, 11, 9) whose greatest score is their label's; the first of equals wins."""
        return float((self.scores(see_patterns(small)).argmax(axis=1) == labels).mean())


def count_patterns(small: Bits) -> Counts:
    """Return how often each patch of at most 227 pictures (n, 11, 9) with a border shows each pattern, (12, 10, 16)."""
    patterns = see_patterns(border(small))
    return np.stack([(patterns == k).sum(axis=0) for k in range(PATTERNS)], axis=2).astype(np.uint8)


def sum_shifts(counts: Counts) -> Values:
    """Return the counts of the nine pictures that a shift by up to a pixel makes of each picture, (10, 8, 16), u16.

    Shifting a picture by a pixel moves what a patch shows to the patch beside it, so nine shifts are nine neighbours' counts.
    """
    rows, cols = range(PATCH_ROWS), range(PATCH_COLS)
    total = sum(counts[y : y + len(rows), x : x + len(cols)].astype(np.int64) for y in range(3) for x in range(3))
    return np.asarray(total)


def log(counts: Values) -> Values:
    """Return 12 * log2(2 * count + 1), rounded, u8, of counts below 2048; from 256 on it is an eighth's and three octaves."""
    return np.asarray(np.where(counts < 256, LOG_TABLE[counts & 255], LOG_TABLE[counts >> 3 & 255] + 3 * OCTAVE), np.int64)


def weigh(counts: Counts) -> tuple[int, NDArray[np.uint8]]:
    """Return the bias and the weights (80, 16) of one digit, from its counts (12, 10, 16)."""
    logs = log(sum_shifts(counts)).reshape(PATCHES, PATTERNS)
    weight = np.clip(logs - logs[:, :1] + WEIGHT_ZERO, 0, WEIGHT_MOST).astype(np.uint8)
    weight[:, 0] = 0
    return int(logs[:, 0].sum()), weight


def learn(small: Bits) -> Weights:
    """Return what counting learns from at most 2,270 small pictures (n, 11, 9), of which picture i is a digit i % 10."""
    biases, weights = zip(*(weigh(count_patterns(small[digit::CLASSES])) for digit in range(CLASSES)), strict=True)
    return Weights(np.array(biases, np.uint16), np.stack(weights))
