"""Plans for a 128K: what lies in banks of paged memory, and that the right one is selected, in two processors."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings

from tests.feature_nets import CROSS, cascades, hidden_cascade, looks_nets, shared_net, two_nets, with_looks, with_more_looks
from tests.nets import extreme_pictures, random_pictures
from tests.pasmo import pasmo_bytes
from tests.test_looks import check
from zxml.classify import processors
from zxml.emulator import call
from zxml.errors import PlanError
from zxml.ir import IntegerModel
from zxml.quant.cascade import choose_gaps
from zxml.reference import run
from zxml.z80gen import plan as planning
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.kernel import Place, table
from zxml.z80gen.kernels import KERNELS
from zxml.z80gen.kernels.bits import LEVELS
from zxml.z80gen.paging import BANKM_ADDR, HOME_BANK, PAGING_PORT, ROM_48K, SELECT_TSTATES
from zxml.z80gen.plan import Plan, Program, plan
from zxml.z80gen.target import BANK_ADDR, BANK_END_ADDR, SPECTRUM_48K, SPECTRUM_128K

PICTURES = np.concatenate([extreme_pictures()[:6], random_pictures(3, 6)])
FILLS = (0x3C00, 0x3000, 0x2000)  # bytes of common memory that the program takes, from so many that no table has room
SETTINGS = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def filling(nbytes: int) -> Program:
    """Return a program that takes so much of common memory from 0x8000 on, and all below that."""
    filler = table("filler", nbytes, lambda: f"        defs {nbytes}\n", Place.FAST, align=1)
    return Program(fast=(filler,), nbytes=0x2000)


def crowded(model: IntegerModel) -> Plan:
    """Return the plan of a model beside the greatest program of FILLS that leaves it room, or beside none.

    Rejects a model that fits neither machine.
    """
    for nbytes in FILLS:
        with contextlib.suppress(PlanError):
            return plan(model, PICTURES, filling(nbytes), SPECTRUM_128K)
    with contextlib.suppress(PlanError):
        return plan(model, PICTURES, target=SPECTRUM_128K)
    with pytest.raises(PlanError, match="does not fit a 48K"):
        plan(model, PICTURES)
    return reject()


def assembled(chosen: Plan) -> Assembly:
    with TemporaryDirectory() as folder:
        return build(chosen, Path(folder, "asm"))


def check_both(model: IntegerModel) -> Plan:
    """Compare every step's outputs and the time of every picture in two processors; the home bank is selected afterwards."""
    chosen = crowded(model)
    assembly = assembled(chosen)
    for cpu in processors(assembly, chosen.target):
        check(cpu, chosen, assembly, PICTURES)
        if planning.all_selections(chosen.steps):
            assert cpu.read(BANKM_ADDR, 1)[0] == ROM_48K + HOME_BANK
        for placed in chosen.placed:
            if placed.bank == HOME_BANK and placed.section.place is Place.TABLE:
                start = placed.addr - BANK_ADDR
                wanted = assembly.banks[HOME_BANK][start : start + placed.section.nbytes]
                assert cpu.read(placed.addr, placed.section.nbytes) == wanted
    return chosen


@SETTINGS
@given(cascades() | looks_nets())
def test_random_nets_in_banks_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    check_both(model)


@pytest.mark.slow
@settings(SETTINGS, max_examples=40)
@given(cascades() | looks_nets())
def test_many_random_nets_in_banks_are_exact_in_two_processors(model: IntegerModel) -> None:
    check_both(model)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_cascade_with_looks_selects_its_banks_at_every_look_and_exit(hidden: bool) -> None:
    model = choose_gaps(with_looks(two_nets(4, hidden=hidden), 0), PICTURES, (0.7, 0.3))
    assert set(run(model, PICTURES).exits) == {0, 1, 2}
    chosen = check_both(model)
    assert len(chosen.banks) > 1
    assert len(planning.all_selections(chosen.steps)) >= len(chosen.banks)


def test_looks_that_leave_steps_out_select_the_banks_of_those_they_run() -> None:
    model = with_more_looks(with_looks(shared_net(4, units=40), 0, CROSS[:2]), 0)
    chosen = check_both(choose_gaps(model, PICTURES, (0.8, 0.5, 0.3)))
    assert planning.all_selections(chosen.steps)


@given(cascades() | looks_nets())
@SETTINGS
def test_what_lies_in_a_bank_is_used_by_steps_that_have_it_selected(model: IntegerModel) -> None:
    chosen = crowded(model)
    users = {section.source: set[int | None]() for step in chosen.steps for section in step.kernel.sections(step.part)}
    for step in chosen.steps:
        for section in step.kernel.sections(step.part):
            users[section.source].add(step.bank)
    for placed in chosen.placed:
        if placed.bank is not None:
            assert users[placed.section.source] == {placed.bank}
            assert placed.section.source != "scores"
            assert placed.addr >= BANK_ADDR
            assert placed.end <= BANK_END_ADDR
        assert placed.addr % placed.section.align == 0
    for before, after in pairwise(chosen.placed):
        assert before.bank != after.bank or before.end <= after.addr


def test_a_step_that_may_end_the_classification_has_the_home_bank() -> None:
    chosen = crowded(two_nets(4))
    assert all(step.bank is None for step in chosen.steps if step.is_exit or step is chosen.steps[-1])
    selected = planning.all_selections(chosen.steps)
    for number, step in enumerate(chosen.steps):
        before = [selected[n] for n in range(number + 1) if n in selected]
        if step.is_exit or step is chosen.steps[-1]:
            assert (before or [HOME_BANK])[-1] == HOME_BANK
        elif step.bank is not None:
            assert (before or [HOME_BANK])[-1] == step.bank


def test_what_fits_a_48k_lies_in_no_banks_and_takes_the_same_time() -> None:
    model = hidden_cascade(1)
    on_48k, on_128k = (plan(model, PICTURES, target=target) for target in (SPECTRUM_48K, SPECTRUM_128K))
    assert on_128k.banks == ()
    assert on_128k.memory_map().split()[-1] == on_48k.memory_map().split()[-1]
    assert [placed.addr for placed in on_128k.placed] == [placed.addr for placed in on_48k.placed]
    assert on_128k.tstates_mean == on_48k.tstates_mean
    assert "bank" in on_128k.memory_map()
    assert "bank" not in on_48k.memory_map()


def test_a_selection_takes_the_time_that_is_planned() -> None:
    chosen = crowded(two_nets(4))
    home = replace(chosen, steps=tuple(replace(step, bank=None) for step in chosen.steps))
    first = PICTURES[:1]
    selections = {SELECT_TSTATES * n for n in range(1, len(chosen.steps) + 1)}
    assert int(chosen.tstates(first)[0] - home.tstates(first)[0]) in selections


@pytest.mark.slow
def test_pasmo_makes_the_same_bytes_of_the_bank_that_comes_last(tmp_path: Path) -> None:
    chosen = crowded(two_nets(4))
    assembly = build(chosen, tmp_path)
    main = tmp_path / "main.asm"
    lines = main.read_text().splitlines(keepends=True)
    for bank, values in assembly.banks.items():  # pasmo keeps one byte for each address
        last = [line for line in lines if f"bank_{bank}." in line]
        main.write_text("".join([*(line for line in lines if line not in last), *last]))
        made = pasmo_bytes(main)
        assert made[: len(assembly.image)] == assembly.image
        assert made[BANK_ADDR - assembly.org :][: len(values)] == values


def test_each_format_is_one_whose_buffers_are_named_or_a_line() -> None:
    named = {"picture", "scores", "answer", "digit", *LEVELS}
    for kernel in KERNELS:
        assert kernel.takes in named or kernel.takes_line, kernel.name


def test_the_files_of_the_banks_can_be_read(tmp_path: Path) -> None:
    chosen = crowded(two_nets(4))
    assembly = build(chosen, tmp_path)
    for bank in chosen.banks:
        text = (tmp_path / f"bank_{bank}.asm").read_text()
        assert f"org  {BANK_ADDR}\n" in text
        sources = [placed.section.source for placed in chosen.placed if placed.bank == bank]
        assert text.count("include") == len(sources)
        assert len(assembly.banks[bank]) == max(p.end for p in chosen.placed if p.bank == bank) - BANK_ADDR
    text = (tmp_path / "classify.asm").read_text()
    assert text.count(f"ld   bc, {PAGING_PORT}") == len(planning.all_selections(chosen.steps))
    assert call(processors(assembly, chosen.target)[0], assembly.symbols["classify"]) > 0
