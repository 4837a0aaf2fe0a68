"""The page of kernels is what the kernels say."""

from __future__ import annotations

from pathlib import Path

import pytest

from zxml.errors import ZxmlError
from zxml.files import product_folder
from zxml.z80gen import kernels_page
from zxml.z80gen.kernels import KERNELS
from zxml.z80gen.kernels_page import docstring, example, families, limits, main, name_of, page, summary

DOCS = product_folder("models").parent / "docs"


def test_the_page_in_the_documentation_is_current() -> None:
    assert (DOCS / "kernels.md").read_text(encoding="utf-8") == page(), "`make docs` writes it anew"


def test_every_kernel_has_a_row_with_its_bytes_and_the_formula_of_its_time() -> None:
    text = page()
    for kernels in families():
        _, cost = example(kernels[0])
        assert f"| {name_of(kernels)} |" in text
        assert f" | {cost.nbytes:,} | {cost.worst:,} | " in text
        assert f"- {name_of(kernels)}: {cost}\n" in text
    assert [kernel for kernels in families() for kernel in kernels] == list(KERNELS)


def test_every_module_of_a_kernel_says_what_it_computes() -> None:
    assert all(summary(docstring(kernel)) for kernel in KERNELS)


def test_limits_are_what_follows_the_word_to_the_end_of_the_paragraph() -> None:
    text = "name: what.\n\nIt does so. Limits: up to 3\nof them, not 4.\n\nMore."
    assert limits(text) == "up to 3 of them, not 4"
    assert summary(text) == "what"
    assert limits("name: what.") == "-"


def test_a_kernel_without_an_example_says_where_to_add_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels_page, "example_nets", tuple)
    with pytest.raises(ZxmlError, match=r"edge_sum_4: no example net of kernels_page.py"):
        example(KERNELS[0])


def test_the_module_writes_the_page(tmp_path: Path) -> None:
    assert main([str(tmp_path / "kernels.md")]) == 0
    assert (tmp_path / "kernels.md").read_text(encoding="utf-8") == page()
