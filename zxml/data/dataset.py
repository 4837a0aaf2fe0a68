"""Pictures of one bit a pixel with their labels, and the words that the OpenCL side trains on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.spec import InputSpec

Images = NDArray[np.uint8]  # (n, 28, 28), zeros and ones
Labels = NDArray[np.uint8]  # (n,), 0 to 9
Rows = NDArray[np.uint32]  # (n, rows), bit c = column c

THRESHOLD = 128  # the least grey that counts as ink
VALIDATION_SHARE = 12  # the last twelfth of the training pictures is kept for validation: 5,000 of 60,000


@dataclass(frozen=True, eq=False)
class Dataset:
    """Pictures (n, 28, 28) of zeros and ones and labels (n,), both u8, in three parts."""

    name: str
    train_images: Images
    train_labels: Labels
    validation_images: Images
    validation_labels: Labels
    test_images: Images
    test_labels: Labels


def split(name: str, images: Images, labels: Labels, test_images: Images, test_labels: Labels) -> Dataset:
    """Return the dataset whose validation part is the last twelfth of the training pictures."""
    cut = len(images) - len(images) // VALIDATION_SHARE
    return Dataset(name, images[:cut], labels[:cut], images[cut:], labels[cut:], test_images, test_labels)


def pack_rows(images: Images, window: InputSpec) -> Rows:
    """Return the window's rows of pictures (n, 28, 28) as words (n, rows): bit c is column c, bit 0 the leftmost."""
    cut = images[:, window.top : window.top + window.rows, window.left : window.left + window.cols]
    octets = np.packbits(cut, axis=2, bitorder="little")  # (n, rows, 1 to 4)
    words = np.zeros((*octets.shape[:2], 4), np.uint8)
    words[:, :, : octets.shape[2]] = octets
    return words.view("<u4")[:, :, 0].astype(np.uint32)
