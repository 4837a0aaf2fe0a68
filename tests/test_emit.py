"""The emitted folder: golden text, the same bytes each time, and other assemblers."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.nets import extreme_pictures, random_model
from tests.pasmo import pasmo_bytes
from zxml.errors import ZxmlError
from zxml.files import product_folder
from zxml.ir import IntegerModel
from zxml.z80gen.assemble import assemble
from zxml.z80gen.emit import LICENCE, build, emit
from zxml.z80gen.kernel import table
from zxml.z80gen.memory import Placed
from zxml.z80gen.plan import plan

GOLDEN = Path(__file__).parent / "golden"
TINY = {
    "tiny1": random_model(1, units=1, levels=1, rows=2, top=13, classes=2),
    "tiny2": random_model(2, units=2, levels=2, rows=2, top=12, classes=2),
}


def emit_tiny(model: IntegerModel, folder: Path) -> Path:
    return emit(plan(model, extreme_pictures()), folder)


def generated_text(main: Path) -> str:
    """Return what Python wrote, without the licence lines and the table that is the same in every net."""
    own = {path.name for path in product_folder("asm").rglob("*.asm")} | {"edge_column_page.asm"}
    files = sorted(path for path in main.parent.iterdir() if path.name not in own)
    return "".join(f";;;; {path.name}\n{path.read_text().removeprefix(f'; {LICENCE}' + chr(10))}" for path in files)


@pytest.mark.parametrize("name", TINY)
def test_golden_assembly_of_tiny_nets(name: str, tmp_path: Path) -> None:
    text = generated_text(emit_tiny(TINY[name], tmp_path / "asm"))
    path = GOLDEN / f"{name}.asm"
    if os.environ.get("ZXML_WRITE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), "if the change is meant: make golden"


def test_the_golden_files_stay_short_enough_to_read() -> None:
    assert sum(len(path.read_text().splitlines()) for path in GOLDEN.glob("*.asm")) < 300


def test_hand_written_files_stand_unchanged_in_the_output(tmp_path: Path) -> None:
    main = emit_tiny(TINY["tiny1"], tmp_path / "asm")
    for name in ("edge_code", "edge_sum", "dense_sum", "arg_max"):
        source = product_folder("asm") / "kernel" / f"{name}.asm"
        assert (main.parent / source.name).read_text() == source.read_text()


def test_a_label_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    chosen = plan(TINY["tiny1"], extreme_pictures())
    again = table("again", 1, lambda: f"classify:{chr(10)}        ret{chr(10)}", align=1)
    with pytest.raises(ZxmlError, match=r"again\.asm: label classify is in classify\.asm already"):
        emit(replace(chosen, placed=(*chosen.placed, Placed(chosen.end, again))), tmp_path)
    assert not [*tmp_path.iterdir()]


def test_zeros_at_the_end_are_part_of_the_image(tmp_path: Path) -> None:
    chosen = plan(TINY["tiny1"], extreme_pictures())
    zeros = table("zeros", 100, lambda: f"zeros:{chr(10)}        defs 100{chr(10)}", align=1)
    assembly = build(replace(chosen, placed=(*chosen.placed, Placed(chosen.end, zeros))), tmp_path)
    assert len(assembly.image) == chosen.end + 100 - assembly.org
    assert assembly.image.endswith(bytes(100))


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (build(plan(TINY["tiny2"], extreme_pictures()), tmp_path / name) for name in ("a", "b"))
    assert first == second
    assert generated_text(tmp_path / "a/main.asm") == generated_text(tmp_path / "b/main.asm")


def test_emitting_removes_old_assembly_and_nothing_else(tmp_path: Path) -> None:
    for name in ("old.asm", "zxml.bin"):
        (tmp_path / name).write_text("old")
    emit_tiny(TINY["tiny1"], tmp_path)
    assert not (tmp_path / "old.asm").exists()
    assert (tmp_path / "zxml.bin").exists()


def test_an_assembly_error_names_file_and_line(tmp_path: Path) -> None:
    main = tmp_path / "main.asm"
    main.write_text("        org 32768\n        frobnicate\n")
    with pytest.raises(ZxmlError, match=r"main.asm:2 error"):
        assemble(main)


@pytest.mark.slow
@pytest.mark.parametrize("units", [1, 60])
def test_pasmo_makes_the_same_bytes(units: int, tmp_path: Path) -> None:
    assembly = build(plan(random_model(3, units=units), extreme_pictures()), tmp_path / "asm")
    assert pasmo_bytes(tmp_path / "asm/main.asm") == assembly.image
