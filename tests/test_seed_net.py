"""The seed's net in whole numbers: the arrays compute what loops over single pixels do, and learn as the documents say."""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zxml import data, train
from zxml.data import idx, pack, seed8
from zxml.errors import DataError
from zxml.learn.correct import next_random
from zxml.learn.seed import command, cost
from zxml.learn.seed.arithmetic import ARITHMETICS, CHOSEN, EXACT, Arithmetic
from zxml.learn.seed.exact import ExactNet, make_net
from zxml.learn.seed.net import BATCH, CLASSES, LEAD, SCORE_ONE, Bits, Net, Tally, see_windows, wrap

PAGE = Path(__file__).parent.parent / "docs" / "seed_network.md"
LOAD = seed8.load
EXTREMES = [np.full((1, 8, 8), ink, np.uint8) for ink in (0, 1)]
PICTURES = st.integers(0, 2**32 - 1).flatmap(lambda seed: st.sampled_from([0, 0.1, 0.4, 1]).map(lambda ink: noise(seed, ink)))
SHORT = [arithmetic for name, arithmetic in ARITHMETICS.items() if name != EXACT]


def noise(seed: int, ink: float, n: int = 3) -> Bits:
    return (np.random.default_rng(seed).random((n, 8, 8)) < ink).astype(np.uint8)


def random_net(arithmetic: Arithmetic, seed: int, weight: int = 3000) -> Net:
    """Return one net whose weights and velocities are up to a size."""
    net, random = make_net(arithmetic, [1]), np.random.default_rng(seed)
    for name in ("filters", "dense", "filter_velocity", "dense_velocity"):
        shape = getattr(net, name).shape
        setattr(net, name, random.integers(-weight, weight, shape))
    return net


def signed(number: int, bits: int = 16) -> int:
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def shifted(number: int, bits: int) -> int:
    """Return a number / 2^bits, rounded upwards if it is halfway."""
    return int((2 * number // (1 << bits) + 1) // 2)


class SlowNet:
    """What Net does, with single numbers and without tables of patterns."""

    def __init__(self, net: Net) -> None:
        self.arithmetic = net.arithmetic
        self.filters, self.filter_velocity = net.filters[0].tolist(), net.filter_velocity[0].tolist()
        self.dense, self.dense_velocity = net.dense[0].tolist(), net.dense_velocity[0].tolist()
        self.taught = [[0] * 10 for _ in range(12)]

    def window(self, picture: list[list[int]], filter_: int, y: int, x: int) -> int:
        fine, weights, total = self.arithmetic.fine, self.filters[filter_], 0
        for row in range(3):
            part = sum(weights[3 * row + column] * picture[y + row][x + column] for column in range(3))
            part += weights[9] if row == 0 else 0
            total += signed(part + (1 << 7 - fine)) >> 8 - fine
        return signed(total, 16 if fine else 8)

    def look(self, picture: list[list[int]]) -> tuple[list[int], list[tuple[int, int]], list[int]]:
        levels, places = [], []
        for unit in range(108):
            filter_, place = divmod(unit, 9)
            corners = [(2 * (place // 3) + q // 2, 2 * (place % 3) + q % 2) for q in range(4)]
            sums = [(self.window(picture, filter_, y, x), number) for number, (y, x) in enumerate(corners)]
            best, number = max(sums)
            levels.append(min(max(best, 0), (1 << self.arithmetic.level_bits) - 1))
            places.append(corners[number])
        scores = [signed(sum(level * (w >> 8) for level, w in zip(levels, row, strict=True))) for row in self.dense]
        return levels, places, scores

    def wrong(self, off: int, own: bool) -> int:
        arithmetic = self.arithmetic
        if arithmetic.delta_bits is None:
            limits = arithmetic.digit_limits if own else arithmetic.other_limits
            grade = (abs(off) >= limits.near) + (abs(off) >= limits.far)
            return grade if off > 0 else -grade
        most = 1 << arithmetic.delta_bits - 1
        return min(max(shifted(off, 11 + arithmetic.fine - arithmetic.delta_bits), -most), most - 1)

    def learn(self, picture: list[list[int]], digit: int) -> list[int]:
        levels, places, scores = self.look(picture)
        arithmetic = self.arithmetic
        fine, bits = arithmetic.fine, arithmetic.delta_shift
        if scores[digit] - max(scores[:digit] + scores[digit + 1 :]) >= LEAD << fine:
            return scores
        raise_by = [-self.wrong(s - (k == digit) * (SCORE_ONE << fine), k == digit) for k, s in enumerate(scores)]
        for unit, (y, x) in enumerate(places):
            if levels[unit] == 0:
                continue
            news = signed(shifted(sum(r * (row[unit] >> 8) for r, row in zip(raise_by, self.dense, strict=True)), bits), 8)
            for velocity, r in zip(self.dense_velocity, raise_by, strict=True):
                velocity[unit] = signed(velocity[unit] + shifted(2 * r * levels[unit], bits + fine))
            for tap in range(9):
                self.taught[unit // 9][tap] += news * picture[y + tap // 3][x + tap % 3]
            self.taught[unit // 9][9] += news
        return scores

    def step(self, slow: bool) -> None:
        for velocity, taught in zip(self.filter_velocity, self.taught, strict=True):
            velocity[:] = [
                signed(v + (signed(t) >> self.arithmetic.lesson_shift)) for v, t in zip(velocity, taught, strict=True)
            ]
        self.taught = [[0] * 10 for _ in range(12)]
        for weights, velocities in ((self.filters, self.filter_velocity), (self.dense, self.dense_velocity)):
            for weight, velocity in zip(weights, velocities, strict=True):
                velocity[:] = [signed(v - (signed(v + 2) >> 2)) for v in velocity]
                moves = [signed(v + 8) >> 4 if slow else v for v in velocity]
                weight[:] = [signed(w + m) for w, m in zip(weight, moves, strict=True)]


@settings(max_examples=60, deadline=None)
@given(PICTURES, st.sampled_from(SHORT), st.integers(0, 99), st.sampled_from([900, 6000, 32_768]), st.booleans())
def test_learning_is_its_loop_over_single_numbers(pictures: Bits, short: Arithmetic, seed: int, size: int, slow: bool) -> None:
    net = random_net(short, seed, size)
    single = SlowNet(net)
    for digit, (picture, windows) in enumerate(zip(pictures, see_windows(pictures), strict=True), seed % 8):
        assert net.learn(windows, digit).scores[0, 0].tolist() == single.learn(picture.tolist(), digit)
    net.step(slow)
    single.step(slow)
    for name in ("filters", "filter_velocity", "dense", "dense_velocity"):
        assert getattr(net, name)[0].tolist() == getattr(single, name), name
    assert not net.lessons.any()


@given(PICTURES)
def test_windows_are_the_patterns_of_single_pixels(pictures: Bits) -> None:
    windows = see_windows(pictures)
    for place, window, row in np.ndindex(9, 4, 3):
        y, x = 2 * (place // 3) + window // 2 + row, 2 * (place % 3) + window % 2
        wanted = pictures[:, y, x] * 4 + pictures[:, y, x + 1] * 2 + pictures[:, y, x + 2]
        assert (windows[:, place, window, row] == wanted).all()


@settings(max_examples=10)
@given(PICTURES, st.integers(0, 99))
def test_exact_scores_are_convolution_pooling_and_products_in_4_12(pictures: Bits, seed: int) -> None:
    net = random_net(ARITHMETICS[EXACT], seed)
    picture, filters = pictures[0].astype(int), net.filters[0]
    levels = []
    for unit in range(108):
        taps, place = filters[unit // 9, :9].reshape(3, 3), unit % 9
        corners = [(2 * (place // 3) + q // 2, 2 * (place % 3) + q % 2) for q in range(4)]
        sums = [int((taps * picture[y : y + 3, x : x + 3]).sum() + filters[unit // 9, 9]) for y, x in corners]
        levels.append(max(0, *sums))
    wanted = [signed(sum(shifted(level * int(w), 12) for level, w in zip(levels, row, strict=True))) for row in net.dense[0]]
    assert net.look(see_windows(pictures)[:1]).scores[0, 0].tolist() == wanted


def test_an_exact_step_goes_down_the_gradient_of_the_squared_error() -> None:
    picture, digit = noise(5, 0.4, 1), 3
    net = ExactNet([7])
    before = net.look(see_windows(picture)).scores[0, 0]
    for _ in range(20):
        net.learn(see_windows(picture)[0], digit)
        net.step(slow=False)
    after = net.look(see_windows(picture)).scores[0, 0]
    target = np.where(np.arange(CLASSES) == digit, 4096, 0)
    assert abs(after - target).sum() < abs(before - target).sum() / 2


@pytest.mark.parametrize("arithmetic", SHORT, ids=lambda arithmetic: arithmetic.name)
def test_ten_examples_of_two_digits_are_learned(arithmetic: Arithmetic) -> None:
    train_part = seed8.load().train
    chosen = np.flatnonzero(train_part.labels < 2)[:BATCH]
    windows, labels = see_windows(train_part.images[chosen]), train_part.labels[chosen]
    net = Net(arithmetic, [1, 2])
    for _ in range(30):
        for window, label in zip(windows, labels, strict=True):
            net.learn(window, int(label))
        net.step(slow=False)
    assert net.accuracy(windows, labels) == [1, 1]


@pytest.mark.parametrize("picture", EXTREMES)
def test_a_picture_that_is_ahead_teaches_nothing(picture: Bits) -> None:
    net = random_net(CHOSEN, 1)
    net.filters[:] = 0
    net.filters[:, :, 9] = 256
    net.dense[:] = 0
    net.dense[:, 4] = 256 * 3  # a score of 108 * 3, just ahead
    before = net.dense_velocity.copy()
    net.learn(see_windows(picture)[0], 4)
    assert (net.dense_velocity == before).all()
    assert (net.tally.taught, net.tally.pictures) == (0, 1)


def test_seeds_side_by_side_learn_what_each_does_alone() -> None:
    windows, labels = see_windows(seed8.load().train.images[:20]), seed8.load().train.labels[:20]
    nets = [Net(CHOSEN, seeds) for seeds in ([1, 9, 400], [1], [9], [400])]
    for net in nets:
        for i, (window, label) in enumerate(zip(windows, labels, strict=True), 1):
            net.learn(window, int(label))
            if i % BATCH == 0:
                net.step(slow=i == 20)
    for which, alone in enumerate(nets[1:]):
        assert (nets[0].dense[which] == alone.dense[0]).all()
        assert (nets[0].filters[which] == alone.filters[0]).all()
    assert (nets[1].dense != nets[2].dense).any()


def test_first_weights_are_the_random_numbers_in_turn() -> None:
    net, state = Net(CHOSEN, [77]), 77
    for i in range(120):
        state = next_random(state)
        assert net.filters[0].ravel()[i] == (512 if i % 10 == 9 else 8 * signed(state, 8))
    for weight in net.dense[0].ravel().tolist():
        state = next_random(state)
        assert weight == 2 * signed(state, 8)


@given(st.integers(-(2**31), 2**31), st.sampled_from([8, 16]))
def test_wrapping_keeps_the_lower_bits(number: int, bits: int) -> None:
    assert int(wrap(np.array([number]), bits)[0]) == signed(number, bits)


def test_the_shipped_pictures_are_mnists_first() -> None:
    parts, dataset = seed8.load(), data.load("mnist")
    assert [len(part.labels) for part in (parts.train, parts.validation, parts.test)] == [640, 5000, 10_000]
    assert (np.concatenate([parts.train.labels, parts.validation.labels]) == dataset.train_labels[:5640]).all()
    assert (parts.test.labels == dataset.test_labels).all()
    ink = dataset.test_images[:, 2:26, 2:26].reshape(-1, 8, 3, 8, 3).sum(axis=(2, 4))
    assert np.corrcoef(ink.ravel(), parts.test.images.ravel())[0, 1] > 0.6
    assert set(np.unique(parts.train.images)) == {0, 1}


def test_packed_pictures_come_back() -> None:
    pictures = seed8.Pictures(noise(1, 0.4, 30), np.arange(30, dtype=np.uint8) % 10)
    back = seed8.unpack(seed8.pack(pictures))
    assert (back.images == pictures.images).all()
    assert (back.labels == pictures.labels).all()
    assert len(pictures.first(7).labels) == len(pictures.first(7).images) == 7


def test_a_damaged_or_missing_file_is_an_error_that_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"got no file .*`python -m zxml\.data\.seed8 FOLDER"):
        seed8.load(tmp_path / "seed8.xz")
    (tmp_path / "seed8.xz").write_bytes(seed8.PATH.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"wanted SHA-256 795d.* on 61211 bytes"):
        seed8.load(tmp_path / "seed8.xz")


def write_idx(folder: Path, count: int) -> None:
    for images, labels in ((idx.TRAIN_IMAGES, idx.TRAIN_LABELS), (idx.TEST_IMAGES, idx.TEST_LABELS)):
        greys = np.random.default_rng(count).integers(0, 256, (count, 28, 28)).astype(np.uint8)
        sizes = np.array([count, 28, 28], ">u4").tobytes()
        (folder / images).write_bytes(bytes([0, 0, 8, 3]) + sizes + greys.tobytes())
        (folder / labels).write_bytes(bytes([0, 0, 8, 1]) + sizes[:4] + bytes(i % 10 for i in range(count)))


def test_the_file_can_be_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_idx(tmp_path, 12)
    ndimage = ModuleType("scipy.ndimage")
    monkeypatch.setattr(ndimage, "zoom", lambda grey, factor: grey[::3, ::3] if factor == 1 / 3 else None, raising=False)
    monkeypatch.setitem(sys.modules, "scipy", ModuleType("scipy"))
    monkeypatch.setitem(sys.modules, "scipy.ndimage", ndimage)
    monkeypatch.setattr(seed8, "check_canonical", lambda folder: None)
    assert seed8.main([str(tmp_path), "--out", str(tmp_path / "new.xz")]) == 0
    made = seed8.unpack((tmp_path / "new.xz").read_bytes())
    greys = idx.parse((tmp_path / idx.TRAIN_IMAGES).read_bytes(), tmp_path, (28, 28))
    assert (made.images[:12] == (greys[:, 2:26:3, 2:26:3] > 48)).all()
    assert made.labels.tolist() == [*range(10), 0, 1] * 2


def test_without_scipy_or_mnists_own_files_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_idx(tmp_path, 3)
    assert seed8.main([str(tmp_path), "--out", str(tmp_path / "new.xz")]) == 1
    assert pack.CANONICAL[idx.TRAIN_IMAGES] in capsys.readouterr().err
    monkeypatch.setattr(seed8, "check_canonical", lambda folder: None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.ndimage", None)
    assert seed8.main([str(tmp_path), "--out", str(tmp_path / "new.xz")]) == 1
    assert "wanted SciPy, got none; pip install scipy" in capsys.readouterr().err
    assert not (tmp_path / "new.xz").exists()


def options(*arguments: str) -> argparse.Namespace:
    return train.make_seed_parser().parse_args(arguments)


@cache
def few() -> seed8.Parts:
    parts = LOAD()
    return seed8.Parts(parts.train.first(100), parts.validation.first(200), parts.test.first(700))


@pytest.fixture
def _few_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed8, "load", few)


@pytest.mark.usefixtures("_few_pictures")
def test_the_command_prints_a_row_an_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["seed", "--epochs", "2", "--test"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].split() == ["epoch", "machine", "time", "validation", "640", "10,000"]
    assert [row.split()[0] for row in rows[1:]] == ["1", "2"]
    assert [len(row.split()) for row in rows[1:]] == [5, 5]


@pytest.mark.usefixtures("_few_pictures")
@pytest.mark.parametrize("name", ARITHMETICS)
def test_the_command_prints_json_for_every_arithmetic(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(options("--arithmetic", name, "--epochs", "1", "--seeds", "2", "--json")) == 0
    (epoch,) = json.loads(capsys.readouterr().out)
    assert (epoch["arithmetic"], epoch["seeds"], epoch["epoch"], epoch["test_accuracy"]) == (name, 2, 1, None)
    assert 0 < epoch["validation_accuracy"] < 1
    assert (epoch["machine_seconds"] is not None) == (name == CHOSEN.name)


@pytest.mark.parametrize("wrong", [("--epochs", "0"), ("--seeds", "0"), ("--seeds", "65536")])
def test_a_wrong_option_is_an_error_that_names_it(wrong: tuple[str, str]) -> None:
    with pytest.raises(DataError, match=f"{wrong[0]} must be .* got {wrong[1]}"):
        command.run(options(*wrong))


def test_small_steps_come_last_and_never_in_an_only_epoch() -> None:
    net, exact = Net(CHOSEN, [1]), ExactNet([1])
    assert [net.first_slow(epochs) for epochs in (1, 2, 5)] == [2, 2, 5]
    assert exact.first_slow(5) == 3


def test_the_cost_of_nothing_is_nothing() -> None:
    assert cost.tstates(Tally()) == 0
    assert cost.tstates(Tally(pictures=1, active=2)) == cost.LEARN_PICTURE + 2 * cost.LEARN_ACTIVE


def products(tally: Tally, graded: bool) -> int:
    """Return the products a picture: of an active unit ten with weights, and for each error one of each with it."""
    return round((CLASSES * tally.active + (0 if graded else 2 * tally.gains)) / tally.pictures)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARITHMETICS)
def test_the_page_tells_what_each_arithmetic_reaches(name: str) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    net = make_net(ARITHMETICS[name], list(range(1, 9)))
    *_, last = command.train(net, seed8.load(), command.EPOCHS, test=True)
    assert last.test_accuracy_640 is not None
    accuracies = last.validation_accuracy, last.test_accuracy_640, last.test_accuracy
    row = " | ".join(f"{accuracy:.1%}".replace("%", " %") for accuracy in accuracies)
    row += f" | {products(net.tally, ARITHMETICS[name].delta_bits is None):,}"
    assert any(f"| {row}" in line and f"`{name}`" in line for line in lines), f"{PAGE}: {name} {row}"


@pytest.mark.slow
def test_the_chosen_arithmetic_reads_more_of_the_seeds_640_than_the_seed_did() -> None:
    net = Net(CHOSEN, list(range(1, 9)))
    *_, last = command.train(net, seed8.load(), command.EPOCHS, test=True)
    assert last.test_accuracy_640 is not None
    assert last.test_accuracy_640 >= 0.772
