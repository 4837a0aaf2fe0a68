"""Small nets on one-bit features, and cascades of them, made from a seed or drawn by hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.nets import random_model
from zxml.ir import (
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntArray,
    IntegerModel,
    Layer,
    Looks,
    PatchConv,
    Pool,
    Requant,
    Steps,
    Window,
    sources,
)
from zxml.z80gen.kernels.dense_sum import page_levels

WINDOW = Window(4, 4, 20, 20)
CROSS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def random_front(
    seed: int, filters: int = 8, density: float = 0.2, window: Window = WINDOW, name: str = "front", levels: int = 1
) -> tuple[Layer, ...]:
    """Return a layer of features from 0 to `levels` and its pool; density: the share of patterns that a filter answers to."""
    rng = np.random.default_rng(seed)
    table = (rng.random((512, filters)) < density).astype(np.int32)
    table *= rng.integers(1, levels + 1, table.shape, np.int32)
    table[0] = 0
    return PatchConv(name, window, table), Pool(f"{name}_pool")


def random_quick(seed: int, places: int, codes: int = 7, weight: int = 31, classes: int = 10) -> tuple[Layer, ...]:
    """Return a codebook of codes 0 to `codes` and the sums of weights 0 to `weight` on it."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, codes + 1, 256).astype(np.int32)
    code[0], code[-1] = 0, codes
    table = rng.integers(0, weight + 1, (places, codes + 1, classes)).astype(np.int32)
    table[:, 0] = 0
    return Codebook("codes", code), CodeSum("quick", 16, table, rng.integers(0, 1000, classes).astype(np.int32))


def random_sharp(
    seed: int,
    shape: tuple[int, int, int],
    units: tuple[int, ...] = (16,),
    pools: tuple[bool, ...] = (False,),
    weight: int = 7,
    classes: int = 10,
    prefix: str = "",
    strides: tuple[int, ...] = (1, 1, 1),
    most: int | None = None,
) -> tuple[Layer, ...]:
    """Return convolutions of so many units on a map (rows, cols, channels), pooled or not, and the scores of what they put out.

    most: the highest second threshold of a unit, for values of 0 to 2; None: they are bits.
    """
    rng = np.random.default_rng(seed)
    rows, cols, channels = shape
    layers: list[Layer] = []
    for number, (count, pooled, stride) in enumerate(zip(units, pools, strides, strict=False), 1):
        kernel = rng.integers(-weight, weight + 1, (3, 3, channels, count)).astype(np.int32)
        bias = rng.integers(-40, 41, count).astype(np.int32)
        levels = f"{prefix}levels{number}"
        activation = Requant(levels, 1, 1) if most is None else Steps(levels, random_thresholds(rng, count, most))
        layers += [Conv(f"{prefix}conv{number}", 8, kernel, bias, stride), activation]
        rows, cols, channels = (rows - 3) // stride + 1, (cols - 3) // stride + 1, count
        if pooled:
            layers.append(Pool(f"{prefix}pool{number}"))
            rows, cols = -(-rows // 2), -(-cols // 2)
    output = rng.integers(0, 16, (rows * cols * channels, classes)).astype(np.int32)
    scores = Dense(f"{prefix}scores", 16, output, rng.integers(0, 1000, classes).astype(np.int32))
    return (*layers, scores, ArgMax(f"{prefix}digit"))


def random_thresholds(rng: np.random.Generator, units: int, most: int) -> IntArray:
    """Return the thresholds of two levels, (2, units): 0, and 0 to `most`, both of which come up."""
    second = rng.integers(0, most + 1, units, np.int32)
    second[:2] = 0, most
    return np.stack([np.zeros_like(second), second])


def planes_net(
    seed: int,
    shape: tuple[int, int, int],
    units: tuple[int, ...] = (8,),
    pools: tuple[bool, ...] = (False,),
    strides: tuple[int, ...] = (1,),
    density: float = 0.2,
    weight: int = 1,
    most: int = 20,
    classes: int = 10,
) -> IntegerModel:
    """Return a front that puts out a map of 0 to 2 of this shape, convolutions on it, pooled or not, and scores."""
    rows, cols, channels = shape
    window = Window((26 - 2 * rows) // 2, (26 - 2 * cols) // 2, 2 * rows + 2, 2 * cols + 2)
    front = random_front(seed, channels, density, window, levels=2)
    sharp = random_sharp(seed + 1, shape, units, pools, weight, classes, strides=strides, most=most)
    return IntegerModel(f"planes{seed}", seed, (*front, *sharp))


@st.composite
def planes_nets(draw: st.DrawFn) -> IntegerModel:
    """Draw a net on maps of 0 to 2 of any size and strength that the Z80 kernels fit."""
    rows, cols = (draw(st.integers(3, 9)) for _ in range(2))
    units = draw(st.lists(st.sampled_from([8, 16, 24]), min_size=1, max_size=2 if min(rows, cols) > 6 else 1))
    return planes_net(
        seed=draw(st.integers(0, 2**32 - 10)),
        shape=(rows, cols, draw(st.sampled_from([8, 16]))),
        units=tuple(units),
        pools=tuple(draw(st.booleans()) and len(units) == 1 for _ in units),
        strides=tuple(draw(st.sampled_from([1, 2])) if len(units) == 1 else 1 for _ in units),
        density=draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])),
        weight=draw(st.sampled_from([0, 1, 7])),
        most=draw(st.sampled_from([0, 3, 127])),
        classes=draw(st.integers(2, 10)),
    )


def random_cascade(
    seed: int,
    density: float = 0.2,
    window: Window = WINDOW,
    codes: int = 7,
    weight: int = 31,
    gap: int = 60,
    units: tuple[int, ...] = (16,),
    pools: tuple[bool, ...] = (False,),
    classes: int = 10,
) -> IntegerModel:
    """Return a quick net on the codes of a front, and a sharp one on its bits for where the quick one leaves a doubt."""
    front = random_front(seed, 8, density, window)
    rows, cols = (window.rows - 1) // 2, (window.cols - 1) // 2
    quick = random_quick(seed + 1, rows * cols, codes, weight, classes)
    sharp = random_sharp(seed + 2, (rows, cols, 8), units, pools, classes=classes)
    layers = (*front, *quick, Exit("sure", gap, "front_pool"), *sharp)
    return IntegerModel(f"cascade{seed}", seed, layers)


def random_hidden(
    seed: int,
    inputs: int,
    units: int = 6,
    levels: int = 8,
    shift: int = 3,
    weight: int = 7,
    classes: int = 10,
) -> tuple[Layer, ...]:
    """Return a layer of weights from -weight to weight on so many bits, its activations, and the scores of these."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(-weight, weight + 1, (inputs, units)).astype(np.int32)
    output = rng.integers(0, 255 // min(levels, page_levels(units)) // 4 + 1, (units, classes)).astype(np.int32)
    return (
        Dense("hidden", 8, weights, rng.integers(-128, 128, units).astype(np.int32)),
        Requant("levels", shift, levels),
        Dense("scores", 16, output, rng.integers(0, 1000, classes).astype(np.int32)),
        ArgMax("digit"),
    )


def hidden_cascade(seed: int, density: float = 0.2, gap: int = 60, units: int = 6) -> IntegerModel:
    """Return a quick net on the codes of a front, and a hidden layer on its bits for where the quick one leaves a doubt."""
    exit_ = Exit("sure", gap, "front_pool")
    layers = (*random_front(seed, density=density), *random_quick(seed + 1, 81), exit_, *random_hidden(seed + 2, 648, units))
    return IntegerModel(f"hidden_cascade{seed}", seed, layers)


def shared_net(
    seed: int,
    codes: int = 7,
    units: int = 6,
    quick: bool = True,
    gap: int = 60,
    rows: int = 20,
    density: float = 0.2,
    quick_weight: int = 31,
    weight: int = 7,
    levels: int = 8,
    shift: int = 3,
) -> IntegerModel:
    """Return a hidden layer on the codes of a front, behind a quick net on the same codes or without one."""
    front, places = random_front(seed, density=density, window=Window(4, 4, rows, 20)), (rows - 2) // 2 * 9
    codebook, sums = random_quick(seed + 1, places, codes, quick_weight)
    dense, *rest = random_hidden(seed + 2, places * codes, units, levels, shift, weight)
    assert isinstance(dense, Dense)
    table = np.zeros((places, codes + 1, units), np.int32)
    table[:, 1:] = dense.weight.reshape(places, codes, units)
    early = (sums, Exit("sure", gap, "codes")) if quick else ()
    return IntegerModel(f"shared{seed}", seed, (*front, codebook, *early, CodeSum("hidden", 8, table, dense.bias), *rest))


@st.composite
def cascades(draw: st.DrawFn) -> IntegerModel:
    """Draw a cascade of any size and strength that the Z80 kernels fit."""
    units = draw(st.lists(st.sampled_from([8, 16, 24, 32]), min_size=1, max_size=2))
    return random_cascade(
        seed=draw(st.integers(0, 2**32 - 10)),
        density=draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])),
        codes=draw(st.integers(1, 15)),
        weight=draw(st.sampled_from([0, 1, 15, 63])),
        gap=draw(st.sampled_from([0, 1, 60, 300, 20_000])),
        units=tuple(units),
        pools=tuple(draw(st.booleans()) and len(units) == 1 for _ in units),
        classes=draw(st.integers(2, 10)),
    )


def with_looks(model: IntegerModel, gap: int | None = None, shifts: tuple[tuple[int, int], ...] = CROSS) -> IntegerModel:
    """Return a model whose last net has further looks, where its scores lead by less than a gap (None: always)."""
    again = [layer.name for layer, source in zip(model.layers, sources(model.layers), strict=True) if source < 0][-1]
    *layers, digit = model.layers
    if gap is not None:
        layers.append(Exit("surest", gap, layers[-1].name))
    return IntegerModel(f"looks{model.seed}", model.seed, (*layers, Looks("looks", again, shifts), digit))


def with_more_looks(model: IntegerModel, gap: int, shifts: tuple[tuple[int, int], ...] = CROSS[2:]) -> IntegerModel:
    """Return a model that ends with looks with a second round of them, where the scores still lead by less than a gap."""
    *layers, looks, digit = model.layers
    assert isinstance(looks, Looks)
    more = (looks, Exit("doubt", gap, looks.name), Looks("more_looks", looks.again, shifts), digit)
    return IntegerModel(f"more{model.seed}", model.seed, (*layers, *more))


def two_nets(seed: int, gap: int = 60, density: float = 0.2, hidden: bool = False, filters: int = 8) -> IntegerModel:
    """Return a quick net, and a sharp one with a front of its own for where the quick one leaves a doubt."""
    quick = (*random_front(seed, density=density), *random_quick(seed + 1, 81), Exit("sure", gap, "picture"))
    front = random_front(seed + 2, filters, density, Window(7, 3, 12, 14), "fine")
    sharp = random_hidden(seed + 3, 30 * filters) if hidden else random_sharp(seed + 3, (5, 6, filters), (8,))
    return IntegerModel(f"two{seed}", seed, (*quick, *front, *sharp))


@st.composite
def looks_nets(draw: st.DrawFn) -> IntegerModel:
    """Draw a net with further looks, in one or two rounds: one on pixels, one on codes, or a cascade of two."""
    seed, density = draw(st.integers(0, 2**32 - 10)), draw(st.sampled_from([0.0, 0.1, 0.4]))
    kind = draw(st.sampled_from(["pixels", "codes", "two", "shared"]))
    if kind == "pixels":
        rows, classes = 2 * draw(st.integers(1, 12)), draw(st.integers(2, 12))
        model = random_model(seed, rows=rows, top=draw(st.integers(0, 28 - rows)), classes=classes)
    elif kind == "codes":
        layers = (*random_front(seed, density=density), *random_quick(seed + 1, 81, classes=draw(st.integers(2, 10))))
        model = IntegerModel(f"codes{seed}", seed, (*layers, ArgMax("digit")))
    elif kind == "shared":
        model = shared_net(seed, draw(st.integers(1, 9)), draw(st.integers(2, 20)), gap=draw(st.sampled_from([0, 60, 20_000])))
    else:
        gap, hidden = draw(st.sampled_from([0, 60, 20_000])), draw(st.booleans())
        model = two_nets(seed, gap, density, hidden, draw(st.sampled_from([8, 16])))
    steps = st.integers(-1, 1)
    shifts = draw(st.lists(st.tuples(steps, steps), min_size=1, max_size=4))
    looked = with_looks(model, draw(st.sampled_from([None, 0, 30, 20_000])), tuple(shifts))
    more = draw(st.sampled_from([None, 0, 90, 20_000]))
    return looked if more is None else with_more_looks(looked, more, ((draw(steps), draw(steps)),))
