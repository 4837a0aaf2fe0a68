"""Integer models on a device against the reference, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.feature_nets import cascades, looks_nets
from tests.nets import extreme_pictures, models, random_model, random_pictures
from zxml import reference
from zxml.gpu import inference
from zxml.gpu.device import choose
from zxml.gpu.inference import Inference
from zxml.ir import (
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntegerModel,
    Layer,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
    Window,
)

PICTURES = np.concatenate([extreme_pictures(), random_pictures(3, 40)])


@pytest.fixture(scope="module")
def device() -> Inference:
    return Inference(cl.CommandQueue(cl.Context([choose()])), PICTURES)


def assert_same(device: Inference, model: IntegerModel) -> None:
    got, wanted = device.trace(model), reference.trace(model, PICTURES)
    for name, values in wanted.items():
        np.testing.assert_array_equal(got[name], values, err_msg=name)
    answers, right = device.run(model), reference.run(model, PICTURES)
    for field in ("scores", "digits", "exits"):
        np.testing.assert_array_equal(getattr(answers, field), getattr(right, field), err_msg=field)


@given(model=models())
@settings(max_examples=15)
def test_two_layer_models_give_the_references_bits(device: Inference, model: IntegerModel) -> None:
    assert_same(device, model)


def ints(rng: np.random.Generator, low: int, high: int, *shape: int) -> Any:
    return rng.integers(low, high + 1, shape).astype(np.int32)


def front(rng: np.random.Generator, window: Window, units: int, bits: int) -> tuple[Layer, ...]:
    """Return a first answer, from patches of 2 x 2 pixels, that some pictures leave by."""
    table = ints(rng, -40, 40, (window.rows // 2) * (window.cols // 2), 16, units)
    return (
        PatchSum("patches", window, 2, 2, bits, table, ints(rng, -100, 100, units)),
        Requant("early_levels", 3, 5),
        Dense("early", 16, ints(rng, -2000, 2000, units, 10), ints(rng, -300, 300, 10)),
        Exit("exit", int(rng.integers(0, 3000)), "picture"),
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    sides=st.tuples(st.integers(4, 13), st.integers(4, 13)),
    units=st.integers(1, 9),
    bits=st.sampled_from([8, 16]),
)
@settings(max_examples=6)
def test_every_kind_of_layer_gives_the_references_bits(
    device: Inference, seed: int, sides: tuple[int, int], units: int, bits: int
) -> None:
    rng = np.random.default_rng(seed)
    window = Window(1, 2, 2 * sides[0], 2 * sides[1])
    small = (sides[0] - 1, sides[1] - 1)  # after PatchConv and Pool
    codes = ints(rng, 0, 5, 256)
    codes[0] = 0
    table = ints(rng, -60, 60, small[0] * small[1], 6, units)
    table[:, 0] = 0
    coded = IntegerModel(
        "coded",
        0,
        (
            *front(rng, window, units, bits),
            PatchConv("filters", window, ints(rng, 0, 1, 512, 8)),
            Pool("pool"),
            Codebook("codes", codes),
            CodeSum("sums", bits, table, ints(rng, -128, 127, units)),
            Requant("levels", 4, 8),
            Dense("scores", bits, ints(rng, -7, 7, units, 10), ints(rng, -50, 50, 10)),
            ArgMax("digit"),
        ),
    )
    assert_same(device, coded)
    stride = 1 + seed % 2
    places = ((small[0] - 3) // stride + 1) * ((small[1] - 3) // stride + 1)
    convolved = IntegerModel(
        "convolved",
        0,
        (
            PatchConv("filters", window, ints(rng, 0, 2, 512, 5)),
            Pool("pool"),
            Conv("conv", bits, ints(rng, -30, 30, 3, 3, 5, units), ints(rng, -128, 127, units), stride),
            Steps("levels", np.sort(ints(rng, -99, 99, 3, units), axis=0)),
            Dense("scores", 16, ints(rng, -900, 900, places * units, 10), ints(rng, -50, 50, 10)),
            ArgMax("digit"),
        ),
    )
    assert_same(device, convolved)


@given(model=cascades())
@settings(max_examples=6)
def test_cascades_give_the_references_bits(device: Inference, model: IntegerModel) -> None:
    assert_same(device, model)


@given(model=looks_nets())
@settings(max_examples=8)
def test_nets_with_looks_give_the_references_bits(device: Inference, model: IntegerModel) -> None:
    assert_same(device, model)


def test_pictures_in_many_parts_give_the_same_answers(device: Inference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "MOST_VALUES", 7 * 28 * 28)
    assert_same(device, random_model(5))
