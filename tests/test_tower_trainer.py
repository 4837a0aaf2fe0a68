"""Training a cascade: what it learns, what a kill and Ctrl-C leave, and when it answers early."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from zxml import ir, reference
from zxml.data import Dataset, load
from zxml.errors import SpecError
from zxml.gpu import device
from zxml.gpu.tower_trainer import CascadeProgress, train_cascade
from zxml.gpu.trainer import Trained
from zxml.ir import Exit, Looks
from zxml.spec import ConvSpec, DistortSpec, HiddenSpec, ModelSpec, TowerSpec, TrainingSpec
from zxml.train import main as train_main

STILL = DistortSpec(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SPEC = ModelSpec(
    name="small",
    distort=STILL,
    towers=(TowerSpec(codes=4), TowerSpec(convs=(ConvSpec(8, 2),), hidden=HiddenSpec(units=8))),
    second_looks=(0.25,),
    training=TrainingSpec(epochs=2, batch=32, learning_rate=0.01),
)


@pytest.fixture(scope="module")
def pictures() -> Dataset:
    whole = load("mnist")
    return replace(
        whole,
        train_images=whole.train_images[:320],
        train_labels=whole.train_labels[:320],
        validation_images=whole.validation_images[:200],
        validation_labels=whole.validation_labels[:200],
    )


def run(spec: ModelSpec, pictures: Dataset, checkpoint: Path | None = None) -> tuple[Trained, list[CascadeProgress]]:
    seen: list[CascadeProgress] = []
    return train_cascade(spec, pictures, device.choose(), seen.append, checkpoint), seen


def test_a_cascade_learns_and_sends_on_as_many_pictures_as_it_may(pictures: Dataset) -> None:
    trained, seen = run(replace(SPEC, training=replace(SPEC.training, epochs=6)), pictures)
    said = reference.run(trained.model, pictures.validation_images)
    assert trained.accuracy == (said.digits == pictures.validation_labels).mean() > 0.3
    assert 0 < (said.exits == 1).mean() <= 0.25
    assert [at.epoch for at in seen] == list(range(1, 13))
    assert [at.tower for at in seen] == [1] * 6 + [2] * 6
    assert seen[5].loss < seen[0].loss
    assert seen[11].loss < seen[6].loss


def test_the_last_tower_gets_its_looks_for_as_many_pictures_as_they_may_take(pictures: Dataset) -> None:
    last = replace(SPEC.towers[1], looks=((-1, 0), (1, 0)))
    for towers, shares in (((SPEC.towers[0], last), (0.25, 0.1)), ((last,), (0.1,))):
        trained, _ = run(replace(SPEC, towers=towers, second_looks=shares), pictures)
        exit_, looks, _ = trained.model.layers[-3:]
        start = "t2_" if len(towers) == 2 else ""
        assert isinstance(exit_, Exit)
        assert (exit_.name, exit_.source) == (f"sure{len(towers)}", f"{start}scores")
        assert vars(looks) == {"name": f"{start}looks", "again": f"{start}front", "shifts": ((-1, 0), (1, 0))}
        said = reference.run(trained.model, pictures.validation_images)
        assert trained.accuracy == (said.digits == pictures.validation_labels).mean()
        for way, share in enumerate(shares, 1):
            assert (said.exits >= way).mean() <= share


def test_a_shared_tower_learns_on_codes_that_stay_as_they_are_and_looks_in_two_rounds(pictures: Dataset) -> None:
    first = SPEC.towers[0]
    more = TowerSpec(codes=4, shared=True, hidden=HiddenSpec(units=8), looks=((0, 1),), more_looks=((1, 0), (-1, 0)))
    shares = (0.4, 0.3, 0.1)
    trained, seen = run(replace(SPEC, towers=(first, more), second_looks=shares), pictures)
    alone, _ = run(replace(SPEC, towers=(first,), second_looks=()), pictures)
    layers, ours = trained.model.layers, alone.model.layers[:4]
    names = ["sure1", "t2_hidden", "t2_levels", "t2_scores", "sure2", "t2_looks", "sure3", "t2_more_looks", "digit"]
    assert [layer.name for layer in layers] == [*(layer.name for layer in ours), *names]
    assert (
        ir.IntegerModel("same", 1, (*layers[:4], layers[-1])).sha256()
        == ir.IntegerModel("same", 1, alone.model.layers).sha256()
    )
    assert [layer.source for layer in layers if isinstance(layer, Exit)] == ["codes", "t2_scores", "t2_looks"]
    assert [layer.again for layer in layers if isinstance(layer, Looks)] == ["front", "front"]
    assert seen[-1].loss < seen[2].loss
    said = reference.run(trained.model, pictures.validation_images)
    for way, share in enumerate(shares, 1):
        assert (said.exits >= way).mean() <= share


def test_two_towers_may_share_the_codes_of_one(pictures: Dataset) -> None:
    more = TowerSpec(codes=4, shared=True, hidden=HiddenSpec(units=8))
    towers = (SPEC.towers[0], more, replace(more, hidden=HiddenSpec(units=12), looks=((0, 1),)))
    trained, _ = run(replace(SPEC, towers=towers, second_looks=(0.4, 0.3, 0.2)), pictures)
    layers = trained.model.layers
    assert [layer.source for layer in layers if isinstance(layer, Exit)] == ["codes", "codes", "t3_scores"]
    assert [layer.again for layer in layers if isinstance(layer, Looks)] == ["front"]
    assert trained.model.nets == 3


def test_a_tower_may_have_a_seed_and_epochs_of_its_own(pictures: Dataset) -> None:
    first, second = SPEC.towers
    shaken = replace(SPEC, distort=DistortSpec())
    trained, seen = run(replace(shaken, towers=(replace(first, seed=7, epochs=1), second)), pictures)
    assert [(at.epoch, at.epochs, at.tower) for at in seen] == [(1, 3, 1), (2, 3, 2), (3, 3, 2)]
    alone = replace(shaken, seed=7, towers=(first,), second_looks=(), training=replace(SPEC.training, epochs=1))
    same = run(alone, pictures)[0].model.layers[:4]
    assert same_layers(trained.model.layers[:4], same)
    usual = run(shaken, pictures)[0].model.layers
    assert not same_layers(usual[:4], same)
    assert same_layers(usual[5:-1], trained.model.layers[5:-1]), "the other tower is as the spec's seed makes it"


def test_a_tower_may_learn_from_what_the_one_before_doubts(pictures: Dataset) -> None:
    first, second = SPEC.towers
    shaken = replace(SPEC, distort=DistortSpec())
    usual, focused = (run(replace(shaken, towers=(first, replace(second, focus=part))), pictures) for part in (0.0, 0.2))
    assert same_layers(focused[0].model.layers[:4], usual[0].model.layers[:4]), "the first tower sees all pictures"
    assert not same_layers(focused[0].model.layers[5:-1], usual[0].model.layers[5:-1])
    assert focused[1][-1].loss > usual[1][-1].loss
    again, _ = run(replace(shaken, towers=(first, replace(second, focus=0.2))), pictures)
    assert again.model.sha256() == focused[0].model.sha256()


def test_what_a_focus_takes_must_fill_a_batch(pictures: Dataset) -> None:
    towers = (SPEC.towers[0], replace(SPEC.towers[1], focus=0.04))
    with pytest.raises(
        SpecError, match=r"small: a focus of 0\.04 takes 24 of 320 training pictures, and a batch has 32; give more"
    ):
        run(replace(SPEC, towers=towers), pictures)


def same_layers(ours: tuple[ir.Layer, ...], theirs: tuple[ir.Layer, ...]) -> bool:
    """Tell whether the layers of a net are the same to the bit."""
    digit = ir.ArgMax("digit")
    return ir.IntegerModel("", 1, (*ours, digit)).sha256() == ir.IntegerModel("", 1, (*theirs, digit)).sha256()


class KilledError(Exception):
    """What stands for kill -9 here: the trainer does not know it."""


@pytest.mark.parametrize("last", [1, 2, 3], ids=["within the first tower", "between the towers", "within the second"])
def test_a_killed_training_continues_to_the_same_bits(
    pictures: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    monkeypatch.setattr("zxml.gpu.tower_trainer.CHECKPOINT_SECONDS", 0)
    spec = replace(SPEC, distort=DistortSpec(), towers=(SPEC.towers[0], replace(SPEC.towers[1], focus=0.2)))
    whole, _ = run(spec, pictures)
    checkpoint = tmp_path / "checkpoint.npz"

    def kill(at: CascadeProgress) -> None:
        if at.epoch == last:
            raise KilledError

    with pytest.raises(KilledError):
        train_cascade(spec, pictures, device.choose(), kill, checkpoint)
    continued, seen = run(spec, pictures, checkpoint)
    assert continued.model.sha256() == whole.model.sha256()
    assert [at.epoch for at in seen] == list(range(last + 1, 5))
    assert not checkpoint.exists()


def test_ctrl_c_keeps_the_towers_so_far(pictures: Dataset) -> None:
    def interrupt(at: CascadeProgress) -> None:
        if at.epoch == 1:
            raise KeyboardInterrupt

    with_looks = (SPEC.towers[0], replace(SPEC.towers[1], looks=((1, 0),)))
    trained = train_cascade(replace(SPEC, towers=with_looks, second_looks=(0.25, 0.1)), pictures, device.choose(), interrupt)
    assert trained.stopped
    assert not any(isinstance(layer, Exit) for layer in trained.model.layers)
    assert 0 <= trained.accuracy <= 1


def test_too_few_pictures_are_refused(pictures: Dataset) -> None:
    few = replace(pictures, train_images=pictures.train_images[:10], train_labels=pictures.train_labels[:10])
    with pytest.raises(SpecError, match="needs 32 training pictures"):
        run(SPEC, few)


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(pictures: Dataset) -> None:
    spec = replace(SPEC, distort=DistortSpec())
    first, again, other = (run(replace(spec, seed=seed), pictures)[0].model for seed in (1, 1, 2))
    assert first.sha256() == again.sha256()
    assert not np.array_equal(first.layers[0].table, other.layers[0].table)  # type: ignore[union-attr]


def test_the_command_line_trains_a_cascade_and_tells_of_all_its_epochs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "small.toml"
    spec.write_text(
        'name = "small"\nsecond_looks = [0.25]\n[training]\nbatch = 32\nepochs = 1\n'
        "[[towers]]\ncodes = 4\n[[towers]]\nhidden = { units = 8 }\n"
    )
    monkeypatch.setattr("zxml.train.data.load", lambda *_: pictures)
    assert train_main(["mnist", "--spec", str(spec), "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "training small, a cascade of 2 nets" in said.err
    assert "from epoch 2 of 2" in said.out
    assert any(isinstance(layer, Exit) for layer in ir.load(tmp_path / "model.npz").layers)
    assert train_main(["mnist", "--spec", str(spec), "--backend", "tiles"]) == 1
    assert "leave --backend tiles out" in capsys.readouterr().err
