"""hidden_codes behind a front, with and without a quick net on the same codes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.feature_nets import shared_net
from tests.kernels_alone import KEPT, PICTURES, assembled
from tests.pasmo import pasmo_bytes
from tests.test_z80_kernels import PICTURE_ADDR
from zxml.emulator import Cpu, KosarevCpu, SkoolKitCpu, call
from zxml.ir import Codebook, CodeSum, Exit, IntegerModel, Range, Requant, sources
from zxml.reference import answer, trace
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build, emit
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels.arg_max import ARG_MAX
from zxml.z80gen.kernels.code_line import BATCHES as CODE_BATCHES
from zxml.z80gen.kernels.code_sum import code_sum
from zxml.z80gen.kernels.dense_sum import dense_sum, page_levels
from zxml.z80gen.kernels.exit_gap import EXIT_GAP
from zxml.z80gen.kernels.front_codes import front_codes
from zxml.z80gen.kernels.hidden_codes import FORMS, hidden_codes
from zxml.z80gen.memory import place
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import NO_PROGRAM, Plan, Step, plan, sections_of
from zxml.z80gen.target import SPECTRUM_48K

fast = settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parts_of(model: IntegerModel, kernels: tuple[Kernel, ...]) -> list[Part]:
    """Return the part of each kernel."""
    rows, taken, parts, first = model.ranges(), [*sources(model.layers)], list[Part](), 0
    for kernel in kernels:
        source, layers = taken[first], model.layers[first : first + len(kernel.kinds)]
        assert tuple(map(type, layers)) == kernel.kinds
        inputs, shape = (rows[source].out, rows[source].shape) if source >= 0 else (Range(0, 1), (28, 28))
        parts.append(Part(model.layers[source] if source >= 0 else None, inputs, layers, shape))
        first += len(layers)
    return parts


def lay_down(model: IntegerModel, form: str = "hidden_codes", batch: int = 4) -> Plan:
    """Return a plan whose kernel for the hidden layer has this form and leaves batches of this many."""
    for codes in CODE_BATCHES:
        quick = (code_sum(codes), EXIT_GAP) if any(isinstance(layer, Exit) for layer in model.layers) else ()
        kernels = (front_codes(codes, False), *quick, hidden_codes(form, codes, batch), dense_sum(batch), ARG_MAX)
        parts = parts_of(model, kernels)
        reasons = [kernel.fits(part) for kernel, part in zip(kernels, parts, strict=True)]
        if not any(reasons):
            steps = tuple(Step(kernel, part, kernel.cost(part)) for kernel, part in zip(kernels, parts, strict=True))
            placed = place(sections_of(steps, NO_PROGRAM), SPECTRUM_48K)
            return Plan(model, SPECTRUM_48K, NO_PROGRAM, steps, placed, 0.0, ())
    raise AssertionError(reasons)


def classify(cpu: Cpu, assembly: Assembly, picture: NDArray[np.uint8]) -> int:
    """Run the program on a picture and return its T-states."""
    cpu.write(PICTURE_ADDR, pack_pictures(picture[None]).tobytes())
    return call(cpu, assembly.symbols["classify"], PICTURE_ADDR)


def check(chosen: Plan, pictures: NDArray[np.uint8] = PICTURES) -> None:
    """Compare codes, levels, scores, digits and T-states on both processors with the reference and the plan."""
    expected, assembly = trace(chosen.model, pictures), assembled(chosen)
    said, planned = answer(chosen.model, expected), chosen.tstates(pictures)
    front, hidden = (step for step in chosen.steps if step.name in ("front", "hidden"))
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        for i, picture in enumerate(pictures):
            assert classify(cpu, assembly, picture) == planned[i] <= chosen.tstates_worst, f"picture {i}, {cpu.name}"
            memory = cpu.read(0, 0x10000)
            np.testing.assert_array_equal(front.kernel.read(memory, assembly.symbols, front.part), expected["codes"][i])
            scores = assembly.symbols["scores"]
            np.testing.assert_array_equal(np.frombuffer(memory[scores : scores + 20], "<i2"), said.scores[i])
            assert cpu.a() == said.digits[i]
            if said.exits[i] == sum(step.is_exit for step in chosen.steps):
                levels = hidden.kernel.read(memory, assembly.symbols, hidden.part)
                np.testing.assert_array_equal(levels, expected["levels"][i], f"picture {i}, {cpu.name}")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a net of any size that the kernels fit, and a form for its hidden layer."""
    model = shared_net(
        draw(st.integers(0, 2**32 - 10)),
        codes=draw(st.integers(1, 14)),
        units=draw(st.integers(1, 12)),
        quick=draw(st.booleans()),
        gap=draw(st.sampled_from([60, 300, 20_000])),
        rows=2 * draw(st.integers(2, 12)),
        density=draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])),
        quick_weight=draw(st.sampled_from([9, 31, 127])),
        weight=draw(st.sampled_from([0, 1, 7])),
        levels=draw(st.integers(1, 8)),
        shift=draw(st.integers(0, 7)),
    )
    return lay_down(model, draw(st.sampled_from([*FORMS])), draw(st.sampled_from([1, 2, 3, 4])))


@fast
@given(plans())
def test_hidden_codes_is_exact_and_takes_the_planned_time(chosen: Plan) -> None:
    check(chosen, PICTURES[::2])


@pytest.mark.slow
@settings(fast, max_examples=40)
@given(plans())
def test_many_random_hidden_layers_are_exact_and_take_the_planned_time(chosen: Plan) -> None:
    check(chosen)


@pytest.mark.parametrize(
    ("form", "codes", "units", "quick", "levels", "shift"),
    [
        ("hidden_codes", 5, 2, False, 8, 3),
        ("hidden_codes", 6, 63, True, 8, 3),
        ("hidden_codes", 7, 64, False, 4, 4),
        ("hidden_codes", 8, 42, True, 2 * page_levels(42), 2),
        ("hidden_codes_bytes", 9, 15, True, 8, 3),
        ("hidden_codes_bytes", 6, 33, False, 8, 3),
    ],
)
def test_hidden_codes_of_these_sizes_are_exact(form: str, codes: int, units: int, quick: bool, levels: int, shift: int) -> None:
    model = shared_net(codes, codes, units, quick, gap=150, levels=levels, shift=shift)
    check(lay_down(model, form), PICTURES[::2])


def set_weights(model: IntegerModel, weight: int, bias: int) -> None:
    """Give all codes of the hidden layer the same weight."""
    hidden = next(layer for layer in model.layers if layer.name == "hidden")
    assert isinstance(hidden, CodeSum)
    hidden.table[:, 1:] = weight
    hidden.bias[:] = bias


@pytest.mark.parametrize(
    ("form", "weight", "bias"),
    [
        ("hidden_codes", -8, -128),
        ("hidden_codes", 7, 127),
        ("hidden_codes", 0, -1),
        ("hidden_codes_bytes", -8, -128),
        ("hidden_codes_bytes", 7, 127),
        ("hidden_codes_bytes", 0, 0),
    ],
)
def test_extreme_weights_on_extreme_pictures_are_exact(form: str, weight: int, bias: int) -> None:
    model = shared_net(5, 8, 7, weight != 0, 20_000, density=1.0)
    set_weights(model, weight * (16 if form == "hidden_codes_bytes" else 1), bias)
    check(lay_down(model, form), PICTURES[:7])


@pytest.mark.parametrize("codes", [5, 6, 8])
def test_a_full_line_is_exact(codes: int) -> None:
    model = shared_net(6, codes, 2, gap=20_000, density=1.0, quick_weight=3)
    codebook = model.layers[2]
    assert isinstance(codebook, Codebook)
    codebook.code[1:] = codes
    check(lay_down(model), PICTURES[:7])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_two_assemblers_agree(form: str, tmp_path: Path) -> None:
    chosen = lay_down(shared_net(7, 6, 5), form)
    assert pasmo_bytes(emit(chosen, tmp_path)) == build(chosen, tmp_path).image


@pytest.mark.parametrize("form", FORMS)
def test_interrupts_change_nothing_and_other_registers_are_kept(form: str) -> None:
    chosen = lay_down(shared_net(8, 6, 12, gap=20_000), form)
    said, assembly = answer(chosen.model, trace(chosen.model, PICTURES)), assembled(chosen)
    cpu = SkoolKitCpu(assembly.org, assembly.image, interrupts=True)
    before = cpu.registers()
    for picture, digit in zip(PICTURES, said.digits, strict=True):
        classify(cpu, assembly, picture)
        assert cpu.a() == digit
    after = cpu.registers()
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}


@pytest.mark.parametrize("quick", [False, True])
def test_the_planner_takes_a_byte_a_weight_where_there_is_room(quick: bool) -> None:
    for units, form in ((15, "hidden_codes_bytes_"), (50, "hidden_codes_")):
        names = [step.kernel.name for step in plan(shared_net(9, 8, units, quick, 20_000), PICTURES).steps]
        assert names[0].startswith("front_codes_")
        assert any(name.startswith(form) for name in names)


def test_the_line_of_codes_is_there_without_their_sums() -> None:
    with_sums, without = (lay_down(shared_net(10, 8, 4, quick)) for quick in (True, False))
    nbytes = [{p.section.source: p.section.nbytes for p in chosen.placed}["kernel/code_sum"] for chosen in (with_sums, without)]
    assert nbytes[0] > nbytes[1]


@pytest.mark.parametrize(
    ("form", "units", "sum_bits", "weight", "first", "reason"),
    [
        ("hidden_codes", 7, 16, 7, 0, "sums are 8 bits wide, not 16"),
        ("hidden_codes", 7, 8, 8, 0, r"weights are in \[-8, 7\], not in \[0, 8\]"),
        ("hidden_codes_bytes", 7, 8, 128, 0, r"weights are in \[-128, 127\], not in \[0, 128\]"),
        ("hidden_codes_bytes", 7, 8, 1, 1, "weights are 0 for code 0"),
        ("hidden_codes_bytes", 128, 8, 1, 0, "at most 127 units, not 128"),
        ("hidden_codes_bytes", 64, 8, 1, 0, "8 levels of 64 units have more product indices"),
    ],
)
def test_kernels_say_what_they_do_not_fit(form: str, units: int, sum_bits: int, weight: int, first: int, reason: str) -> None:
    table = np.full((81, 8, units), weight, np.int32)
    table[:, 0] = first
    layers = CodeSum("hidden", sum_bits, table, np.zeros(units, np.int32)), Requant("levels", 3, 8)
    codebook = Codebook("codes", np.arange(256, dtype=np.int32) % 8)
    kernel = hidden_codes(form, 27, 4)
    assert re.search(reason, str(kernel.fits(Part(codebook, Range(0, 7), layers, (9, 9, 1)))))
    assert "takes the codes of a codebook" in str(kernel.fits(Part(None, Range(0, 7), layers, (9, 9, 1))))
