"""Further looks on the Z80: against the reference and the planned time in two processors; and the answer to who is in haste."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from tests.contracts import assert_kept, read_contracts
from tests.feature_nets import CROSS, looks_nets, shared_net, two_nets, with_looks, with_more_looks
from tests.kernels_alone import KEPT
from tests.nets import extreme_pictures, random_model, random_pictures
from tests.pasmo import pasmo_bytes
from tests.test_z80_kernels import PICTURE_ADDR, make
from zxml.classify import course_of, run_steps
from zxml.emulator import Cpu, KosarevCpu, SkoolKitCpu, call
from zxml.errors import PlanError
from zxml.ir import Dense, Exit, IntegerModel, Looks
from zxml.quant.cascade import choose_gaps
from zxml.reference import move, run, trace
from zxml.verify import readable
from zxml.z80gen import plan as planning
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.kernels.scores import read_scores
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Plan, plan

SETTINGS = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def border_pictures() -> NDArray[np.uint8]:
    """Return pictures, (n, 28, 28), that touch the borders, which further looks push over them."""
    row, column = np.mgrid[0:28, 0:28]
    lines = [row == 0, row == 27, column == 0, column == 27]
    corners = [(row == y) & (column == x) for y in (0, 27) for x in (0, 27)]
    return np.array([*lines, *corners, (row % 27 == 0) | (column % 27 == 0)], np.uint8)


PICTURES = np.concatenate([extreme_pictures()[:5], border_pictures(), random_pictures(7, 6)])


def cascade(shifts: tuple[tuple[int, int], ...] = CROSS, hidden: bool = False) -> IntegerModel:
    """Return a cascade of two nets with looks, which some of PICTURES leave by each exit."""
    return choose_gaps(with_looks(two_nets(4, hidden=hidden), 0, shifts), PICTURES, (0.7, 0.3))


def check(cpu: Cpu, chosen: Plan, assembly: Assembly, pictures: NDArray[np.uint8]) -> None:
    """Compare the steps' outputs, the digit and scores, and the time of each picture."""
    expected, said, planned = trace(chosen.model, pictures), run(chosen.model, pictures), chosen.tstates(pictures)
    for i, packed in enumerate(pack_pictures(pictures)):
        tstates, memories = 0, []
        for spent in run_steps(cpu, course_of(chosen, assembly), bytes(packed)):
            tstates += spent
            memories.append(cpu.read(0, 0x10000))
        for step, memory in readable(chosen.steps, memories):
            got, want = step.kernel.read(memory, assembly.symbols, step.part), expected[step.part.layers[-1].name][i]
            np.testing.assert_array_equal(got, want, f"{step.name}, picture {i}, {cpu.name}")
        assert cpu.a() == said.digits[i]
        scores = read_scores(memories[-1], assembly.symbols, chosen.model.classes) & 0xFFFF
        np.testing.assert_array_equal(scores, said.scores[i])
        assert tstates == planned[i] <= chosen.tstates_worst


def check_both(model: IntegerModel, pictures: NDArray[np.uint8]) -> None:
    chosen, assembly = make(model)
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        check(cpu, chosen, assembly, pictures)


@SETTINGS
@given(looks_nets())
def test_random_nets_with_looks_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES[::2])


@pytest.mark.slow
@settings(SETTINGS, max_examples=40)
@given(looks_nets())
def test_many_random_nets_with_looks_are_exact_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_cascade_with_looks_is_exact_at_every_exit(hidden: bool) -> None:
    model = cascade(hidden=hidden)
    assert set(run(model, PICTURES).exits) == {0, 1, 2}
    check_both(model, PICTURES)


@pytest.mark.parametrize(("seed", "ways_out"), [(4, {0, 1, 3}), (7, {0, 2, 3})])
def test_a_layer_on_shared_codes_looks_again_in_two_rounds_and_is_exact_at_every_exit(seed: int, ways_out: set[int]) -> None:
    model = with_more_looks(with_looks(shared_net(seed, units=12), 0, CROSS[:2]), 0)
    model = choose_gaps(model, PICTURES, (0.8, 0.5, 0.3))
    assert set(run(model, PICTURES).exits) == ways_out
    check_both(model, PICTURES)


@pytest.mark.parametrize("shift", [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)])
def test_the_copy_is_the_picture_moved_and_blank_rows_stay_around_it(shift: tuple[int, int]) -> None:
    chosen, assembly = make(with_looks(random_model(1, units=1), None, (shift,)))
    start = assembly.symbols["looks_picture"]
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        check(cpu, chosen, assembly, PICTURES[-1:])
        buffer = cpu.read(start, 120)
        seen = buffer[4 * (1 - shift[0]) :][:112]
        assert seen == pack_pictures(move(PICTURES[-1:].astype(np.int64), *shift).astype(np.uint8)).tobytes()
        assert buffer[:4] == buffer[-4:] == bytes(4)


@pytest.mark.parametrize("classes", [2, 10, 12])
def test_each_routine_takes_the_time_and_changes_the_registers_that_its_header_says(classes: int) -> None:
    _, assembly = make(with_looks(random_model(1, units=1, classes=classes)))
    cpu, symbols = SkoolKitCpu(assembly.org, assembly.image), assembly.symbols
    cpu.write(symbols["classify_picture"], PICTURE_ADDR.to_bytes(2, "little"))
    contracts = read_contracts("looks.asm", "kernel")
    del contracts["looks"]
    assert list(contracts) == ["looks_keep", "looks_add", "looks_copy", "looks_left", "looks_right"]
    for name, contract in contracts.items():
        fixed, each = (*map(int, re.findall(r"\d+", contract["T-states"])), 0)[:2]
        before = cpu.registers()
        assert call(cpu, symbols[name]) == fixed + each * classes, name
        after = cpu.registers()
        assert_kept(contract, before, after | {"sp": before["sp"]})


def test_sums_of_scores_carry_into_the_high_byte_and_equal_ones_give_the_first_digit() -> None:
    model = random_model(1)
    scores = model.layers[2]
    assert isinstance(scores, Dense)
    scores.weight[:] = 0
    for bias in ([255, 256, 6553, 6552, 0, 1, 127, 128, 4660, 6553], [77] * 10):
        scores.bias[:] = bias
        check_both(with_looks(model), PICTURES[:1])


def test_sums_of_looks_fill_a_word_and_larger_ones_are_refused() -> None:
    model = random_model(1)
    scores = model.layers[2]
    assert isinstance(scores, Dense)
    scores.bias[3] = 12_900 - model.ranges()[-2].out.hi + scores.bias[3]
    check_both(with_looks(model), PICTURES)
    scores.bias[3] += 13_108 - model.ranges()[-2].out.hi  # five looks make 65,540
    with pytest.raises(PlanError, match=r"layer looks: adds up unsigned words, and the sums may reach 65540"):
        plan(with_looks(model), PICTURES[:2])


def test_looks_cost_what_their_layers_take_and_only_where_they_are_had() -> None:
    one, five = (cascade(shifts) for shifts in (CROSS[:1], CROSS))
    times = [plan(model, PICTURES).tstates(PICTURES) for model in (one, five)]
    had = run(five, PICTURES).exits == 2
    assert (times[0][~had] == times[1][~had]).all()
    assert had.any()
    assert (times[1][had] > 2 * times[0][had]).all()


def test_the_costs_of_a_plan_tell_of_the_further_looks() -> None:
    chosen = plan(with_looks(two_nets(4), 40), PICTURES[:3])
    formulas = {step.name: formula for step, formula, _ in chosen.costs}
    assert formulas["looks"].endswith(" +4 x (27 + fine + conv1 + scores)")
    worst = {step.name: most for step, _, most in chosen.costs}
    assert worst["looks"] > 4 * (worst["fine"] + worst["conv1"] + worst["scores"])
    assert chosen.tstates_worst > sum(worst.values())


def test_interrupts_change_nothing_and_registers_are_kept() -> None:
    model = with_looks(two_nets(5, 20_000), 20_000)
    chosen, assembly = make(model)
    cpu = SkoolKitCpu(assembly.org, assembly.image, contended=True, interrupts=True)
    before, said = cpu.registers(), run(model, PICTURES)
    for i, packed in enumerate(pack_pictures(PICTURES)):
        cpu.write(PICTURE_ADDR, bytes(packed))
        call(cpu, assembly.symbols["classify"], PICTURE_ADDR)
        assert cpu.a() == said.digits[i]
    after = cpu.registers()
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
    assert chosen.placed


@pytest.mark.slow
def test_pasmo_builds_the_same_bytes_of_looks(tmp_path: Path) -> None:
    assembly = build(plan(with_looks(two_nets(6), 40), PICTURES[:3]), tmp_path)
    assert pasmo_bytes(tmp_path / "main.asm") == assembly.image


def hasty(model: IntegerModel, monkeypatch: pytest.MonkeyPatch, limit: int) -> Assembly:
    """Return the code of a model, in which a caller in haste is not to wait for more than `limit` T-states."""
    monkeypatch.setattr(planning, "HASTE_TSTATES", limit)
    return make(model)[1]


def read_in_haste(cpu: Cpu, assembly: Assembly, picture: NDArray[np.uint8], haste: int) -> int:
    """Return classify's a of a picture."""
    cpu.write(assembly.symbols["classify_haste"], bytes([haste]))
    cpu.write(PICTURE_ADDR, pack_pictures(picture[None]).tobytes())
    call(cpu, assembly.symbols["classify"], PICTURE_ADDR)
    return cpu.a()


def test_who_is_in_haste_gets_255_and_the_scores_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cascade()
    said, values = run(model, PICTURES), trace(model, PICTURES)
    assembly = hasty(model, monkeypatch, 10_000)
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        for i, picture in enumerate(PICTURES):
            sure = said.exits[i] == 0
            assert read_in_haste(cpu, assembly, picture, 255) == (said.digits[i] if sure else 255)
            got = read_scores(cpu.read(0, 0x10000), assembly.symbols, 10)
            np.testing.assert_array_equal(got, values["quick"][i])
            assert read_in_haste(cpu, assembly, picture, 0) == said.digits[i]


def test_only_exits_before_what_may_take_long_ask_for_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cascade()
    chosen = plan(model, PICTURES)
    worst = {step.name: most for step, _, most in chosen.costs}
    after_first = sum(worst[name] for name in ("fine", "conv1", "scores"))  # up to the next exit
    after_second = worst["looks"] + worst["digit"]
    assert after_first < after_second
    for limit, asking in ((after_second, []), (after_second - 1, [6]), (after_first, [6]), (after_first - 1, [2, 6])):
        monkeypatch.setattr(planning, "HASTE_TSTATES", limit)
        found = [number for number in range(len(chosen.steps)) if planning.asks_haste(chosen.steps, number)]
        assert found == asking
    assert not any(isinstance(step.part.layers[0], Exit) for step in chosen.steps[:2])


def test_two_nets_may_have_looks_each() -> None:
    layers = two_nets(4).layers
    number = next(number for number, layer in enumerate(layers) if isinstance(layer, Exit))
    quick, rest = layers[:number], layers[number:]
    first = Exit("doubt", 0, quick[-1].name), Looks("quick_looks", quick[0].name, ((0, 1), (-1, 0)))
    model = choose_gaps(with_looks(IntegerModel("both", 0, (*quick, *first, *rest)), 0), PICTURES, (0.8, 0.6, 0.3))
    assert set(run(model, PICTURES).exits) == {0, 1, 2, 3}
    check_both(model, PICTURES)
    formulas = {step.name: formula for step, formula, _ in plan(model, PICTURES[:3]).costs}
    assert [name for name, formula in formulas.items() if " x (27 + " in formula] == ["quick_looks", "looks"]
    assert model.nets == 2


def test_the_time_without_haste_is_planned_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cascade()
    monkeypatch.setattr(planning, "HASTE_TSTATES", 10_000)
    check_both(model, PICTURES[::3])
