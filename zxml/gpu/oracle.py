"""The operations of kernels/ops in NumPy float64, forward and backward: what the kernels are tested against.

A function computes what comes out; the function of the same name with `_grad` takes the gradient of that, `grad`, and returns
the gradients of what came in, in the order of the arguments. Parameters that are rounded come rounded. Gradients are sums over
a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zxml.data.distort import draw_word, hash_u32
from zxml.gpu.schedule import EPSILON as LEAST
from zxml.gpu.schedule import FIRST_DECAY, SECOND_DECAY
from zxml.ir import Window
from zxml.quant.tower import BYTES, EPSILON, HALF_RANGE, PATTERNS, PIXELS

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]
Bits = NDArray[np.uint8]
Words = NDArray[np.uint32]

STEEPNESS = 2.0  # of the softmax that gradients take a choice of codes for
STRAIGHT = 0.5  # the slope of a threshold, as far as 1 from it
LEAST_GAIN = 1e-3


def dense(values: Reals, weight: Reals, bias: Reals) -> Reals:
    """Return the sums (batch, units) of values (batch, inputs) by weight (inputs, units)."""
    return values @ weight + bias


def dense_grad(values: Reals, weight: Reals, grad: Reals) -> tuple[Reals, Reals, Reals]:
    """Return the gradients of the values, the weight and the bias."""
    return grad @ weight.T, values.T @ grad, grad.sum(axis=0)


def dropout(values: Reals, pictures: Words, step: int, part: float) -> Reals:
    """Return values (batch, inputs) without that part of them, the others so much greater; gradients go the same way.

    pictures: the numbers of the batch's pictures, (batch,); step: of the epoch. The two and an input's number choose.
    """
    own = hash_u32(pictures ^ hash_u32(np.array([step], np.uint32)))
    words = np.stack([draw_word(own, number) for number in range(values.shape[1])], axis=1)
    return np.where(words < round(part * 2.0**32), 0.0, values / (1 - part))


def conv(maps: Reals, weight: Reals, stride: int = 1) -> Reals:
    """Return the sums (batch, y, x, units) of maps (batch, rows, cols, channels) by weight (side, side, channels, units)."""
    side = len(weight)
    seen = np.lib.stride_tricks.sliding_window_view(maps, (side, side), axis=(1, 2))[:, ::stride, ::stride]
    return np.asarray(np.einsum("nyxcij,ijcu->nyxu", seen, weight))


def conv_grad(maps: Reals, weight: Reals, grad: Reals, stride: int = 1) -> tuple[Reals, Reals]:
    """Return the gradients of the maps and of the weight."""
    map_grad, weight_grad = np.zeros_like(maps), np.zeros_like(weight)
    high, wide = (stride * (count - 1) + 1 for count in grad.shape[1:3])
    for row, col in np.ndindex(weight.shape[:2]):
        there = np.s_[:, row : row + high : stride, col : col + wide : stride]  # what this weight sees
        map_grad[there] += grad @ weight[row, col].T
        weight_grad[row, col] = np.einsum("nyxc,nyxu->cu", maps[there], grad)
    return map_grad, weight_grad


@dataclass(frozen=True, eq=False)
class Normal:
    """What batch normalisation makes of sums: mean, variance and deviation (units,); parts and values like the sums."""

    mean: Reals
    variance: Reals
    deviation: Reals
    parts: Reals
    values: Reals


def normalise(sums: Reals, gain: Reals, shift: Reals) -> Normal:
    """Return parts = (sums - mean) / deviation and values = parts * |gain| + shift of sums (..., units)."""
    places = tuple(range(sums.ndim - 1))
    mean, variance = sums.mean(axis=places), sums.var(axis=places)
    deviation = np.sqrt(variance + EPSILON)
    parts = (sums - mean) / deviation
    return Normal(mean, variance, deviation, parts, parts * np.abs(gain) + shift)


def normalise_grad(normal: Normal, gain: Reals, grad: Reals) -> tuple[Reals, Reals, Reals]:
    """Return the gradients of the sums, the gain and the shift; the mean and the deviation depend on the sums."""
    places = tuple(range(grad.ndim - 1))
    lean = (grad * normal.parts).mean(axis=places)
    sums = (grad - grad.mean(axis=places) - normal.parts * lean) / normal.deviation * np.abs(gain)
    return sums, np.where(gain < 0, -1, 1) * (grad * normal.parts).sum(axis=places), grad.sum(axis=places)


def far_from_threshold(normal: Normal, gain: Reals, shift: Reals) -> Reals:
    """Return how far each sum is from the one whose normalised value is 0."""
    return (normal.parts + shift / np.maximum(np.abs(gain), LEAST_GAIN)) * normal.deviation


def push_back(away: Reals, safe: float, push: float) -> Reals:
    """Return the gradient of push * mean(over + over**2) for away (batch, rows, cols, units): over is what passes safe."""
    over = np.maximum(np.abs(away) - safe, 0.0) / HALF_RANGE if safe > 0 else np.zeros_like(away)
    places = away.shape[1] * away.shape[2]
    return np.asarray(np.where(over > 0, np.sign(away) * (1 + 2 * over), 0.0) * push / HALF_RANGE / places)


def activate(values: Reals, levels: int, closed: bool = False) -> Reals:
    """Return ReLU(value) if levels is 0, else floor(value) + 1 in 0..levels; a single level is off at 0 unless closed."""
    if levels == 0:
        return np.maximum(values, 0.0)
    if levels == 1 and not closed:
        return np.asarray(values > 0, np.float64)
    return np.asarray(np.clip(np.floor(values) + 1, 0, levels))


def activate_grad(values: Reals, levels: int, grad: Reals) -> Reals:
    """Return the gradient of the values: straight through a threshold that is near, and through levels where they change."""
    if levels == 0:
        return grad * (values > 0)
    if levels == 1:
        return grad * (np.abs(values) < 1) * STRAIGHT
    return grad * ((values > -0.5) & (values < levels - 0.5))


def pool(maps: Reals) -> Reals:
    """Return the greatest of each block of 2 x 2 of maps (batch, rows, cols, channels); odd ends make blocks of their own."""
    return np.asarray(_blocks(maps).max(axis=(2, 4)))


def pool_grad(maps: Reals, grad: Reals) -> Reals:
    """Return the gradient of the maps: the greatest of a block share it alike."""
    blocks = _blocks(maps)
    greatest = blocks == blocks.max(axis=(2, 4), keepdims=True)
    shares = greatest * grad[:, :, None, :, None] / greatest.sum(axis=(2, 4), keepdims=True)
    _, rows, cols, channels = maps.shape
    return np.asarray(shares.reshape(len(maps), 2 * blocks.shape[1], -1, channels)[:, :rows, :cols])


def _blocks(maps: Reals) -> Reals:
    """Return maps as blocks, (batch, y, 2, x, 2, channels), with -inf beyond odd ends."""
    count, rows, cols, channels = maps.shape
    padded = np.pad(maps, ((0, 0), (0, rows % 2), (0, cols % 2), (0, 0)), constant_values=-np.inf)
    return padded.reshape(count, -(-rows // 2), 2, -(-cols // 2), 2, channels)


def pixels(pictures: Bits, window: Window) -> Reals:
    """Return the window of pictures (batch, 28, 28) as a map (batch, rows, cols, 1)."""
    cut = pictures[:, window.top : window.top + window.rows, window.left : window.left + window.cols]
    return cut[..., None].astype(np.float64)


def patch_patterns(pictures: Bits, window: Window, high: int, wide: int) -> Ints:
    """Return the pattern of each patch of high x wide pixels, (batch, patches)."""
    seen = pixels(pictures, window).reshape(len(pictures), window.rows // high, high, window.cols // wide, wide)
    flat = seen.swapaxes(2, 3).reshape(len(pictures), -1, high * wide)
    return np.asarray((flat.astype(np.int64) << np.arange(high * wide)).sum(axis=2))


def row_sums(picks: Ints, rows: Reals, bias: Reals | float = 0.0) -> Reals:
    """Return sums (batch, units) of the rows (places, choices, units) that picks (batch, places) pick from 1; 0 picks none."""
    return one_hot(picks, rows.shape[1]).reshape(len(picks), -1) @ rows.reshape(-1, rows.shape[2]) + bias


def row_sums_grad(picks: Ints, rows: Reals, grad: Reals) -> Reals:
    """Return the gradient of the rows."""
    return (one_hot(picks, rows.shape[1]).reshape(len(picks), -1).T @ grad).reshape(rows.shape)


def one_hot(picks: Ints, choices: int) -> Reals:
    """Return picks (batch, places) of 1 to choices as zeros and ones, (batch, places, choices)."""
    return np.asarray(picks[..., None] == np.arange(1, choices + 1), np.float64)


def chances(choice: Reals) -> Reals:
    """Return what gradients take the choice (256, codes) for: its softmax, and none of byte 0."""
    raised = np.exp(STEEPNESS * (choice - choice.max(axis=1, keepdims=True)))
    table = raised / raised.sum(axis=1, keepdims=True)
    table[0] = 0.0
    return np.asarray(table)


def codes(octets: Ints, choice: Reals) -> Ints:
    """Return the codes of octets: 1 + the greatest of choice (256, codes), and 0 of octet 0."""
    return np.where(octets == 0, 0, 1 + choice.argmax(axis=1)[octets])


def codes_grad(octets: Ints, choice: Reals, grad: Reals) -> tuple[Reals, Reals]:
    """Return the gradients of the bits of octets, (batch, places, 8), and of the choice; grad: of each code, (..., codes)."""
    table, bits = chances(choice), 1 << np.arange(8)
    change = table[octets[..., None] | bits] - table[octets[..., None] & ~bits]  # (batch, places, 8, codes)
    sums = np.zeros((BYTES, choice.shape[1]))
    np.add.at(sums, octets, grad)
    sums[0] = 0.0
    return np.einsum("npk,npjk->npj", grad, change), STEEPNESS * table * (sums - (sums * table).sum(axis=1, keepdims=True))


def patch_table(linear: Reals, bias: Reals, free: Reals) -> Reals:
    """Return the real table (512, filters): bias + the linear weights (9, filters) of a pattern's pixels + free."""
    return bias + free + _pattern_pixels() @ linear


def patch_conv(patterns: Ints, table: Reals, levels: int = 1) -> Reals:
    """Return the features (batch, rows, cols, filters) of patterns (batch, rows, cols): levels, and none of pattern 0."""
    return activate(table[patterns], levels) * (patterns[..., None] > 0)


def patch_conv_grad(patterns: Ints, table: Reals, grad: Reals, levels: int = 1) -> tuple[Reals, Reals, Reals]:
    """Return the gradients of the linear weights, the bias and the free part."""
    sums = np.zeros_like(table)
    np.add.at(sums, patterns, grad)
    free = activate_grad(table, levels, sums) * (np.arange(PATTERNS) > 0)[:, None]
    return _pattern_pixels().T @ free, free.sum(axis=0), free


def window_patterns(pictures: Bits, window: Window) -> Ints:
    """Return the 3 x 3 pattern at each place of the window, (batch, rows - 2, cols - 2)."""
    seen = np.lib.stride_tricks.sliding_window_view(pixels(pictures, window)[..., 0], (3, 3), axis=(1, 2))
    return np.asarray((seen.reshape(*seen.shape[:3], PIXELS).astype(np.int64) << np.arange(PIXELS)).sum(axis=3))


def _pattern_pixels() -> Reals:
    return ((np.arange(PATTERNS)[:, None] >> np.arange(PIXELS)) & 1).astype(np.float64)


def cross_entropy(scores: Reals, labels: Bits, scale: float, temperature: float) -> float:
    """Return the sum over a batch of the cross-entropy of softmax(scores * scale * exp(temperature))."""
    logits = scores * (scale * np.exp(temperature))
    logits = logits - logits.max(axis=1, keepdims=True)
    return float((np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), labels]).sum())


def cross_entropy_grad(scores: Reals, labels: Bits, scale: float, temperature: float) -> tuple[Reals, float]:
    """Return the gradients of the scores and of the temperature."""
    size = scale * np.exp(temperature)
    raised = np.exp((scores - scores.max(axis=1, keepdims=True)) * size)
    grad = (raised / raised.sum(axis=1, keepdims=True) - np.eye(scores.shape[1])[labels]) * size
    return grad, float((grad * scores).sum())


def squared_error(scores: Reals, labels: Bits, scale: float) -> float:
    """Return half the sum of the squared differences of scores * scale from 1 at the label and 0 elsewhere."""
    return float(((scores * scale - np.eye(scores.shape[1])[labels]) ** 2).sum() / 2)


def squared_error_grad(scores: Reals, labels: Bits, scale: float) -> Reals:
    """Return the gradient of the scores."""
    return (scores * scale - np.eye(scores.shape[1])[labels]) * scale


@dataclass(frozen=True, eq=False)
class Moving:
    """Parameters in motion, all alike in shape: their values, the optimiser's moments and their running average."""

    values: Reals
    first: Reals
    second: Reals
    average: Reals


def descend(
    moving: Moving,
    grad: Reals,
    rates: Reals,
    step: Reals,
    limit: Reals,
    decays: Reals,
    momentum: float | None,
    memory: float,
) -> Moving:
    """Return the parameters after a step of Adam, or of SGD with a momentum.

    grad: the mean over the batch; rates: a row of `zxml.gpu.schedule.step_rates`; step: what a unit is worth in real numbers;
    limit: the greatest size; decays: 1 where weight decay draws to 0, else 0; memory: the part of the values that their average
    takes.
    """
    grad = grad / step
    if momentum is None:
        first = FIRST_DECAY * moving.first + (1 - FIRST_DECAY) * grad
        second = SECOND_DECAY * moving.second + (1 - SECOND_DECAY) * grad**2
        change = first / (np.sqrt(second * rates[1]) + LEAST)
    else:
        first, second = momentum * moving.first + grad, moving.second
        change = first
    values = np.clip(moving.values - rates[0] * change / step - rates[2] * decays * moving.values, -limit, limit)
    return Moving(values, first, second, moving.average + (values - moving.average) * memory)
