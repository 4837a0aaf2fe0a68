from __future__ import annotations

import gzip
import hashlib
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from zxml.data import DATASETS, Dataset, load, mnist, pack, pack_rows
from zxml.data import idx as idx_format
from zxml.data.dataset import Images, Labels
from zxml.errors import DataError
from zxml.spec import InputSpec

TRAIN_COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
TEST_COUNTS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
RANDOM = np.random.default_rng(1)


@pytest.fixture(scope="module")
def shipped() -> Dataset:
    return load("mnist")


def idx_bytes(values: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    header = bytes([0, 0, 8, values.ndim]) + b"".join(size.to_bytes(4, "big") for size in values.shape)
    return header + values.tobytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, count in ((idx_format.TRAIN_IMAGES, 24), (idx_format.TEST_IMAGES, 5)):
        (tmp_path / name).write_bytes(idx_bytes(RANDOM.integers(0, 256, (count, 28, 28), np.uint8)))
    for name, count in ((idx_format.TRAIN_LABELS, 24), (idx_format.TEST_LABELS, 5)):
        (tmp_path / name).write_bytes(idx_bytes(np.arange(count, dtype=np.uint8) % 10))
    return tmp_path


def one_line_of(error: pytest.ExceptionInfo[DataError]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_shipped_file_has_every_picture_of_each_digit(shipped: Dataset) -> None:
    train = np.concatenate([shipped.train_labels, shipped.validation_labels])
    assert np.bincount(train).tolist() == TRAIN_COUNTS
    assert np.bincount(shipped.test_labels).tolist() == TEST_COUNTS


def test_the_shipped_parts_have_their_sizes(shipped: Dataset) -> None:
    parts = (shipped.train_images, shipped.validation_images, shipped.test_images)
    assert [part.shape for part in parts] == [(55000, 28, 28), (5000, 28, 28), (10000, 28, 28)]
    assert [len(shipped.train_labels), len(shipped.validation_labels), len(shipped.test_labels)] == [55000, 5000, 10000]
    assert all(part.dtype == np.uint8 and part.max() == 1 for part in parts)


def test_the_shipped_bytes_have_the_sha256_in_the_code() -> None:
    assert hashlib.sha256(mnist.PATH.read_bytes()).hexdigest() == mnist.SHA256


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:999] + b"?" + data[1000:], lambda data: b""])
def test_a_truncated_or_altered_file_is_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "mnist.xz"
    path.write_bytes(damage(mnist.PATH.read_bytes()))
    with pytest.raises(DataError) as error:
        mnist.read_shipped(path)
    assert all(word in one_line_of(error) for word in (str(path), "wanted", mnist.SHA256, "got", "install"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        mnist.read_shipped(tmp_path / "mnist.xz")
    assert "mnist.xz" in one_line_of(error)


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(DataError, match="unknown task 'letters'; known: mnist"):
        load("letters")
    assert list(DATASETS) == ["mnist"]


def test_packed_pictures_come_back() -> None:
    images = RANDOM.integers(0, 2, (33, 28, 28), np.uint8)
    labels = np.arange(33, dtype=np.uint8) % 10
    got_images, got_labels = mnist.unpack(mnist.pack(images, labels))
    assert (got_images == images).all()
    assert (got_labels == labels).all()


def all_pictures(dataset: Dataset) -> tuple[Images, Labels]:
    images = np.concatenate([dataset.train_images, dataset.validation_images, dataset.test_images])
    return images, np.concatenate([dataset.train_labels, dataset.validation_labels, dataset.test_labels])


def test_packing_the_same_pictures_gives_the_same_bytes(shipped: Dataset) -> None:
    images, labels = (part[-500:] for part in all_pictures(shipped))
    assert mnist.pack(images, labels) == mnist.pack(images.copy(), labels.copy())


@pytest.mark.slow
def test_packing_all_pictures_gives_the_shipped_file(shipped: Dataset) -> None:
    packed = mnist.pack(*all_pictures(shipped))
    assert lzma.decompress(packed) == lzma.decompress(mnist.PATH.read_bytes())
    assert packed == mnist.PATH.read_bytes()


def test_pack_refuses_files_that_are_not_mnist(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pack.main([str(folder), "--out", str(folder / "out.xz")]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert pack.CANONICAL[idx_format.TRAIN_IMAGES] in message
    assert not (folder / "out.xz").exists()


def test_a_folder_is_thresholded_and_its_last_twelfth_validates(folder: Path) -> None:
    greys = np.frombuffer((folder / idx_format.TRAIN_IMAGES).read_bytes()[16:], np.uint8).reshape(24, 28, 28)
    dataset = load("mnist", folder)
    assert (dataset.train_images == (greys[:22] >= 128)).all()
    assert (dataset.validation_images == (greys[22:] >= 128)).all()
    assert dataset.validation_labels.tolist() == [2, 3]
    assert dataset.test_labels.tolist() == [0, 1, 2, 3, 4]


def test_gzipped_files_are_read_too(folder: Path) -> None:
    plain = load("mnist", folder)
    for path in list(folder.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert (load("mnist", folder).train_images == plain.train_images).all()


def test_a_truncated_gzip_file_is_refused(folder: Path) -> None:
    path = folder / idx_format.TEST_LABELS
    (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
    path.unlink()
    with pytest.raises(DataError, match=r"t10k-labels-idx1-ubyte\.gz: wanted a whole gzip file"):
        load("mnist", folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (idx_format.TRAIN_IMAGES, b"PNG?" + bytes(12), "wanted the IDX magic 00000803, got 504e473f"),
        (idx_format.TRAIN_IMAGES, b"", "got an empty file"),
        (idx_format.TRAIN_IMAGES, bytes([0, 0, 8, 3, 0]), "wanted a header of 16 bytes, got 5"),
        (
            idx_format.TRAIN_IMAGES,
            idx_bytes(np.zeros((24, 20, 20), np.uint8)),
            "wanted pictures of 28 x 28 pixels, got 20 x 20",
        ),
        (
            idx_format.TRAIN_IMAGES,
            idx_bytes(np.zeros((24, 28, 28), np.uint8))[:-1],
            "wanted 18832 bytes for 24 items, got 18831",
        ),
        (idx_format.TRAIN_IMAGES, idx_bytes(np.zeros((23, 28, 28), np.uint8)), "wanted 23 labels, one a picture, got 24"),
        (idx_format.TRAIN_LABELS, idx_bytes(np.full(24, 10, np.uint8)), "labels must be 0 to 9, got 10"),
    ],
)
def test_a_broken_idx_file_is_refused(folder: Path, name: str, content: bytes, message: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(DataError) as error:
        load("mnist", folder)
    assert message in one_line_of(error)
    assert str(folder) in one_line_of(error)


def test_a_missing_idx_file_is_named(folder: Path) -> None:
    (folder / idx_format.TEST_IMAGES).unlink()
    with pytest.raises(DataError, match="t10k-images-idx3-ubyte: no such file"):
        load("mnist", folder)


def test_too_few_pictures_to_validate_are_refused(folder: Path) -> None:
    (folder / idx_format.TRAIN_IMAGES).write_bytes(idx_bytes(np.zeros((11, 28, 28), np.uint8)))
    (folder / idx_format.TRAIN_LABELS).write_bytes(idx_bytes(np.zeros(11, np.uint8)))
    with pytest.raises(DataError, match="wanted 12 pictures or more, got 11"):
        load("mnist", folder)


@pytest.mark.parametrize("window", [InputSpec(0, 0, 1, 1), InputSpec(3, 9, 7, 5), InputSpec(), InputSpec(0, 0, 28, 28)])
def test_bit_c_of_a_packed_row_is_column_c(window: InputSpec) -> None:
    images = RANDOM.integers(0, 2, (7, 28, 28), np.uint8)
    rows = pack_rows(images, window)
    assert rows.dtype == np.uint32
    for n, r in np.ndindex(rows.shape):
        pixels = images[n, window.top + r, window.left : window.left + window.cols]
        assert rows[n, r] == sum(int(pixel) << c for c, pixel in enumerate(pixels))
