"""The planner: the fastest kernels, memory without overlaps, and errors that say what is missing."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from tests.feature_nets import looks_nets, two_nets, with_looks
from tests.nets import extreme_pictures, models, random_model, random_pictures
from zxml.errors import PlanError
from zxml.ir import Dense, IntegerModel, PatchSum
from zxml.z80gen.kernel import Place, Section
from zxml.z80gen.memory import place
from zxml.z80gen.plan import plan
from zxml.z80gen.target import SPECTRUM_48K

PICTURES = np.concatenate([extreme_pictures(), random_pictures(1, 10)])


@settings(max_examples=20, deadline=None)
@given(models())
def test_sections_never_overlap_and_lie_where_they_may(model: IntegerModel) -> None:
    placed = plan(model, PICTURES).placed
    for before, after in pairwise(placed):
        assert before.end <= after.addr
    for each in placed:
        fast = each.section.place is Place.FAST
        start = SPECTRUM_48K.fast_addr if fast else SPECTRUM_48K.program_addr
        assert start <= each.addr
        assert each.end <= SPECTRUM_48K.end_addr
        assert each.addr % each.section.align == 0
        assert each.section.at in (None, each.addr)


def test_the_largest_batch_that_cannot_overflow_is_the_fastest() -> None:
    chosen = plan(random_model(1, units=20), PICTURES)
    assert [step.kernel.name for step in chosen.steps] == ["edge_sum_4", "dense_sum_4", "arg_max"]
    slower = [choice for choice in chosen.rejected if "slower" in choice.reason]
    assert [choice.name for choice in slower] == [f"edge_sum_{n} for hidden, dense_sum_{n} for scores" for n in (3, 2, 1)]


def test_products_too_large_for_a_batch_move_the_planner_to_a_smaller_one() -> None:
    model = random_model(1, units=20)
    dense = model.layers[2]
    assert isinstance(dense, Dense)
    dense.weight[0, 0] = 31  # 4 x 31 x 2 < 256 <= 4 x 31 x 3
    chosen = plan(model, PICTURES)
    assert chosen.steps[1].kernel.name == "dense_sum_2"
    assert any("a batch of 4 products must stay below 256, and one may be 124" in choice.reason for choice in chosen.rejected)


def test_a_net_that_no_kernel_fits_says_why() -> None:
    with pytest.raises(PlanError, match=r"layer hidden: two pages a unit: at most 64 units, not 65"):
        plan(random_model(1, units=65), PICTURES)
    model = random_model(1)
    hidden = model.layers[0]
    assert isinstance(hidden, PatchSum)
    hidden = dataclasses.replace(hidden, sum_bits=16)
    with pytest.raises(PlanError, match=r"sums are 8 bits wide, not 16"):
        plan(IntegerModel("wide", 1, (hidden, *model.layers[1:])), PICTURES)


def test_a_net_larger_than_the_memory_says_by_how_many_bytes_and_which_layer() -> None:
    with pytest.raises(PlanError, match=r"layer hidden: kernel/edge_sum needs 1,246 bytes, [0-9,]+ more than are left"):
        plan(random_model(1, units=62), PICTURES)


def test_tables_move_to_contended_memory_only_when_the_rest_is_full() -> None:
    page = [("net", Section(f"table{i}", 0x4000, Place.TABLE, align=256)) for i in range(2)]
    assert [p.addr for p in place(page[:1], SPECTRUM_48K)] == [0x8000]
    code, small = Section("code", 0x7F00, Place.FAST), Section("small", 256, Place.TABLE, align=256)
    assert [p.addr for p in place([("net", code), ("net", small)], SPECTRUM_48K)] == [0x7F00, 0x8000]
    with pytest.raises(PlanError, match=r"net: table1 needs 16,384 bytes, 1 more than are left"):
        place(page, SPECTRUM_48K)
    with pytest.raises(PlanError, match=r"net: small needs 256 bytes, 1 more than are left"):
        place([("net", code), ("net", small)], SPECTRUM_48K, program_nbytes=0x1F01)


def test_worst_case_is_an_upper_bound_that_a_checkerboard_comes_near() -> None:
    chosen = plan(random_model(1, units=30), PICTURES)
    times = chosen.tstates(PICTURES)
    assert 0.6 * chosen.tstates_worst < times.max() <= chosen.tstates_worst


@settings(max_examples=10, deadline=None)
@given(looks_nets())
def test_no_picture_takes_longer_than_the_worst_case_with_looks(model: IntegerModel) -> None:
    chosen = plan(model, PICTURES)
    assert chosen.tstates(PICTURES).max() <= chosen.tstates_worst
    assert chosen.tstates_mean == pytest.approx(chosen.tstates(PICTURES).mean())


def test_what_looks_use_again_is_placed_once() -> None:
    plain, looks = (plan(model, PICTURES) for model in (two_nets(1), with_looks(two_nets(1), 30)))
    sizes = [{p.section.source: p.section.nbytes for p in chosen.placed} for chosen in (plain, looks)]
    added = {"kernel/looks": 125, "looks_picture": 120, "looks_total": 20, "surest_answer": 1}
    assert {name: sizes[1][name] for name in sizes[1].keys() - sizes[0].keys()} == added
    assert looks.nbytes == plain.nbytes + sum(added.values())


def test_layers_of_the_model_are_covered_once_and_in_order() -> None:
    model = random_model(1)
    covered = [layer for step in plan(model, PICTURES).steps for layer in step.part.layers]
    assert covered == list(model.layers)
    assert isinstance(covered[0], PatchSum)


def test_what_does_not_fit_with_code_first_may_fit_with_pages_first() -> None:
    code = [Section(f"code{number}", 200, Place.FAST) for number in range(2)]
    pages, page = Section("pages", 0x7D00, Place.FAST, align=256), Section("page", 256, Place.TABLE, align=256)
    sections = [("layer", section) for section in (*code, pages, page)]
    placed = place(sections, SPECTRUM_48K, 0x2000)  # no room below
    assert {each.section.source for each in placed} == {"code0", "code1", "pages", "page"}
    assert all(each.addr % each.section.align == 0 for each in placed)
    for before, after in pairwise(placed):
        assert before.end <= after.addr
    assert placed[0].addr >= SPECTRUM_48K.fast_addr
    assert placed[-1].end <= SPECTRUM_48K.end_addr
