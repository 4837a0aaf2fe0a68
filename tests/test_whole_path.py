"""The whole path, as a user walks it: train, tape, proof; and the shipped nets with the figures that the README gives."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from zxml import ir
from zxml.bench import folder_of, known_evidence
from zxml.cassette import record, target_of
from zxml.cli import main
from zxml.data import load
from zxml.files import product_folder
from zxml.spec import read_spec
from zxml.train import main as train_main
from zxml.verify import Evidence, verify

README = Path(__file__).parent.parent / "README.md"
DOCS = README.parent / "docs"
SHIPPED = sorted(path.stem for path in product_folder("models").glob("*.npz"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_net_is_exact_keeps_its_budget_and_is_as_the_readme_says(name: str, tmp_path: Path) -> None:
    evidence = proved(ir.load(product_folder("models") / f"{name}.npz"), tmp_path)
    assert evidence.differences == ()
    assert evidence.images == evidence.exact_images == 10_000
    assert evidence.loads_through_rom
    assert evidence.returns_to_basic
    assert [row.images for row in evidence.emulators] == [10_000, 10_000]
    assert sum(layer.tstates for layer in evidence.layers) == pytest.approx(evidence.tstates_mean)
    assert evidence.tstates_mean <= read_spec(product_folder("models") / f"{name}.toml").budget_tstates
    row = next(line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |"))
    for figure in figures(evidence):
        assert figure in row, f"{README}: the row of {name} lacks {figure}"


def proved(model: ir.IntegerModel, folder: Path) -> Evidence:
    """Return the evidence that `make verify-all` left of the tape that the code makes today, or prove it in a folder."""
    dataset = load("mnist")
    cassette = record(model, dataset, folder, target_of(model.name))
    known = known_evidence(model, folder_of(model, README.parent / "build"))
    if known and known.tap_sha256 == hashlib.sha256(cassette.tap.read_bytes()).hexdigest():
        return known
    return verify(cassette, dataset)


def figures(evidence: Evidence) -> list[str]:
    low, high = (100 * share for share in evidence.interval95)
    shares = [f"{100 * evidence.accuracy:.2f} %", f"{low:.2f} to {high:.2f}", f"{evidence.frames_mean:.2f}"]
    return [*shares, f"{evidence.tstates_mean:,.0f}", f"{evidence.tstates_worst:,}", f"{evidence.nbytes:,}"]


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


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "mnist"])
def test_the_page_on_records_says_what_the_readme_says_and_how_much_is_missed(name: str) -> None:
    row = cells(README, f"`{name}` |")
    _, asked, reached, missed = cells(DOCS / "records.md", f"`{name}` |")
    accuracy, *tstates = re.findall(r"[\d.,]*\d", reached)
    assert [accuracy, *tstates] == [row[1].removesuffix(" %"), row[3], row[5]][: 1 + len(tstates)]
    wanted, *most = (float(figure.replace(",", "")) for figure in re.findall(r"[\d.,]*\d", asked))
    assert all(float(spent.replace(",", "")) <= limit for spent, limit in zip(tstates, most, strict=True))
    short = wanted - float(accuracy)
    assert missed.split(" points")[0] == (f"{short:.2f}" if short > 0 else "-")


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


def cells(page: Path, start: str) -> list[str]:
    """Return the cells of the first row of a page's tables that starts so."""
    line = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_readme_tells_of_learning_what_the_pages_on_learning_tell() -> None:
    """The pages' own figures are compared with what the emulated Spectrum does, by tests of their own."""
    _, time, accuracy = cells(DOCS / "learning.md", "count |")
    assert cells(README, "count |")[1:3] == [time, accuracy]
    _, time, accuracy = cells(DOCS / "learning.md", "pass 15 |")
    minutes, seconds = divmod(round(float(time.removesuffix(" s"))), 60)
    assert cells(README, "count and correct, 15 passes |")[1:3] == [f"{minutes} min {seconds} s", accuracy]
    _, _, on_640, on_10000, _, _, time = cells(DOCS / "seed_network.md", "`quinary`")
    minutes_of, seconds_of = time.split(":")
    wanted = [f"{minutes_of} min {seconds_of} s (5 epochs)", f"{on_640} / {on_10000}"]
    assert cells(README, "the same net by tables")[1:3] == wanted
