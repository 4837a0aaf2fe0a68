"""IDX, the format of MNIST's own files: a big-endian header and then bytes.

    4 bytes   magic: 0, 0, 8 (bytes follow), the number of dimensions
    4 bytes   each dimension: the count, for pictures then rows and columns
    the rest  the values, row by row

Source: https://yann.lecun.com/exdb/mnist/
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zxml.data.dataset import THRESHOLD, VALIDATION_SHARE, Dataset, Images, Labels, split
from zxml.errors import DataError
from zxml.ir import PICTURE_SIDE

TRAIN_IMAGES = "train-images-idx3-ubyte"
TRAIN_LABELS = "train-labels-idx1-ubyte"
TEST_IMAGES = "t10k-images-idx3-ubyte"
TEST_LABELS = "t10k-labels-idx1-ubyte"
CLASSES = 10
AGAIN = "fetch the file again"


def read_folder(name: str, folder: Path) -> Dataset:
    """Read the four IDX files of a folder, plain or .gz; raise DataError if one is missing, broken or does not fit."""
    images, labels = read_pair(folder, TRAIN_IMAGES, TRAIN_LABELS)
    if len(images) < VALIDATION_SHARE:
        raise DataError(f"{folder / TRAIN_IMAGES}: wanted {VALIDATION_SHARE} pictures or more, got {len(images)}; add pictures")
    return split(name, images, labels, *read_pair(folder, TEST_IMAGES, TEST_LABELS))


def read_pair(folder: Path, images_name: str, labels_name: str) -> tuple[Images, Labels]:
    """Return thresholded pictures (n, 28, 28) and their labels (n,); raise DataError unless they fit together."""
    greys = parse(read_file(folder, images_name), folder / images_name, (PICTURE_SIDE, PICTURE_SIDE))
    labels = parse(read_file(folder, labels_name), folder / labels_name, ())
    if len(greys) != len(labels):
        cure = "take both files from one dataset"
        raise DataError(f"{folder / labels_name}: wanted {len(greys)} labels, one a picture, got {len(labels)}; {cure}")
    if labels.max(initial=0) >= CLASSES:
        cure = "use a dataset of ten classes"
        raise DataError(f"{folder / labels_name}: labels must be 0 to {CLASSES - 1}, got {labels.max()}; {cure}")
    return (greys >= THRESHOLD).astype(np.uint8), labels


def read_file(folder: Path, name: str) -> bytes:
    """Return the bytes of an IDX file, or of its .gz; raise DataError if neither can be read."""
    path, zipped = folder / name, folder / f"{name}.gz"
    try:
        if path.exists() or not zipped.exists():
            return path.read_bytes()
        return gzip.decompress(zipped.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{path}: no such file, nor {zipped.name}; put the four IDX files into that folder") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{zipped}: wanted a whole gzip file, got a broken one ({error}); {AGAIN}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot read ({error.strerror}); name a folder of four readable IDX files") from None


def parse(content: bytes, path: Path, item_shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the values of an IDX file, (n, *item_shape); raise DataError unless it is whole and so shaped."""
    magic = bytes([0, 0, 8, 1 + len(item_shape)])
    if content[:4] != magic:
        raise DataError(f"{path}: wanted the IDX magic {magic.hex()}, got {content[:4].hex() or 'an empty file'}; {AGAIN}")
    start = 4 + 4 * (1 + len(item_shape))
    if len(content) < start:
        raise DataError(f"{path}: wanted a header of {start} bytes, got {len(content)}; {AGAIN}")
    count, *shape = (int(size) for size in np.frombuffer(content[4:start], ">u4"))
    if tuple(shape) != item_shape:
        sides = " x ".join(map(str, item_shape)), " x ".join(map(str, shape))
        raise DataError(f"{path}: wanted pictures of {sides[0]} pixels, got {sides[1]}; scale them before")
    wanted = start + count * int(np.prod(item_shape, dtype=np.int64))
    if len(content) != wanted:
        raise DataError(f"{path}: wanted {wanted} bytes for {count} items, got {len(content)}; {AGAIN}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(count, *item_shape)
