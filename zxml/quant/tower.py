"""Towers (`zxml.spec.TowerSpec`): what training starts from, and trained parameters as layers of the integer model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.ir import PATCH_SIDE, Codebook, CodeSum, Conv, Dense, IntArray, Layer, PatchConv, Pool, Requant, Steps, Window
from zxml.quant.params import LIMIT_MARGIN, weight_limit
from zxml.spec import ConvSpec, HiddenSpec, TowerSpec

Reals = NDArray[np.float64]

CLASSES = 10
PATTERNS, PIXELS = 1 << PATCH_SIDE**2, PATCH_SIDE**2
BYTES = 256
CHANCE_SET = 0.3  # the part of the features that a new net expects to be set
CODE_SET = 0.5  # the part of the places that it expects to have a code
HALF_RANGE = 128  # of 8-bit sums
FIRST_NORMAL = {1: (1.0, 0.0), 2: (1.25, -0.5)}  # gain and shift that a convolution of so many levels starts with
EPSILON = 0.1  # of the batch normalisation, added to the variance


@dataclass(frozen=True, eq=False)
class Param:
    """Values to learn, in units.

    step: what a unit is worth in real numbers; limit: the greatest size, in units; decays: whether weight decay draws it to 0.
    """

    values: Reals
    step: float = 1.0
    limit: float = np.inf
    decays: bool = False


@dataclass(frozen=True, eq=False)
class Statistics:
    """The mean and the variance of each sum of a convolution, (units,) each."""

    mean: Reals
    variance: Reals


def map_shapes(tower: TowerSpec) -> list[tuple[int, int, int]]:
    """Return the shape (rows, cols, channels) of the pooled features, and of what each convolution puts out."""
    rows, cols = (-(-(side - PATCH_SIDE + 1) // 2) for side in (tower.window.rows, tower.window.cols))
    shapes = [(rows, cols, tower.codes or tower.filters)]
    for conv in tower.convs:
        rows, cols = ((side - PATCH_SIDE) // conv.stride + 1 for side in (rows, cols))
        if conv.pool:
            rows, cols = -(-rows // 2), -(-cols // 2)
        shapes.append((rows, cols, conv.units))
    return shapes


def initial_tower(tower: TowerSpec, rng: np.random.Generator) -> dict[str, Param]:
    """Return the parameters that training starts from, by name, from random numbers.

    front.linear (9, filters), front.bias, front.free (512, filters); with codes codes.choice (256, codes); convN.weight
    (3, 3, channels, units), convN.gain, convN.shift (units,); hidden.weight (1, 1, inputs, units), hidden.shift (units,);
    scores.weight (inputs, 10), scores.bias, scores.temperature. Of codes each is an input or a channel of its own.
    """
    shapes = map_shapes(tower)
    params = {
        "front.linear": Param(rng.normal(0.0, 0.5, (PIXELS, tower.filters))),
        "front.bias": Param(np.full(tower.filters, 0.5 - 0.5 * tower.levels)),
        "front.free": Param(np.zeros((PATTERNS, tower.filters))),
    }
    if tower.codes:
        bits = (np.arange(BYTES)[:, None] >> np.arange(8)) & 1
        params["codes.choice"] = Param((bits - CHANCE_SET) @ rng.normal(0.0, 1.0, (8, tower.codes)))
    for number, (conv, shape) in enumerate(zip(tower.convs, shapes, strict=False), 1):
        params |= _conv_params(f"conv{number}", conv, shape[2], rng)
    inputs = int(np.prod(shapes[-1]))
    chance = CODE_SET / tower.codes if tower.codes else CHANCE_SET
    if tower.hidden.units:
        params |= _hidden_params(tower.hidden, inputs, chance * inputs, rng)
        inputs, chance = tower.hidden.units, CHANCE_SET
    return params | _score_params((inputs, CLASSES), chance * inputs, tower, rng)


def export_tower(
    tower: TowerSpec, values: Mapping[str, Reals], statistics: Sequence[Statistics], prefix: str = ""
) -> tuple[Layer, ...]:
    """Return the layers of a trained tower, from its features to its scores.

    values: by name, as `initial_tower` lays them out; statistics: of each convolution; prefix: of the layers' names.
    """
    window = tower.window
    layers: list[Layer] = [
        PatchConv(
            f"{prefix}front", Window(window.top, window.left, window.rows, window.cols), feature_table(values, tower.levels)
        ),
        Pool(f"{prefix}features"),
    ]
    if tower.codes:
        return (*layers, Codebook(f"{prefix}codes", code_table(values)), *_code_layers(tower, values, prefix))
    for number, (conv, stats) in enumerate(zip(tower.convs, statistics, strict=True), 1):
        layers += _conv_layers(f"{prefix}conv{number}", conv, f"conv{number}", values, stats)
    if tower.hidden.units:
        weight = np.rint(values["hidden.weight"])[0, 0].astype(np.int32)
        layers.append(Dense(f"{prefix}hidden", tower.hidden.sum_bits, weight, _hidden_bias(values)))
        layers.append(Requant(f"{prefix}levels", tower.hidden.shift, tower.hidden.levels))
    return (*layers, Dense(f"{prefix}scores", 16, *_scores(values["scores.weight"], values["scores.bias"])))


def _code_layers(tower: TowerSpec, values: Mapping[str, Reals], prefix: str) -> tuple[Layer, ...]:
    """Return the layers after the codes."""
    weight, bias = _scores(values["scores.weight"], values["scores.bias"])
    if not tower.hidden.units:
        return (CodeSum(f"{prefix}scores", 16, _rows(tower, weight), bias),)
    table = _rows(tower, np.rint(values["hidden.weight"])[0, 0].astype(np.int32))
    return (
        CodeSum(f"{prefix}hidden", tower.hidden.sum_bits, table, _hidden_bias(values)),
        Requant(f"{prefix}levels", tower.hidden.shift, tower.hidden.levels),
        Dense(f"{prefix}scores", 16, weight, bias),
    )


def _rows(tower: TowerSpec, weight: IntArray) -> IntArray:
    """Return weights (places * codes, units) as rows (places, 1 + codes, units), of which code 0 has zeros."""
    return np.pad(weight.reshape(-1, tower.codes, weight.shape[1]), ((0, 0), (1, 0), (0, 0)))


def _hidden_bias(values: Mapping[str, Reals]) -> IntArray:
    return np.asarray(np.rint(values["hidden.shift"]), np.int32)


def code_table(values: Mapping[str, Reals]) -> IntArray:
    """Return the code of each byte of features, (256,), of trained parameters; byte 0 has none."""
    code = values["codes.choice"].argmax(axis=1) + 1
    code[0] = 0
    return np.asarray(code, np.int32)


def _conv_layers(name: str, conv: ConvSpec, part: str, values: Mapping[str, Reals], stats: Statistics) -> list[Layer]:
    weight = np.rint(values[f"{part}.weight"]).astype(np.int32)
    if conv.levels > 1:
        bias, thresholds = _level_thresholds(values[f"{part}.gain"], values[f"{part}.shift"], stats, conv.levels)
        layers: list[Layer] = [Conv(name, 8, weight, bias, conv.stride), Steps(f"{name}_levels", thresholds)]
    else:
        bias = _thresholds(values[f"{part}.gain"], values[f"{part}.shift"], stats)
        layers = [Conv(name, 8, weight, bias, conv.stride), Requant(f"{name}_bits", 0, 1)]
    return [*layers, Pool(f"{name}_pool")] if conv.pool else layers


def feature_table(values: Mapping[str, Reals], levels: int = 1) -> IntArray:
    """Return the table of features (512, filters) of trained parameters, of 0 to `levels`; pattern 0 has none."""
    pixels = (np.arange(PATTERNS)[:, None] >> np.arange(PIXELS)) & 1
    real = values["front.bias"] + values["front.free"] + pixels @ values["front.linear"]
    above = (real > 0).astype(np.int32) + sum((real >= level).astype(np.int32) for level in range(1, levels))
    return np.asarray(above * (np.arange(PATTERNS)[:, None] > 0), np.int32)


def _conv_params(name: str, conv: ConvSpec, channels: int, rng: np.random.Generator) -> dict[str, Param]:
    gain, shift = FIRST_NORMAL[conv.levels]
    most = weight_limit(conv.weight_bits)
    shape = (PATCH_SIDE, PATCH_SIDE, channels, conv.units)
    weight = rng.normal(0.0, 0.35 * most + 0.25, shape).clip(-most, most)
    return {
        f"{name}.weight": Param(weight, conv.weight_step, most + LIMIT_MARGIN, decays=True),
        f"{name}.gain": Param(np.full(conv.units, gain)),
        f"{name}.shift": Param(np.full(conv.units, shift)),
    }


def _hidden_params(hidden: HiddenSpec, inputs: int, seen: float, rng: np.random.Generator) -> dict[str, Param]:
    limit = weight_limit(hidden.weight_bits) + LIMIT_MARGIN
    weight = rng.normal(0.0, 1.2 / np.sqrt(seen) / hidden.weight_step, (1, 1, inputs, hidden.units))
    return {
        "hidden.weight": Param(weight.clip(-limit, limit), hidden.weight_step, limit, decays=True),
        "hidden.shift": Param(np.zeros(hidden.units), hidden.weight_step, HALF_RANGE - 1),
    }


def _score_params(shape: tuple[int, int], seen: float, tower: TowerSpec, rng: np.random.Generator) -> dict[str, Param]:
    """Return the parameters of scores of which so many weights are seen at a time."""
    limit = weight_limit(tower.weight_bits) + LIMIT_MARGIN
    weight = rng.normal(0.0, 1.2 / np.sqrt(seen) / tower.weight_step, shape).clip(-limit, limit)
    return {
        "scores.weight": Param(weight, tower.weight_step, limit, decays=True),
        "scores.bias": Param(np.zeros(CLASSES), tower.weight_step),
        "scores.temperature": Param(np.zeros(1)),
    }


def _scores(weight: Reals, bias: Reals) -> tuple[IntArray, IntArray]:
    """Return weights and biases rounded and moved until the least of each row is 0, which changes no order of scores."""
    weight, bias = np.rint(weight), np.rint(bias)
    return (weight - weight.min(axis=-1, keepdims=True)).astype(np.int32), (bias - bias.min()).astype(np.int32)


def _level_thresholds(gain: Reals, shift: Reals, stats: Statistics, levels: int) -> tuple[IntArray, IntArray]:
    """Return the bias that makes a sum >= 0 where its normalised value is >= 0, and thresholds for 0, 1 ... on top of it."""
    slope = np.abs(gain) / np.sqrt(stats.variance + EPSILON)
    least = np.ceil(stats.mean + (np.arange(levels)[:, None] - shift) / np.maximum(slope, 1e-9))
    bias = np.clip(-least[0], -HALF_RANGE, HALF_RANGE - 1)
    thresholds = np.clip(least + bias, 0, HALF_RANGE - 1)
    thresholds[0] = 0
    return bias.astype(np.int32), thresholds.astype(np.int32)


def _thresholds(gain: Reals, shift: Reals, stats: Statistics) -> IntArray:
    """Return the bias that makes a sum >= 0 where its normalised value is > 0: batch normalisation folded into 8 bits."""
    slope = np.abs(gain) / np.sqrt(stats.variance + EPSILON)
    threshold = stats.mean - shift / np.maximum(slope, 1e-9)
    return np.asarray(np.clip(-(np.floor(threshold) + 1), -HALF_RANGE, HALF_RANGE - 1), np.int32)
