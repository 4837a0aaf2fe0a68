"""Whole trainings on the device: they learn, repeat bit for bit, keep the best, and can be stopped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from zxml import data, reference
from zxml.data import Dataset
from zxml.errors import SpecError
from zxml.gpu import checkpoint
from zxml.gpu.checkpoint import fingerprint, load_checkpoint, save_checkpoint
from zxml.gpu.device import choose
from zxml.gpu.trainer import Progress, Trained, is_validated, train
from zxml.spec import DistortSpec, HiddenSpec, ModelSpec, TrainingSpec

STILL = DistortSpec(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SPEC = ModelSpec(distort=STILL, hidden=HiddenSpec(units=32), training=TrainingSpec(epochs=3, batch=32, learning_rate=0.01))


@pytest.fixture(scope="module")
def pictures() -> Dataset:
    whole = data.load("mnist")
    none = slice(0, 0)
    return replace(
        whole,
        train_images=whole.train_images[:6000],
        train_labels=whole.train_labels[:6000],
        validation_images=whole.validation_images[:1000],
        validation_labels=whole.validation_labels[:1000],
        test_images=whole.test_images[none],
        test_labels=whole.test_labels[none],
    )


def run(spec: ModelSpec, pictures: Dataset) -> tuple[Trained, list[Progress]]:
    seen: list[Progress] = []
    return train(spec, pictures, choose(), seen.append), seen


@pytest.mark.parametrize(("optimiser", "epochs"), [("adam", 3), ("sgd", 8)])
def test_a_few_epochs_without_a_single_test_picture_learn_the_digits(pictures: Dataset, optimiser: str, epochs: int) -> None:
    spec = replace(SPEC, training=replace(SPEC.training, optimiser=optimiser, epochs=epochs))
    trained, seen = run(spec, pictures)
    assert trained.accuracy > 0.85
    assert seen[-1].loss < seen[0].loss
    digits = reference.run(trained.model, pictures.validation_images).digits
    assert (digits == pictures.validation_labels).mean() == pytest.approx(trained.accuracy)


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(pictures: Dataset) -> None:
    spec = replace(SPEC, distort=DistortSpec(), training=replace(SPEC.training, epochs=2))
    first, second, other = (run(replace(spec, seed=seed), pictures)[0] for seed in (1, 1, 2))
    assert first.params
    assert second.params
    assert other.params
    for (name, array), (_, again) in zip(first.params.items(), second.params.items(), strict=True):
        np.testing.assert_array_equal(array, again, err_msg=name)
    assert first.model.sha256() == second.model.sha256()
    assert not np.array_equal(first.params.hidden, other.params.hidden)


def test_progress_tells_each_epoch_and_the_best_so_far(pictures: Dataset) -> None:
    trained, seen = run(SPEC, pictures)
    assert [at.epoch for at in seen] == [1, 2, 3]
    assert seen[-1].seconds_left == 0
    assert seen[-1].best == max(at.accuracy for at in seen) == trained.accuracy
    assert trained.epoch in (1, 2, 3)
    assert not trained.stopped


def test_ctrl_c_keeps_the_best_so_far(pictures: Dataset) -> None:
    def press(at: Progress) -> None:
        if at.epoch == 2:
            raise KeyboardInterrupt

    trained = train(replace(SPEC, training=replace(SPEC.training, epochs=1000, warmup=0.0)), pictures, choose(), press)
    assert trained.stopped
    assert trained.epoch == 2
    assert trained.accuracy > 0.8


def test_too_few_pictures_for_one_batch_are_an_error(pictures: Dataset) -> None:
    few = replace(pictures, train_images=pictures.train_images[:31], train_labels=pictures.train_labels[:31])
    with pytest.raises(SpecError, match="needs 32 training pictures"):
        run(SPEC, few)


def test_long_trainings_validate_now_and_then_and_each_of_the_last_epochs() -> None:
    validated = [epoch for epoch in range(1, 401) if is_validated(epoch, 400)]
    assert validated[:3] == [1, 20, 40]
    assert validated[-20:] == list(range(381, 401))
    assert all(is_validated(epoch, 5) for epoch in range(1, 6))


class KilledError(Exception):
    """What ends a training in the middle, as a kill would."""


def test_a_killed_training_continues_from_its_checkpoint_to_the_same_bits(
    pictures: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_SECONDS", 0)
    spec = replace(SPEC, distort=DistortSpec(), training=replace(SPEC.training, epochs=4))
    path = tmp_path / "checkpoint.npz"

    def kill(at: Progress) -> None:
        if at.epoch == 2:
            raise KilledError

    with pytest.raises(KilledError):
        train(spec, pictures, choose(), kill, path)
    assert path.is_file()
    seen: list[int] = []
    continued = train(spec, pictures, choose(), lambda at: seen.append(at.epoch), path)
    assert seen == [3, 4]
    assert not path.exists()
    assert continued.model.sha256() == run(spec, pictures)[0].model.sha256()


def test_the_checkpoint_of_another_training_and_a_broken_one_are_not_used(pictures: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(path, {"counts": np.zeros(4)}, fingerprint(SPEC, pictures, "device"))
    assert load_checkpoint(path, fingerprint(SPEC, pictures, "device")) is not None
    assert load_checkpoint(path, fingerprint(replace(SPEC, seed=2), pictures, "device")) is None
    path.write_bytes(path.read_bytes()[:100])
    assert load_checkpoint(path, fingerprint(SPEC, pictures, "device")) is None
