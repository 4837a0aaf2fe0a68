"""The table of what the nets cost: counts of multiply-accumulates, where figures come from, and what others have published."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.feature_nets import random_cascade, random_front, two_nets, with_looks
from tests.nets import extreme_pictures, random_model, random_pictures
from zxml import bench, ir, published
from zxml.cli import main
from zxml.data import Dataset
from zxml.errors import VerifyError
from zxml.ir import Codebook, Conv, Dense, IntegerModel, PatchSum, Window
from zxml.lessons import HEADS, Lesson, lesson_rows, read_lessons, spell
from zxml.reference import trace
from zxml.verify import EmulatorEvidence, Evidence, LayerEvidence

PICTURES = np.concatenate([extreme_pictures(), random_pictures(5, 6)])
LEARNED = {
    "count_and_correct": [
        {"stage": "count", "seconds": 8.5, "accuracy_10000": 0.91},
        {"stage": "pass 1", "seconds": 21.5, "accuracy_10000": 0.92},
        {"stage": "pass 2", "seconds": 200, "accuracy_10000": 0.93},
    ],
    "seed_network": {"seeds": 8, "epoch_minutes": 0.5, "accuracy_640_mean": 0.77, "accuracy_10000_mean": 0.81},
}


def data() -> Dataset:
    labels = (np.arange(len(PICTURES)) % 10).astype(np.uint8)
    return Dataset("test", PICTURES, labels, PICTURES, labels, PICTURES, labels)


def evidence_of(model: IntegerModel, **changed: object) -> Evidence:
    evidence = Evidence(
        name=model.name,
        seed=model.seed,
        machine="48K Spectrum",
        images=1000,
        exact_images=1000,
        correct=980,
        accuracy=0.98,
        interval95=(0.969, 0.987),
        tstates_mean=70_000.0,
        tstates_worst=90_000,
        frames_mean=1.0016,
        nbytes=12_345,
        layers=(LayerEvidence("hidden", "edge_sum_4", 1.0, 1),),
        wrapped_images=0,
        digits_changed_by_wrapping=0,
        loads_through_rom=True,
        returns_to_basic=True,
        tap_sha256="",
        model_sha256=model.sha256(),
        emulators=(EmulatorEvidence("one", "1", 1000, 1000, 1000),),
        differences=(),
    )
    return replace(evidence, **changed)  # type: ignore[arg-type]


def shelve(model: IntegerModel, build: Path, **changed: object) -> Path:
    """Write a model's file, and evidence of it into the folder of builds; return the file."""
    path = build / f"{model.name}.npz"
    ir.save(model, path)
    ir.save(model, build / model.name / "model.npz")
    (build / model.name / "evidence.json").write_text(json.dumps(asdict(evidence_of(model, **changed))))
    return path


def test_a_net_with_a_hidden_layer_counts_a_weight_for_each_pixel_and_each_unit() -> None:
    assert bench.model_macs(random_model(1, units=12)) == [400 * 12, 0, 12 * 10, 0]


def test_features_count_nine_a_place_and_codes_one_a_place_and_output() -> None:
    model = random_cascade(3, units=(16, 24), pools=(False, False))
    counts = dict(zip((layer.name for layer in model.layers), bench.model_macs(model), strict=True))
    assert counts["front"] == 9 * 18 * 18 * 8
    assert counts["quick"] == 81 * 10
    assert counts["conv1"] == 9 * 8 * 7 * 7 * 16
    assert counts["conv2"] == 9 * 16 * 5 * 5 * 24
    assert counts["scores"] == 5 * 5 * 24 * 10
    assert not any(counts[name] for name in ("front_pool", "codes", "sure", "levels1", "digit"))


@given(units=st.integers(1, 9), channels=st.integers(1, 9), stride=st.sampled_from([1, 2]))
def test_macs_are_what_layers_of_ones_add_up_on_inputs_of_ones(units: int, channels: int, stride: int) -> None:
    shape = (5, 6, channels)
    one, zero = np.ones, np.zeros(units, np.int32)
    ways: list[tuple[Dense | Conv | PatchSum, tuple[int, ...], int]] = [
        (Dense("x", 16, one((5 * 6 * channels, units), np.int32), zero), shape, 5 * 6 * channels * units),
        (Conv("x", 16, one((3, 3, channels, units), np.int32), zero, stride), shape, 0),
        (PatchSum("x", Window(4, 4, 4, 6), 2, 3, 16, one((4, 64, units), np.int32), zero), (28, 28), 4 * units),
    ]
    for layer, inputs, wanted in ways:
        rows, cols = ((side - 3) // stride + 1 for side in inputs[:2])
        outputs = (rows, cols, units) if isinstance(layer, Conv) else (units,)
        windows = rows * cols * 9 * channels * units
        assert bench.layer_macs(layer, inputs, outputs) == (windows if isinstance(layer, Conv) else wanted)


def test_layers_behind_an_exit_count_for_the_pictures_that_come_there() -> None:
    model = random_cascade(3, gap=0)
    before = [layer.name for layer in model.layers].index("sure")
    macs = bench.model_macs(model)
    assert bench.mean_macs(model, data()) == sum(macs[:before])
    assert bench.mean_macs(random_cascade(3, gap=65_000), data()) == sum(macs)
    model = random_cascade(3, gap=100)
    leaves = float(trace(model, PICTURES)["sure"].mean())
    assert 0 < leaves < 1
    assert bench.mean_macs(model, data()) == pytest.approx(sum(macs[:before]) + (1 - leaves) * sum(macs[before:]))


def test_further_looks_count_what_their_layers_do_again() -> None:
    model = with_looks(two_nets(3))
    counts = dict(zip((layer.name for layer in model.layers), bench.model_macs(model), strict=True))
    assert counts["looks"] == 4 * (counts["fine"] + counts["conv1"] + counts["scores"])


def test_codebooks_count_nothing() -> None:
    assert bench.layer_macs(Codebook("codes", np.zeros(256, np.int32)), (9, 9, 8), (9, 9, 1)) == 0
    assert random_front(1)[1].name == "front_pool"


def test_figures_are_those_of_the_evidence_of_the_same_net(tmp_path: Path) -> None:
    model = random_model(1, units=12)
    row = bench.measure(shelve(model, tmp_path), tmp_path, data())
    assert (row.accuracy, row.tstates_worst, row.nbytes, row.ms) == (0.98, 90_000, 12_345, 20.0)
    assert row.tstates_a_mac == 70_000 / (400 * 12 + 120)
    assert not (tmp_path / model.name / f"{model.name}.tap").exists()


def test_a_net_without_evidence_is_made_and_proved(tmp_path: Path) -> None:
    model = random_model(1, units=12)
    ir.save(model, tmp_path / "given.npz")
    row = bench.measure(tmp_path / "given.npz", tmp_path, data())
    assert row.images == row.exact_images == len(PICTURES)
    assert (tmp_path / model.name / "evidence.json").is_file()
    assert (tmp_path / model.name / f"{model.name}.tap").is_file()


def test_evidence_of_another_net_is_not_taken_and_its_folder_is_left_alone(tmp_path: Path) -> None:
    trained = replace(random_model(2, units=12), name="random1")
    shelve(trained, tmp_path)
    ir.save(random_model(1, units=12), tmp_path / "given.npz")
    row = bench.measure(tmp_path / "given.npz", tmp_path, data())
    assert row.images == len(PICTURES)
    assert ir.load(tmp_path / "random1" / "model.npz").sha256() == trained.sha256()
    assert (tmp_path / "shipped" / "random1" / "evidence.json").is_file()


def test_evidence_that_tells_of_differences_is_an_error(tmp_path: Path) -> None:
    path = shelve(random_model(1, units=12), tmp_path, differences=("picture 7",))
    with pytest.raises(VerifyError, match="picture 7; make the tape of random1 anew"):
        bench.measure(path, tmp_path, data())


def test_every_shipped_net_is_found() -> None:
    assert "mnist" in [path.stem for path in bench.shipped_models()]


def test_every_published_figure_has_a_source_and_says_what_was_measured() -> None:
    found = published.load()
    for reader in found.readers:
        assert reader.source.startswith("http")
        assert reader.title
        assert reader.measured
        assert 0 < reader.accuracy < 1
        assert reader.cycles is None or reader.seconds is None
    assert all(learner.source.startswith("http") and learner.published for learner in found.learners)


def test_the_net_of_2019_took_four_and_a_half_million_tstates_a_picture() -> None:
    found = published.load()
    reader = next(reader for reader in found.readers if reader.name == "net of 2019")
    fixed = next(learner for learner in found.learners if learner.name == "C, fixed point")
    assert round(reader.cycles_a_picture or 0, -4) == 4_460_000
    assert round(fixed.epoch_s / 640 * 3.5, 1) == 13.6  # million T-states a picture
    totals = {learner.name: spell(learner.training_s + learner.test_s) for learner in found.learners}
    said = {"BASIC": "12 h 59 min", "ToBoSFP": "17 h 36 min", "C, floats": "12 h 1 min", "C, fixed point": "3 h 40 min"}
    assert totals == said


def test_the_page_has_a_line_for_each_net_and_each_published_program(tmp_path: Path) -> None:
    row = bench.measure(shelve(random_model(1, units=12), tmp_path), tmp_path, data())
    page = bench.page([row], published.load().readers)
    assert "| `random1` | 98.00 % | 96.90 to 98.70 | 70,000 | 90,000 | 1.00 | 20.0 | 12,345 | 14.23 |" in page
    assert "| gb-nn | Game Boy, SM83, 8 bits | 93.86 % | 10,000 | ≈ 12,582,912 | 3,000.0 | 2025 | [jongoiko, gb-nn](" in page
    assert page.count("http") == len(published.load().readers)


def test_lessons_are_read_from_the_evidence_of_the_tape_that_learns(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    with pytest.raises(VerifyError, match="make the tape that learns with `make learn`"):
        read_lessons(path)
    path.write_text("{}")
    with pytest.raises(VerifyError, match="`make learn` makes it anew"):
        read_lessons(path)
    path.write_text(json.dumps(LEARNED))
    lessons = read_lessons(path)
    assert lessons[0] == Lesson("count and correct", "count", 8.5, 0.91, 10_000)
    assert lessons[-1].seconds == 5 * 30
    lines = bench.table(HEADS, lesson_rows(lessons, published.load().learners)).splitlines()
    assert len(lines) == 2 + 4 + 4
    assert "3 h 27 min (5 epochs) | 77.2 % | 640 |" in lines[5]
    assert "| count and correct: pass 2 | 3 min 20 s | 93.00 % | 10,000 |" in lines[7]


def test_bench_prints_tables_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shelve(random_model(1, units=12), tmp_path)
    assert main(["bench", str(path), "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "`random1`" in text
    assert "`make learn` adds what a Spectrum learns by itself" in text
    assert main(["bench", str(path), "--out", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nets"][0]["tstates_worst"] == 90_000
    assert found["published"]["readers"][0]["source"].startswith("http")
