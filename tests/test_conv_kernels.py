"""The convolutions of one-bit maps, and the sums over their bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.feature_nets import random_front
from tests.kernels_alone import PICTURES, Shape, check, check_interrupted, lay_out
from tests.pasmo import pasmo_bytes
from zxml.ir import ArgMax, Conv, Dense, IntegerModel, Pool, Range, Requant, Window
from zxml.z80gen.emit import build
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels.bit_sum import BIT_SUM, batch_size
from zxml.z80gen.kernels.bit_sum_4bit import BIT_SUM_4BIT
from zxml.z80gen.kernels.conv_expand import CONV_EXPAND
from zxml.z80gen.kernels.conv_part import evaluated
from zxml.z80gen.kernels.conv_pool import CONV_POOL
from zxml.z80gen.kernels.conv_table import CONV_TABLE

FOUR_BIT, FOUR_BIT_POOL, TERNARY, TERNARY_POOL = CONV_EXPAND


def net(
    shape: Shape,
    units: tuple[int, ...],
    pooled: bool = False,
    stride: int = 1,
    seed: int = 0,
    density: float = 0.2,
    weight: int = 7,
    output: int = 15,
    classes: int = 10,
) -> IntegerModel:
    """Return a front that puts out a map of this shape, convolutions on it, the last one pooled or not, and scores."""
    rng = np.random.default_rng(seed)
    rows, cols, channels = shape
    layers = [*random_front(seed, channels, density, Window(0, 0, 2 * rows + 1, 2 * cols + 1))]
    for number, count in enumerate(units, 1):
        kernel = rng.integers(-weight, weight + 1, (3, 3, channels, count)).astype(np.int32)
        conv = Conv(f"conv{number}", 8, kernel, rng.integers(-40, 41, count).astype(np.int32), stride)
        layers += [conv, Requant(f"levels{number}", 1, 1)]
        rows, cols, channels = (rows - 3) // stride + 1, (cols - 3) // stride + 1, count
    if pooled:
        layers.append(Pool("pool"))
        rows, cols = -(-rows // 2), -(-cols // 2)
    weights = rng.integers(0, output + 1, (rows * cols * channels, classes)).astype(np.int32)
    scores = Dense("scores", 16, weights, rng.integers(0, 60_000, classes).astype(np.int32))
    return IntegerModel("net", seed, (*layers, scores, ArgMax("digit")))


def conv_of(model: IntegerModel) -> Conv:
    """Return the first convolution."""
    return next(layer for layer in model.layers if isinstance(layer, Conv))


quick = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
shapes = st.tuples(st.integers(3, 9), st.integers(3, 9), st.integers(1, 8))
strides = st.sampled_from([1, 2])
densities = st.sampled_from([0.0, 0.05, 0.3, 1.0])


@quick
@given(shapes, st.sampled_from([8, 16, 24]), st.booleans(), strides, densities, st.sampled_from([0, 7, 127]))
def test_convolutions_from_tables_are_exact_and_take_the_planned_time(
    shape: Shape, units: int, pooled: bool, stride: int, density: float, weight: int
) -> None:
    model = net(shape, (units,), pooled, stride, sum(shape), density, weight)
    check(lay_out(model, CONV_POOL if pooled else CONV_TABLE))


@quick
@given(st.sampled_from(CONV_EXPAND), shapes, st.integers(0, 56), st.sampled_from([8, 16]), strides, densities)
def test_conv_expand_is_exact_and_takes_the_planned_time(
    kernel: Kernel, shape: Shape, more: int, units: int, stride: int, density: float
) -> None:
    weight = 1 if kernel in (TERNARY, TERNARY_POOL) else 7
    rows, cols, channels = shape
    model = net((rows, cols, channels + more), (units,), kernel.kinds[-1] is Pool, stride, more, density, weight)
    check(lay_out(model, kernel), PICTURES[::2])


@quick
@given(shapes, st.sampled_from([8, 16, 24]), st.sampled_from([0, 1, 15, 31, 255]), st.integers(2, 10), st.booleans())
def test_sums_over_bits_are_exact_and_take_the_planned_time(
    shape: Shape, units: int, output: int, classes: int, full: bool
) -> None:
    model = net(shape, (units,), output=output, classes=classes)
    if full:
        conv_of(model).weight[:] = 0
        conv_of(model).bias[:] = 0
    for kernel in (BIT_SUM, *([BIT_SUM_4BIT] if output < 16 else [])):
        check(lay_out(model, CONV_TABLE, kernel), PICTURES[::2])


@pytest.mark.parametrize("kernel", [CONV_POOL, FOUR_BIT_POOL, TERNARY_POOL], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(("weight", "bias"), [(-1, 127), (1, -128), (0, -1), (0, 0)])
def test_extreme_weights_on_extreme_maps_are_exact(kernel: Kernel, weight: int, bias: int) -> None:
    model = net((7, 6, 8 if kernel is CONV_POOL else 24), (8,), True, density=1.0)
    conv_of(model).weight[:] = weight * (127 if kernel is CONV_POOL else 1)
    conv_of(model).bias[:] = bias
    check(lay_out(model, kernel), PICTURES[:8])


def test_convolutions_of_several_sizes_share_code_and_buffers() -> None:
    model = net((9, 8, 8), (16, 8, 32), weight=1)
    check(lay_out(model, TERNARY, FOUR_BIT, TERNARY, BIT_SUM), PICTURES[::3])
    model = net((9, 8, 8), (8, 8, 16), pooled=True)
    check(lay_out(model, CONV_TABLE, CONV_TABLE, CONV_POOL, BIT_SUM), PICTURES[::3])


@pytest.mark.parametrize("kernel", [CONV_POOL, FOUR_BIT_POOL, TERNARY_POOL], ids=lambda kernel: kernel.name)
def test_interrupts_change_nothing_and_other_registers_are_kept(kernel: Kernel) -> None:
    check_interrupted(lay_out(net((9, 9, 8), (16,), pooled=True, weight=1), kernel, BIT_SUM))


@pytest.mark.slow
@pytest.mark.parametrize("sums", [BIT_SUM, BIT_SUM_4BIT], ids=lambda kernel: kernel.name)
def test_another_assembler_makes_the_same_bytes(tmp_path: Path, sums: Kernel) -> None:
    model = net((9, 9, 8), (8, 8, 8, 8), pooled=True, weight=1)
    assembly = build(lay_out(model, CONV_TABLE, FOUR_BIT, TERNARY, CONV_POOL, sums), tmp_path)
    assert pasmo_bytes(tmp_path / "main.asm") == assembly.image


def test_no_batch_of_the_largest_weights_overflows_a_byte() -> None:
    weight = np.array([[255, 0], [0, 100], [0, 100], [0, 55], [0, 1]], np.int32)
    assert batch_size(weight) == 3
    assert batch_size(weight[1:]) == 3
    assert batch_size(weight[:1]) == 1
    assert batch_size(np.zeros((1000, 3), np.int32)) == 255


def test_a_pooled_unit_is_looked_at_until_it_is_on() -> None:
    sums = np.array([[-1, -1, 0], [0, -1, -1], [-1, 0, 5]])[None, :, :, None]  # one unit, 3 x 3 positions
    expected = [[1, 1, 1], [1, 0, 0], [1, 1, 1]]
    np.testing.assert_array_equal(evaluated(sums, 2)[0, :, :, 0], expected)
    assert evaluated(sums, 1).all()


@pytest.mark.parametrize(
    ("kernel", "shape", "change", "reason"),
    [
        (CONV_TABLE, (5, 5, 9), {}, "has tables for 8 channels, not 9"),
        (CONV_TABLE, (5, 5, 8), {"sum_bits": 16}, "sums are 8 bits wide, not 16"),
        (FOUR_BIT, (5, 5, 8), {"weight": np.full((3, 3, 8, 8), 8, np.int32)}, r"packs weights in \[-8, 7\], not \[8, 8\]"),
        (TERNARY, (5, 5, 8), {"weight": np.full((3, 3, 8, 8), 2, np.int32)}, r"packs weights in \[-1, 1\], not \[2, 2\]"),
        (CONV_TABLE, (7, 7, 8), {"stride": 3}, "steps over at most 2 places, not 3"),
        (TERNARY, (5, 5, 65), {}, "has tables for 64 channels, not 65"),
    ],
)
def test_kernels_say_what_they_do_not_fit(kernel: Kernel, shape: Shape, change: dict[str, object], reason: str) -> None:
    conv = replace(Conv("conv", 8, np.zeros((3, 3, shape[2], 8), np.int32), np.zeros(8, np.int32)), **change)  # type: ignore[arg-type]
    part = Part(Pool("pool"), Range(0, 1), (conv, Requant("levels", 0, 1)), shape)
    with pytest.raises(AssertionError, match=reason):
        assert kernel.fits(part) is None, kernel.fits(part)
