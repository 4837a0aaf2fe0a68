from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zxml.data import pack_rows
from zxml.data.dataset import Images, Rows
from zxml.data.distort import THICKNESSES, distort, draw_normal, hash_u32, ink_table, spline_table, to_fixed_point
from zxml.errors import DeviceError
from zxml.gpu.distort import Distorter, floats_are_exact
from zxml.spec import DistortSpec, InputSpec

WHOLE = InputSpec(0, 0, 28, 28)
NOTHING = DistortSpec(shift=0, rotate=0, scale=0, shear=0, warp=0, thickness=0)
WILD = DistortSpec(shift=9, rotate=0.5, scale=0.3, shear=0.4, warp=5, thickness=0.7)
SPECS = [DistortSpec(), NOTHING, WILD]
WINDOWS = [InputSpec(27, 0, 1, 1), InputSpec(3, 9, 7, 5), InputSpec(6, 12, 22, 16), InputSpec(), WHOLE]


@pytest.fixture(scope="module")
def queue() -> cl.CommandQueue:
    return cl.CommandQueue(cl.create_some_context(interactive=False))


def pictures(count: int) -> Images:
    """Noise of many densities, and a blank and a full picture where there is room."""
    random = np.random.default_rng(count)
    images = (random.random((count, 28, 28)) < random.random((count, 1, 1))).astype(np.uint8)
    images[1:2], images[2:3] = 0, 1
    return images


def block(top: int, left: int, rows: int, cols: int) -> Images:
    images = np.zeros((200, 28, 28), np.uint8)
    images[:, top : top + rows, left : left + cols] = 1
    return images


def run(queue: cl.CommandQueue, distorter: Distorter, epoch: int, shape: tuple[int, int]) -> Rows:
    """Fill a buffer with one word more than needed; that word must survive."""
    rows = np.full(shape[0] * shape[1] + 1, 0xDEADBEEF, np.uint32)
    out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=rows)
    distorter.fill(epoch, out)
    cl.enqueue_copy(queue, rows, out)
    assert rows[-1] == 0xDEADBEEF
    return rows[:-1].reshape(shape)


@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{w.rows}x{w.cols}")
@pytest.mark.parametrize("count", [1, 16, 65])
def test_the_device_computes_the_bits_of_the_definition(queue: cl.CommandQueue, window: InputSpec, count: int) -> None:
    for spec in SPECS:
        distorter = Distorter(queue, pictures(count), window, spec, seed=5)
        for epoch in (0, 3, 1 << 31):
            wanted = distort(pictures(count), window, spec, 5, epoch)
            assert (run(queue, distorter, epoch, wanted.shape) == wanted).all()


def test_larger_groups_of_work_items_compute_the_same_bits(queue: cl.CommandQueue) -> None:
    wanted = distort(pictures(65), WHOLE, WILD, 5, 2)
    for group in (2, 16, 64):
        distorter = Distorter(queue, pictures(65), WHOLE, WILD, seed=5, group=group)
        assert (run(queue, distorter, 2, wanted.shape) == wanted).all()


@pytest.mark.parametrize("gathered", [8, 1])
def test_a_cpu_that_looks_up_fewer_pixels_at_once_computes_the_same_bits(
    queue: cl.CommandQueue, gathered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zxml.gpu.distort.GATHERED", gathered)
    for window in (InputSpec(), WHOLE):
        wanted = distort(pictures(65), window, DistortSpec(), 5, 2)
        assert (run(queue, Distorter(queue, pictures(65), window, DistortSpec(), seed=5), 2, wanted.shape) == wanted).all()


def test_floats_hold_the_sums_of_a_usual_warp_and_integers_those_of_a_wild_one() -> None:
    assert floats_are_exact(to_fixed_point(DistortSpec()))
    assert not floats_are_exact(to_fixed_point(WILD))


@given(warp=st.floats(0, 3), node=st.integers(-255, 255))
def test_no_sum_of_weighted_displacements_outgrows_what_floats_hold_exactly(warp: float, node: int) -> None:
    strengths = to_fixed_point(replace(NOTHING, warp=warp))
    spline = spline_table()
    furthest = 2 * node * (255 * strengths.warp >> 8) >> 8
    signs = np.sign(spline) * furthest  # the worst draws for each column, and then for each row
    across = np.abs((spline * signs).sum(axis=1)).max()
    along = ((across >> 6) + 1) * np.abs(spline).sum(axis=1).max()
    assert not floats_are_exact(strengths) or max(across, along) < 1 << 24


def test_zero_strengths_leave_every_picture_as_it_is() -> None:
    for window in WINDOWS:
        assert (distort(pictures(65), window, NOTHING, 1, 1) == pack_rows(pictures(65), window)).all()


def test_thickness_changes_no_picture_that_does_not_move() -> None:
    spec = replace(NOTHING, thickness=0.25)
    assert (distort(pictures(65), WHOLE, spec, 1, 1) == pack_rows(pictures(65), WHOLE)).all()


def test_the_same_seed_and_epoch_give_the_same_bits_and_others_give_others() -> None:
    first = distort(pictures(33), WHOLE, DistortSpec(), 1, 1)
    assert (distort(pictures(33), WHOLE, DistortSpec(), 1, 1) == first).all()
    for seed, epoch in ((1, 2), (2, 1), (0, 0)):
        assert (distort(pictures(33), WHOLE, DistortSpec(), seed, epoch) != first).any()


def test_a_picture_is_distorted_the_same_whatever_follows_it() -> None:
    images = pictures(33)
    assert (distort(images[:7], WHOLE, DistortSpec(), 1, 1) == distort(images, WHOLE, DistortSpec(), 1, 1)[:7]).all()


def test_each_strength_alone_changes_pictures() -> None:
    plain = pack_rows(block(9, 9, 10, 3), WHOLE)
    for name in ("shift", "rotate", "scale", "shear", "warp"):
        assert (distort(block(9, 9, 10, 3), WHOLE, replace(NOTHING, **{name: 0.5}), 1, 1) != plain).any(), name


def test_a_shift_moves_no_pixel_farther_than_it_says() -> None:
    rows = distort(block(14, 14, 1, 1), WHOLE, replace(NOTHING, shift=2.4), 1, 1)
    assert not rows[:, :12].any()
    assert not rows[:, 17:].any()
    assert not (rows & ~np.uint32(0b11111 << 12)).any()
    assert len({row.tobytes() for row in rows}) > 20


def test_strokes_keep_their_ink_on_average() -> None:
    images = block(6, 12, 16, 3)
    ink = sum(int(word).bit_count() for word in distort(images, WHOLE, DistortSpec(), 1, 1).flat)
    assert ink == pytest.approx(int(images.sum()), rel=0.05)


def test_a_line_one_pixel_wide_does_not_break_where_it_is_moved_and_thinned() -> None:
    rows = distort(block(6, 13, 16, 1), WHOLE, replace(NOTHING, shift=1.3, thickness=0.5), 1, 1)
    for picture in rows:
        (at,) = np.nonzero(picture)
        assert at[-1] - at[0] + 1 == len(at)


def test_thicker_strokes_have_ink_wherever_thinner_ones_have() -> None:
    table = ink_table(0.4)
    assert not (table[:-1] & ~table[1:]).any()
    assert (table[0] != table[THICKNESSES // 2]).any()
    assert (table[-1] != table[THICKNESSES // 2]).any()


def test_the_nodes_weights_add_up_to_one() -> None:
    assert np.abs(spline_table().sum(axis=1) - 64).max() <= 1


def test_normal_draws_have_their_mean_and_deviation() -> None:
    pictures = hash_u32(np.arange(100_000, dtype=np.uint32))
    full = np.full(len(pictures), 256, np.int32)
    draws = draw_normal(pictures, 3, 256, full)
    assert abs(draws.mean()) < 2
    assert draws.std() == pytest.approx(147.8, rel=0.01)


def test_a_kernel_that_does_not_build_is_a_device_error(
    queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("hash.cl", "distort_draws.cl", "distort.cl", "distort_strips.cl"):
        (tmp_path / name).write_text("__kernel void distort(")
    monkeypatch.setattr("zxml.gpu.program.KERNELS", tmp_path)
    with pytest.raises(DeviceError, match=r"cannot build the kernels"):
        Distorter(queue, pictures(1), WHOLE, NOTHING, seed=1)
