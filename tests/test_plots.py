"""The plots: the same figures give the same bytes, names can be read and searched, and they are those of the shipped nets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zxml import bench, published
from zxml.bench import Row
from zxml.errors import ZxmlError
from zxml.files import product_folder
from zxml.lessons import Lesson
from zxml.plots import accuracy_svg, learning_svg, write_plots

DOCS = product_folder("models").parent / "docs"
ROW = Row("tiny", 10_000, 10_000, 0.98, (0.977, 0.983), 50_000, 60_000, 0.7, 14, 9_000, 20_000, 2.5, "")
LESSONS = (
    Lesson("count and correct", "count", 8.5, 0.91, 10_000),
    Lesson("count and correct", "pass 1", 21.5, 0.92, 10_000),
    Lesson("the net of 2019 by tables", "5 epochs", 150, 0.77, 640),
)


def words(svg: bytes) -> list[str]:
    """Return the texts of an SVG."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())


def test_the_same_figures_give_the_same_bytes() -> None:
    others = published.load()
    assert accuracy_svg([ROW], others) == accuracy_svg([ROW], others)
    assert learning_svg(LESSONS, others) == learning_svg(LESSONS, others)
    assert b"dc:date" not in accuracy_svg([ROW], others)


def test_names_of_nets_and_of_published_programs_are_text() -> None:
    others = published.load()
    found = words(accuracy_svg([ROW], others))
    assert {"tiny", "gb-nn, Game Boy", "net of 2019, ZX Spectrum", "one TV frame", "99 %"} <= {*found}
    timed = [reader for reader in others.readers if reader.cycles_a_picture]
    assert sum(reader.name in name for reader in timed for name in {*found}) >= len(timed)


def test_the_learning_plot_names_all_four_versions_of_2019_and_ours() -> None:
    found = " ".join(words(learning_svg(LESSONS, published.load())))
    for name in ("BASIC: two digits only", "ToBoSFP: accuracy not said", "C, floats: accuracy not said", "C, fixed point: 640"):
        assert f"2019, {name}" in found
    assert "count: 10,000 test pictures" in found
    assert "and correct, 1 passes" in found


def test_plots_are_written_whole_to_a_folder(tmp_path: Path) -> None:
    paths = write_plots(tmp_path / "new", [ROW], LESSONS, published.load())
    assert [path.name for path in paths] == ["accuracy.svg", "learning_time.svg"]
    assert all(path.read_bytes().endswith(b"</svg>\n") for path in paths)


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ZxmlError, match=r"pip install 'zxml\[report\]'"):
        accuracy_svg([ROW], published.load())


def test_the_plot_in_the_documentation_names_every_shipped_net() -> None:
    found = words((DOCS / "accuracy.svg").read_bytes())
    assert {path.stem for path in bench.shipped_models()} <= {*found}, "`make docs` draws it anew"
    assert words((DOCS / "learning_time.svg").read_bytes())
