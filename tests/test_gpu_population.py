"""Populations: nets side by side against the float64 oracle, and whole trainings of several."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from tests.gpu_cases import assert_near, make_case, run_case
from zxml import data, train
from zxml.data import Dataset
from zxml.errors import DeviceError, SpecError
from zxml.gpu import checkpoint
from zxml.gpu.device import choose
from zxml.gpu.net import FloatSpec, net_of
from zxml.gpu.population import PopulationStep, has_matrix_units, plan_rounds, sort_together
from zxml.gpu.population_layout import MatrixWeights, pack, unpack
from zxml.gpu.population_trainer import PopulationProgress, train_population
from zxml.gpu.shuffle import Shuffler, epoch_key, permutation
from zxml.gpu.trainer import Trained
from zxml.spec import DistortSpec, HiddenSpec, InputSpec, ModelSpec, OutputSpec, TrainingSpec

STILL = DistortSpec(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SPEC = ModelSpec(
    distort=STILL, hidden=HiddenSpec(units=24), training=TrainingSpec(epochs=2, batch=32, learning_rate=0.01, warmup=0.1)
)


def widths(spec: ModelSpec, *units: int) -> list[ModelSpec]:
    return [replace(spec, seed=seed, hidden=replace(spec.hidden, units=count)) for seed, count in enumerate(units)]


CASES: list[list[Any]] = [
    [FloatSpec(12, 8, True, units=units, batch=32, optimiser="adam", learning_rate=0.01) for units in (64, 5)],
    [FloatSpec(9, 5, False, units=20, batch=64, optimiser="sgd")],
    widths(ModelSpec(training=TrainingSpec(batch=32, weight_decay=0.01)), 58, 7),
    widths(ModelSpec(input=InputSpec(2, 3, 7, 5), output=OutputSpec(units=3), training=TrainingSpec(batch=160)), 1, 9, 4),
    widths(ModelSpec(input=InputSpec(0, 0, 28, 28), training=TrainingSpec(batch=64, optimiser="sgd")), 31),
]


@pytest.mark.parametrize("specs", [CASES[0], *(pytest.param(case, marks=pytest.mark.slow) for case in CASES[1:])])
def test_each_net_of_a_population_moves_as_the_oracle_does(specs: list[Any]) -> None:
    case = make_case(specs, steps=2)
    params, losses = run_case(case, "population")
    assert_near(case, params, losses)


def test_the_same_seeds_give_the_same_bits_and_each_net_its_own() -> None:
    case = make_case(CASES[0], steps=2)
    first, again = (run_case(case, "population")[0] for _ in range(2))
    for one, two in zip(first, again, strict=True):
        for (name, array), (_, other) in zip(one.items(), two.items(), strict=True):
            np.testing.assert_array_equal(array, other, err_msg=name)


@pytest.mark.parametrize(("pictures", "places"), [(1, 1), (700, 640), (4096, 4096)])
def test_the_devices_order_is_a_permutation_of_its_own_for_each_seed_and_epoch(pictures: int, places: int) -> None:
    case = make_case(CASES[1], steps=1)
    shuffler = Shuffler(case.queue, pictures, places, [3, 4])
    order = case.read_order(lambda buffer: shuffler.fill(7, buffer), 2 * places).reshape(2, places)
    for seed, row in zip((3, 4), order, strict=True):
        np.testing.assert_array_equal(row, permutation(pictures, places, epoch_key(seed, 7)))
        assert len({*row.tolist()}) == places
        assert row.max() < pictures


@pytest.mark.parametrize(("rows", "cols"), [(28, 28), (16, 16), (20, 20), (1, 1), (5, 21), (28, 4)])
def test_a_round_of_the_gradient_holds_its_rows_and_each_work_item_loads_at_most_one(rows: int, cols: int) -> None:
    taken, square = plan_rounds(net_of(FloatSpec(rows, cols, False)))
    assert 1 <= taken * cols <= 16 * square
    assert 16 * taken <= 128


@pytest.mark.parametrize("pixels", [784, 45])
def test_weights_for_matrix_units_lie_where_each_lane_reads_them_and_come_back(pixels: int) -> None:
    hidden = np.random.default_rng(0).random((pixels + 1, 3, 64)).astype(np.float32)
    packed = pack(hidden)
    np.testing.assert_array_equal(unpack(packed, pixels), hidden)
    np.testing.assert_array_equal(packed[-192:].reshape(3, 64), hidden[-1])
    words = packed[:-192].reshape(
        -1, 4, 3, 2, 2, 8, 4, 4
    )  # word, warp, kind, unit, half, g, t, pixel: kernels/population_matrix.cl
    assert words[1, 2, 1, 1, 0, 5, 3, 2] == hidden[32 + 3 + 4 * 2, 1, 16 * 2 + 8 + 5]
    assert words[0, 3, 0, 0, 1, 0, 1, 3] == hidden[1 + 4 * 7, 0, 16 * 3]


def test_parameters_written_for_matrix_units_are_read_back() -> None:
    case = make_case(CASES[1], steps=1)
    weights = MatrixWeights(case.queue, net_of(CASES[1][0]), 64, 16, 2)
    weights.write(case.start * 2)
    for params in weights.read([20, 20]):
        for (name, got), (_, wanted) in zip(params.items(), case.start[0].items(), strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=name)


def test_matrix_units_are_used_where_nvidia_has_them_for_pictures_of_bits_and_small_batches() -> None:
    new, old = (SimpleNamespace(vendor="NVIDIA Corporation", compute_capability_major_nv=major) for major in (9, 7))
    bits = net_of(FloatSpec(28, 28, False))
    assert has_matrix_units(new, bits)
    assert not has_matrix_units(old, bits)
    assert not has_matrix_units(SimpleNamespace(vendor="Intel", compute_capability_major_nv=9), bits)
    assert not has_matrix_units(SimpleNamespace(vendor="NVIDIA Corporation"), bits)
    assert not has_matrix_units(new, net_of(FloatSpec(28, 28, True)))
    assert not has_matrix_units(new, net_of(FloatSpec(28, 28, False, batch=160)))
    assert not has_matrix_units(new, net_of(FloatSpec(33, 32, False)))


def nearest_bf16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the numbers of bf16 nearest to values, ties to even, as kernels/matrix_units.cl has them from the device."""
    bits = values.view(np.uint32)
    return np.asarray((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000), np.uint32).view(np.float32)


@given(arrays(np.float32, 16, elements=st.floats(-(2.0**20), 2.0**20, width=32, allow_subnormal=False)))
def test_two_terms_are_a_number_but_for_2_to_the_minus_17_of_it_and_three_are_it_exactly(values: NDArray[np.float32]) -> None:
    values[np.abs(values) < 1e-30] = 0  # terms of less are lost below the least number
    left = values.copy()
    for limit in (2.0**-8, 2.0**-17, 0.0):
        left -= nearest_bf16(left)
        assert (np.abs(left) <= limit * np.abs(values)).all()


def sum_place(sample: int, unit: int) -> int:
    """Return where kernels/population_shared.cl keeps a sum: FOUR_AT, SUM_AT."""
    return (sample * 16 + (unit // 4 ^ sample % 16)) * 4 + unit % 4


def test_sums_have_places_of_their_own_and_work_items_side_by_side_find_theirs_in_different_banks() -> None:
    assert sorted(sum_place(s, u) for s in range(128) for u in range(64)) == list(range(128 * 64))
    for first in range(0, 128, 8):  # a four of the same units in eight samples, and all units of a sample
        assert len({sum_place(first + s, 20) % 32 for s in range(8)}) == 8
    assert len({sum_place(5, u) % 32 for u in range(32)}) == 32


def test_specs_that_differ_in_more_than_their_recipe_are_sorted_apart() -> None:
    fast = replace(SPEC, name="fast", training=replace(SPEC.training, learning_rate=0.1))
    long = replace(SPEC, training=replace(SPEC.training, epochs=9))
    assert sort_together([SPEC, long, fast]) == [[SPEC, fast], [long]]
    with pytest.raises(SpecError, match="differ in more than"):
        train_population([SPEC, long], data.load("mnist"), choose(), lambda _: None)


def test_more_nets_than_the_device_has_memory_for_are_an_error_that_says_how_many_fit() -> None:
    device = SimpleNamespace(max_work_group_size=1024, local_mem_size=49152, max_mem_alloc_size=10_000_000)
    queue: Any = SimpleNamespace(device=device)
    with pytest.raises(DeviceError, match=r"90 nets need a buffer of \d+ bytes, .* train at most 32 at once"):
        PopulationStep(queue, [SPEC] * 90, None, np.zeros(1, np.uint8), 1)


@pytest.fixture(scope="module")
def pictures() -> Dataset:
    whole = data.load("mnist")
    parts = {"train_images": 1600, "train_labels": 1600, "validation_images": 300, "validation_labels": 300}
    return replace(
        whole,
        **{name: getattr(whole, name)[:count] for name, count in parts.items()},
        test_images=whole.test_images[:0],
        test_labels=whole.test_labels[:0],
    )


def run(specs: list[ModelSpec], pictures: Dataset, path: Path | None = None) -> tuple[list[Trained], list[PopulationProgress]]:
    seen: list[PopulationProgress] = []
    return train_population(specs, pictures, choose(), seen.append, path), seen


class KilledError(Exception):
    """What ends a training in the middle, as a kill would."""


def test_a_population_learns_and_continues_after_a_kill_to_the_same_bits(
    pictures: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0)
    specs = [replace(spec, distort=DistortSpec()) for spec in widths(SPEC, 24, 16)]
    whole, seen = run(specs, pictures)
    assert all(trained.accuracy > 0.5 for trained in whole)
    assert [at.epoch for at in seen] == [1, 2]
    assert seen[-1].ever == max(trained.accuracy for trained in whole) >= seen[-1].mean
    path = tmp_path / "checkpoint.npz"

    def kill(at: PopulationProgress) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        train_population(specs, pictures, choose(), kill, path)
    continued, rest = run(specs, pictures, path)
    assert [at.epoch for at in rest] == [2]
    assert [one.model.sha256() for one in continued] == [one.model.sha256() for one in whole]
    assert not path.exists()


@pytest.mark.slow
def test_the_command_trains_seeds_and_specs_as_populations_and_keeps_the_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "[hidden]\nunits = {}\n[distort]\nshift = 0\nrotate = 0\nscale = 0\nshear = 0\nwarp = 0\nthickness = 0\n"
    for name, units in (("a", 6), ("b", 9)):
        (tmp_path / f"{name}.toml").write_text(f'name = "{name}"\n' + text.format(units) + "[training]\nepochs = 1\n")
    files = [str(tmp_path / f"{name}.toml") for name in "ab"]
    words = ["mnist", "--spec", *files, "--seeds", "2", "--backend", "population", "--out", str(tmp_path), "--json"]
    assert train.main(words) == 0
    out, err = capsys.readouterr()
    assert "training a, b on" in err.splitlines()[0]
    assert "kernels in population, 4 nets at once" in err.splitlines()[0]
    assert err.count("validation") >= 4
    assert json.loads(out)["name"] in ("a", "b")
