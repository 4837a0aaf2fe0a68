"""Rebuild zxml/data/mnist.xz from MNIST's four canonical IDX files: python -m zxml.data.pack FOLDER [--out FILE]."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from zxml.data import idx, mnist
from zxml.errors import DataError, ZxmlError
from zxml.files import write_whole

CANONICAL = {  # SHA-256 of the uncompressed files
    idx.TRAIN_IMAGES: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    idx.TRAIN_LABELS: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    idx.TEST_IMAGES: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    idx.TEST_LABELS: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def check_canonical(folder: Path) -> None:
    """Raise DataError unless the folder holds MNIST's own four files, plain or .gz."""
    for name, wanted in CANONICAL.items():
        got = hashlib.sha256(idx.read_file(folder, name)).hexdigest()
        if got != wanted:
            raise DataError(f"{folder / name}: wanted SHA-256 {wanted}, got {got}; fetch MNIST's own file")


def pack_folder(folder: Path) -> bytes:
    """Return the bytes of mnist.xz made from a folder; raise DataError unless it holds the canonical files."""
    check_canonical(folder)
    images, labels = idx.read_pair(folder, idx.TRAIN_IMAGES, idx.TRAIN_LABELS)
    test_images, test_labels = idx.read_pair(folder, idx.TEST_IMAGES, idx.TEST_LABELS)
    return mnist.pack(np.concatenate([images, test_images]), np.concatenate([labels, test_labels]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m zxml.data.pack", description="Rebuild mnist.xz from the four IDX files.")
    return run(parser, pack_folder, mnist.PATH, arguments)


def run(parser: argparse.ArgumentParser, pack: Callable[[Path], bytes], path: Path, arguments: Sequence[str] | None) -> int:
    """Run a command that makes a file of the package from MNIST's files; return its exit status.

    pack: returns the file's bytes made from a folder; path: where the package has it.
    """
    parser.add_argument("folder", type=Path, help="the folder of MNIST's four IDX files, plain or .gz")
    parser.add_argument("--out", type=Path, default=path, help="the file to write (default: the package's own)")
    options = parser.parse_args(arguments)
    try:
        content = pack(options.folder)
        write_whole(options.out, content)
    except ZxmlError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{options.out}: {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
