"""Specs: defaults, and one clear line for whatever cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from zxml.errors import SpecError
from zxml.spec import ModelSpec, default_spec_path, read_spec


def read(text: str, tmp_path: Path) -> ModelSpec:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    return read_spec(path)


def test_the_default_spec_writes_out_the_defaults() -> None:
    assert read_spec(default_spec_path("mnist")) == ModelSpec()


def test_a_spec_changes_only_what_it_names(tmp_path: Path) -> None:
    spec = read("seed = 7\n[training]\nlearning_rate = 1\n", tmp_path)
    assert (spec.seed, spec.training.learning_rate, spec.hidden) == (7, 1.0, ModelSpec().hidden)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sede = 1", r"spec.toml: unknown key sede; known here: name, task, seed"),
        ("[hidden]\nunits = 1.5", r"hidden.units must be int, got 1.5"),
        ("[hidden]\nunits = 0", r"hidden.units must be 1 or more, got 0"),
        ("[hidden]\nsum_bits = 9", r"sum_bits must be 8 or 16, got 9"),
        ("[input]\nrows = 27", r"window must lie in the 28 x 28 picture"),
        ("[training]\nbatch = 100", r"training.batch must be a multiple of 32"),
        ("[training]\noptimiser = 'sdg'", r"training.optimiser must be adam or sgd, got 'sdg'"),
        ("seed = ", r"not a readable TOML file"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=message) as error:
        read(text, tmp_path)
    assert "\n" not in str(error.value)
