"""Kernels that two nets of a cascade use: the later net's have names of their own, and both are exact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.feature_nets import random_front, random_hidden, shared_net
from tests.nets import extreme_pictures, random_pictures
from tests.test_looks import check
from zxml.classify import processors
from zxml.ir import Exit, IntegerModel, Window
from zxml.quant.cascade import choose_gaps
from zxml.reference import run
from zxml.z80gen.emit import build
from zxml.z80gen.plan import plan
from zxml.z80gen.renaming import net_numbers

PICTURES = np.concatenate([extreme_pictures()[:5], random_pictures(5, 8)])
THIRD = Window(7, 3, 12, 14)


def three_nets(seed: int) -> IntegerModel:
    """Return a quick net, a hidden layer on its codes, and a net with a hidden layer on features of its own."""
    shared = shared_net(seed, units=10)
    front = random_front(seed + 9, window=THIRD, name="fine")
    third = (replace(layer, name=f"third_{layer.name}") for layer in random_hidden(seed + 8, 240, 14))
    return IntegerModel("three", seed, (*shared.layers[:-1], Exit("surer", 0, "picture"), *front, *third))


def test_two_nets_with_hidden_layers_are_exact_in_two_processors(tmp_path: Path) -> None:
    model = choose_gaps(three_nets(3), PICTURES, (0.8, 0.4))
    assert set(run(model, PICTURES).exits) == {0, 1, 2}
    chosen = plan(model, PICTURES)
    assembly = build(chosen, tmp_path)
    for cpu in processors(assembly, chosen.target):
        check(cpu, chosen, assembly, PICTURES)


def test_the_later_net_has_files_and_labels_with_its_number(tmp_path: Path) -> None:
    chosen = plan(three_nets(4), PICTURES)
    assert net_numbers(chosen.steps) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assembly = build(chosen, tmp_path)
    assert (tmp_path / "dense_sum.asm").exists()
    text = (tmp_path / "t3_dense_sum.asm").read_text(encoding="utf-8")
    assert "t3_dense_sum:" in text
    assert "T3_DENSE_BATCH" in text
    assert {"dense_sum", "t3_dense_sum", "hidden_codes", "t3_hidden_bits"} <= {*assembly.symbols}


def test_a_net_alone_keeps_its_names() -> None:
    sources = {section.source for step in plan(shared_net(1), PICTURES).steps for section in step.sections}
    assert not [source for source in sources if "t2_" in source]
