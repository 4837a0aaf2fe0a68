"""MNIST as the product ships it: one bit a pixel, in one file that needs no network.

mnist.xz holds, compressed:

    70,000 x 98 bytes   the pictures, 784 bits each, row by row, the first pixel in bit 0 of the first byte
    70,000 bytes        the labels

The first 60,000 are MNIST's training pictures, the rest its test pictures. `zxml.data.pack` makes the file.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np

from zxml.data import idx
from zxml.data.dataset import Dataset, Images, Labels, split
from zxml.data.shipped import read_unaltered
from zxml.ir import PICTURE_SIDE

PATH = Path(__file__).with_name("mnist.xz")
SHA256 = "4e259f711263e4d5b9d90afda15b84671043b0484d5137e3a65bd444137ffd8c"
TRAIN_COUNT, TEST_COUNT = 60_000, 10_000
PICTURE_NBYTES = PICTURE_SIDE * PICTURE_SIDE // 8


def load(folder: Path | None = None) -> Dataset:
    """Return MNIST from the shipped file, or a dataset of the same format from a folder of four IDX files."""
    return read_shipped(PATH) if folder is None else idx.read_folder("mnist", folder)


def read_shipped(path: Path) -> Dataset:
    """Return the dataset in the product's own file; raise DataError if it is missing, truncated or altered."""
    cure = "install zxml again, or rebuild the file with `python -m zxml.data.pack FOLDER`"
    content = read_unaltered(path, SHA256, "the MNIST pictures", cure)
    images, labels = unpack(content)
    return split("mnist", images[:TRAIN_COUNT], labels[:TRAIN_COUNT], images[TRAIN_COUNT:], labels[TRAIN_COUNT:])


def pack(images: Images, labels: Labels) -> bytes:
    """Return the file of pictures (n, 28, 28) and labels (n,); the same pictures give the same bytes."""
    bits = np.packbits(images.reshape(len(images), -1), axis=1, bitorder="little")
    return lzma.compress(bits.tobytes() + labels.tobytes(), preset=9 | lzma.PRESET_EXTREME)


def unpack(content: bytes) -> tuple[Images, Labels]:
    """Return the pictures (n, 28, 28) and labels (n,) that `pack` wrote."""
    values = np.frombuffer(lzma.decompress(content), np.uint8)
    count = len(values) // (PICTURE_NBYTES + 1)
    bits, labels = values[:-count].reshape(count, PICTURE_NBYTES), values[-count:]
    return np.unpackbits(bits, axis=1, bitorder="little").reshape(count, PICTURE_SIDE, PICTURE_SIDE), labels
