"""The whole path, as a user walks it: train, tape, proof; and the shipped nets with the figures that the README gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from zxml import ir
from zxml.cassette import record
from zxml.cli import main
from zxml.data import load
from zxml.files import product_folder
from zxml.train import main as train_main
from zxml.verify import Evidence, verify

README = Path(__file__).parent.parent / "README.md"
SHIPPED = sorted(path.stem for path in product_folder("models").glob("*.npz"))


@pytest.fixture(scope="module", params=SHIPPED)
def evidence(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    model = ir.load(product_folder("models") / f"{request.param}.npz")
    dataset = load("mnist")
    return verify(record(model, dataset, tmp_path_factory.mktemp(request.param)), dataset)


@pytest.mark.slow
def test_each_shipped_net_is_exact_on_every_test_picture(evidence: Evidence) -> None:
    assert evidence.differences == ()
    assert evidence.images == evidence.exact_images == 10_000
    assert evidence.loads_through_rom
    assert evidence.returns_to_basic
    assert [row.images for row in evidence.emulators] == [10_000, 10_000]
    assert sum(layer.tstates for layer in evidence.layers) == pytest.approx(evidence.tstates_mean)


@pytest.mark.slow
def test_the_readme_gives_the_figures_of_the_shipped_net(evidence: Evidence) -> None:
    row = next(line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{evidence.name}` |"))
    low, high = (100 * share for share in evidence.interval95)
    for figure in (
        f"{100 * evidence.accuracy:.2f} %",
        f"{low:.2f} to {high:.2f}",
        f"{evidence.tstates_mean:,.0f}",
        f"{evidence.tstates_worst:,}",
        f"{evidence.frames_mean:.2f}",
        f"{evidence.nbytes:,}",
    ):
        assert figure in row, f"{README}: the row of {evidence.name} lacks {figure}"


@pytest.mark.slow
def test_the_default_net_is_within_one_frame(evidence: Evidence) -> None:
    if evidence.name == "mnist":
        assert evidence.frames_mean <= 1


@pytest.mark.slow
def test_training_tape_and_proof_from_nothing_give_the_same_bytes_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        assert train_main(["mnist", "--epochs", "3", "--out", str(folder)]) == 0
        assert main(["tape", str(folder / "model.npz"), "--out", str(folder)]) == 0
        assert main(["verify", str(folder / "model.npz"), "--out", str(folder)]) == 0
        found.append(json.loads((folder / "evidence.json").read_text()))
    capsys.readouterr()
    assert found[0]["tap_sha256"] == found[1]["tap_sha256"]
    assert found[0]["model_sha256"] == found[1]["model_sha256"]
    assert found[0]["exact_images"] == 10_000
    assert found[0]["accuracy"] > 0.9


def test_the_readme_names_no_command_that_is_not_there() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)", README.read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"README: make {target}"


def test_every_shipped_net_has_a_spec_and_has_learned() -> None:
    assert "mnist" in SHIPPED
    for name in SHIPPED:
        model = ir.load(product_folder("models") / f"{name}.npz")
        assert (product_folder("models") / f"{name}.toml").is_file()
        assert model.name == name
        assert all(np.any(layer.bias) for layer in model.layers if isinstance(layer, ir.PatchSum))
