"""The kernels of maps of 0, 1 and 2: against the reference and their costs in two processors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.feature_nets import planes_net, planes_nets, with_looks
from tests.kernels_alone import PICTURES, Shape, check, check_interrupted, lay_out
from tests.pasmo import pasmo_bytes
from tests.test_feature_kernels import check_both
from tests.test_looks import check_both as check_looks
from tests.test_z80_kernels import make
from zxml.ir import Conv, Exit, IntArray, IntegerModel, Pool, Range, Steps
from zxml.quant.cascade import choose_gaps
from zxml.reference import run
from zxml.z80gen.emit import build
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels.bit_sum_4bit import BIT_SUM_PLANES
from zxml.z80gen.kernels.conv_expand import CONV_PLANES, MOST_BANDS
from zxml.z80gen.kernels.conv_part import NONE_BEFORE, greatest_before
from zxml.z80gen.kernels.conv_places import CONV_PLACES
from zxml.z80gen.kernels.conv_threes import CONV_THREES, MOST_CHANNELS
from zxml.z80gen.kernels.packing import row_of_fives

ONE_BAND = CONV_PLANES[::MOST_BANDS]
FOUR_BIT, FOUR_BIT_POOL, TERNARY, TERNARY_POOL = ONE_BAND
_, _, TWO_BANDS, TWO_BANDS_POOL = CONV_PLANES[1::MOST_BANDS]
PLACES, PLACES_POOL = CONV_PLACES
THREES, THREES_POOL = CONV_THREES
CONVS = (*ONE_BAND, *CONV_PLACES, *CONV_THREES)

quick = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
strides = st.sampled_from([1, 2])


def pooled(kernel: Kernel) -> bool:
    return kernel.kinds[-1] is Pool


def channels_of(kernel: Kernel) -> int:
    """Return the most channels that a kernel takes."""
    return MOST_CHANNELS if kernel in CONV_THREES else 64


def weight_of(kernel: Kernel) -> int:
    """Return the greatest weight that a kernel takes, and the least below 0."""
    return 7 if "4bit" in kernel.name else 1


@quick
@given(
    st.sampled_from(CONVS),
    st.tuples(st.integers(3, 9), st.integers(3, 9), st.integers(1, 64)),
    st.sampled_from([8, 16]),
    strides,
    st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    st.sampled_from([0, 5, 127]),
)
def test_convolutions_of_planes_are_exact_and_take_the_planned_time(
    kernel: Kernel, shape: Shape, units: int, stride: int, density: float, most: int
) -> None:
    shape = *shape[:2], min(shape[2], channels_of(kernel))
    model = planes_net(shape[0], shape, (units,), (pooled(kernel),), (stride,), density, weight_of(kernel), most)
    check(lay_out(model, kernel), PICTURES[::2])


@quick
@given(
    st.sampled_from([kernel for kernel in CONV_PLANES if kernel not in ONE_BAND]),
    st.tuples(st.integers(5, 11), st.integers(3, 6), st.sampled_from([8, 24])),
    strides,
    st.sampled_from([0.05, 0.5]),
)
def test_bands_of_rows_give_the_same_map_in_the_planned_time(kernel: Kernel, shape: Shape, stride: int, density: float) -> None:
    model = planes_net(shape[0], shape, (8,), (pooled(kernel),), (stride,), density, weight_of(kernel))
    layers = model.layers[2 : 2 + len(kernel.kinds)]
    reason = kernel.fits(Part(model.layers[1], Range(0, 2), layers, shape))
    event(reason or "computed")
    if reason:
        assert "the rows make" in reason
    else:
        check(lay_out(model, kernel), PICTURES[::2])


@pytest.mark.parametrize("kernel", [TERNARY, PLACES], ids=lambda kernel: kernel.name)
def test_the_most_units_are_exact(kernel: Kernel) -> None:
    check(lay_out(planes_net(13, (4, 4, 32), (96,), density=0.5), kernel), PICTURES[::3])


def test_bands_of_many_cells_are_exact() -> None:
    check(lay_out(planes_net(14, (9, 9, 8), (8,), (True,), density=0.5), TWO_BANDS_POOL), PICTURES[::3])


def test_bands_of_rows_take_less_memory() -> None:
    model = planes_net(12, (9, 9, 16), (16,), density=0.5)
    sizes = [lay_out(model, kernel).nbytes for kernel in CONV_PLANES[2 * MOST_BANDS :][:3]]
    assert sizes == sorted(sizes, reverse=True)
    assert len({*sizes}) == len(sizes)


@quick
@given(planes_nets())
def test_random_nets_on_planes_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES[::3])


@pytest.mark.slow
@settings(quick, max_examples=40)
@given(planes_nets())
def test_many_random_nets_on_planes_are_exact_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES)


@pytest.mark.parametrize("kernel", CONVS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(("weight", "bias", "second"), [(-1, 127, 127), (1, -128, 0), (1, 100, 127), (0, 0, 0), (0, -1, 0)])
def test_extreme_weights_and_thresholds_on_extreme_maps_are_exact(kernel: Kernel, weight: int, bias: int, second: int) -> None:
    model = planes_net(1, (5, 6, 24), (8,), (pooled(kernel),), density=1.0, most=second)
    conv, steps = model.layers[2:4]
    assert isinstance(conv, Conv)
    assert isinstance(steps, Steps)
    conv.weight[:] = weight
    conv.bias[:] = bias
    check(lay_out(model, kernel, BIT_SUM_PLANES), PICTURES[:8])


@pytest.mark.parametrize("kernel", CONVS, ids=lambda kernel: kernel.name)
def test_the_most_channels_are_exact(kernel: Kernel) -> None:
    model = planes_net(2, (5, 4, channels_of(kernel)), (8,), (pooled(kernel),), density=0.6)
    check(lay_out(model, kernel, BIT_SUM_PLANES), PICTURES[:8])


def test_convolutions_of_several_sizes_share_code_and_buffers() -> None:
    model = planes_net(3, (11, 10, 8), (16, 8, 24, 8), (False,) * 4, (1,) * 4)
    check(lay_out(model, TERNARY, FOUR_BIT, THREES, PLACES, BIT_SUM_PLANES), PICTURES[::3])


@quick
@given(st.sampled_from([0, 1, 8, 15]), st.integers(2, 10), st.integers(1, 20))
def test_sums_over_planes_are_exact_and_take_the_planned_time(weight: int, classes: int, channels: int) -> None:
    model = planes_net(4, (3, 4, channels), (24,), density=0.5, most=2, classes=classes)
    model.layers[4].weight[:] %= weight + 1  # type: ignore[union-attr]
    check(lay_out(model, TERNARY, BIT_SUM_PLANES), PICTURES[::2])


@pytest.mark.parametrize("bias", [-128, 127])
def test_sums_over_empty_and_over_full_planes_are_exact(bias: int) -> None:
    model = planes_net(5, (5, 5, 8), (64,), weight=0, most=127)
    conv = model.layers[2]
    assert isinstance(conv, Conv)
    conv.bias[:] = bias
    check(lay_out(model, TERNARY, BIT_SUM_PLANES), PICTURES[:2])


@pytest.mark.parametrize("kernel", [TERNARY_POOL, PLACES_POOL, THREES_POOL], ids=lambda kernel: kernel.name)
def test_interrupts_change_nothing_and_other_registers_are_kept(kernel: Kernel) -> None:
    check_interrupted(lay_out(planes_net(6, (7, 7, 8), (16,), (True,)), kernel, BIT_SUM_PLANES))


@pytest.mark.slow
def test_another_assembler_makes_the_same_bytes(tmp_path: Path) -> None:
    model = planes_net(7, (11, 11, 8), (8, 8, 8, 8), (False, False, False, True), (1,) * 4)
    for first, third, last in [(PLACES, FOUR_BIT, TERNARY_POOL), (TWO_BANDS, PLACES, TWO_BANDS_POOL)]:
        folder = tmp_path / last.name
        assembly = build(lay_out(model, first, THREES, third, last, BIT_SUM_PLANES), folder)
        assert pasmo_bytes(folder / "main.asm") == assembly.image


def test_a_net_with_looks_on_planes_is_exact() -> None:
    check_looks(with_looks(planes_net(8, (6, 5, 8)), 30), PICTURES[::3])


def test_a_cascade_goes_on_from_the_planes_of_a_front() -> None:
    model = planes_net(9, (6, 5, 8), most=5)
    sharp = [replace(layer, name=f"{layer.name}_2") for layer in planes_net(10, (6, 5, 8), (16,)).layers[2:]]
    layers = (*model.layers[:-1], Exit("sure", 0, "front_pool"), *sharp)
    cascade = choose_gaps(IntegerModel("cascade", 9, layers), PICTURES, (0.5,))
    assert set(run(cascade, PICTURES).exits) == {0, 1}
    check_both(cascade, PICTURES[::3])


@pytest.mark.parametrize(
    ("shape", "units", "name"),
    [
        ((3, 3, 16), (8,), "conv_threes_pool"),
        ((5, 5, 16), (32, 8), "conv_places_pool"),
        ((9, 9, 16), (8,), "conv_planes_ternary_pool_1"),
    ],
)
def test_the_planner_chooses_by_time_and_memory_where_values_go_up_to_two(
    shape: Shape, units: tuple[int, ...], name: str
) -> None:
    pools = (*(False for _ in units[1:]), True)
    chosen, _ = make(planes_net(11, shape, units, pools, (1,) * len(units), density=0.6))
    assert [step.kernel.name for step in chosen.steps][-3:] == [name, "bit_sum_planes", "arg_max"]


def test_the_greatest_before_a_position_is_that_of_its_cell() -> None:
    sums = np.array([[3, 5, -9], [4, 1, -7]])[None, :, :, None]  # one unit, 2 x 3 positions
    none = NONE_BEFORE
    np.testing.assert_array_equal(greatest_before(sums, 2)[0, :, :, 0], [[none, 3, none], [5, 5, -9]])
    assert (greatest_before(sums, 1) == none).all()


def thresholds(*rows: int) -> IntArray:
    return np.repeat(np.array(rows, np.int32)[:, None], 8, axis=1)


@pytest.mark.parametrize(
    ("heights", "inputs", "channels", "reason"),
    [
        (thresholds(0), 2, 8, "puts out 2 levels, not 1"),
        (thresholds(1, 3), 2, 8, r"thresholds are 0 and at most 127, not in \[1, 3\]"),
        (thresholds(0, 128), 2, 8, r"thresholds are 0 and at most 127, not in \[0, 128\]"),
        (thresholds(0, 3), 3, 8, "takes values up to 2, not values in "),
        (thresholds(0, 3), 2, 65, "has tables for 64 channels, not 65"),
    ],
)
def test_kernels_say_what_they_do_not_fit(heights: IntArray, inputs: int, channels: int, reason: str) -> None:
    conv = Conv("conv", 8, np.zeros((3, 3, channels, 8), np.int32), np.zeros(8, np.int32))
    part = Part(Pool("pool"), Range(0, inputs), (conv, Steps("levels", heights)), (5, 5, channels))
    with pytest.raises(AssertionError, match=reason):
        assert TERNARY.fits(part) is None, TERNARY.fits(part)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((5, 5, 32), "a page holds the sums of 24 channels, not 32"),
        ((17, 17, 8), "has pages for at most 255 places, not 289"),
    ],
)
def test_the_kernel_of_threes_says_what_it_does_not_fit(shape: Shape, reason: str) -> None:
    layers = Conv("conv", 8, np.zeros((3, 3, shape[2], 8), np.int32), np.zeros(8, np.int32)), Steps("levels", thresholds(0, 3))
    assert THREES.fits(Part(Pool("pool"), Range(0, 2), layers, shape)) == reason


def test_each_choice_of_five_weights_comes_once_in_the_row() -> None:
    row = row_of_fives()
    assert len({tuple(row[start : start + 5]) for start in range(243)}) == 243 == len(row) - 4
