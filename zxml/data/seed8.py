"""MNIST in pictures of 8 x 8 pixels of one bit, as a Spectrum of 2019 saw it: the first of each part, in one small file.

seed8.xz holds, compressed:

    15,640 x 8 bytes    the pictures: a byte a row, the leftmost pixel in bit 7
    15,640 bytes        the labels

First come 640 pictures to learn from and 5,000 to choose by, MNIST's first training pictures, then its 10,000 test pictures.

To make it anew from MNIST's four IDX files, with SciPy installed: python -m zxml.data.seed8 FOLDER
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from zxml.data import idx
from zxml.data.dataset import Images, Labels
from zxml.data.pack import check_canonical, run
from zxml.data.shipped import read_unaltered
from zxml.errors import DataError
from zxml.ir import PICTURE_SIDE

PATH = Path(__file__).with_name("seed8.xz")
SHA256 = "795d7650eef1ba3e0ffffa6e548581d146775cd269f4b33c7495010db93cf374"
SIDE = 8
CROP = 24  # pixels of the middle that are shrunk to a third
GREY = 48  # what ink must be darker than
TRAIN_COUNT, VALIDATION_COUNT, TEST_COUNT = 640, 5_000, 10_000


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures (n, 8, 8) of zeros and ones and their labels (n,), both u8."""

    images: Images
    labels: Labels

    def first(self, count: int) -> Pictures:
        """Return the first so many."""
        return Pictures(self.images[:count], self.labels[:count])


@dataclass(frozen=True, eq=False)
class Parts:
    """Pictures to learn from, to choose by, and to test on."""

    train: Pictures
    validation: Pictures
    test: Pictures


def load(path: Path = PATH) -> Parts:
    """Return the shipped pictures; raise DataError if the file is missing, truncated or altered."""
    cure = "install zxml again, or make the file anew with `python -m zxml.data.seed8 FOLDER`"
    content = read_unaltered(path, SHA256, "the 8 x 8 pictures", cure)
    return split(unpack(content))


def split(pictures: Pictures) -> Parts:
    """Return the three parts of all pictures in the file's order."""
    ends = TRAIN_COUNT, TRAIN_COUNT + VALIDATION_COUNT
    parts = zip(np.split(pictures.images, ends), np.split(pictures.labels, ends), strict=True)
    return Parts(*(Pictures(images, labels) for images, labels in parts))


def pack(pictures: Pictures) -> bytes:
    """Return the file of pictures; the same pictures give the same bytes."""
    rows = np.packbits(pictures.images, axis=2)
    return lzma.compress(rows.tobytes() + pictures.labels.tobytes(), preset=9 | lzma.PRESET_EXTREME)


def unpack(content: bytes) -> Pictures:
    """Return the pictures that `pack` wrote."""
    values = np.frombuffer(lzma.decompress(content), np.uint8)
    count = len(values) // (SIDE + 1)
    return Pictures(np.unpackbits(values[:-count].reshape(count, SIDE, 1), axis=2), values[-count:])


def shrink(greys: Images) -> Images:
    """Return pictures (n, 8, 8) of grey pictures (n, 28, 28): the middle 24 x 24, a third of that by splines, and a threshold.

    Raises DataError where SciPy, whose splines they are, is not installed.
    """
    try:
        zoom = import_module("scipy.ndimage").zoom
    except ImportError:
        raise DataError("shrinking pictures: wanted SciPy, got none; pip install scipy") from None
    edge = (greys.shape[1] - CROP) // 2
    middle = greys[:, edge : edge + CROP, edge : edge + CROP]
    return np.asarray(np.stack([zoom(grey, SIDE / CROP) for grey in middle]) > GREY, np.uint8)


def pack_folder(folder: Path) -> bytes:
    """Return the bytes of seed8.xz made from a folder; raise DataError unless it holds MNIST's own four files."""
    check_canonical(folder)
    greys, labels = [], []
    parts = (idx.TRAIN_IMAGES, idx.TRAIN_LABELS, TRAIN_COUNT + VALIDATION_COUNT), (idx.TEST_IMAGES, idx.TEST_LABELS, TEST_COUNT)
    for images_name, labels_name, count in parts:
        shape = PICTURE_SIDE, PICTURE_SIDE
        greys.append(idx.parse(idx.read_file(folder, images_name), folder / images_name, shape)[:count])
        labels.append(idx.parse(idx.read_file(folder, labels_name), folder / labels_name, ())[:count])
    return pack(Pictures(shrink(np.concatenate(greys)), np.concatenate(labels)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m zxml.data.seed8", description="Make seed8.xz anew from MNIST's IDX files.")
    return run(parser, pack_folder, PATH, arguments)


if __name__ == "__main__":
    sys.exit(main())
