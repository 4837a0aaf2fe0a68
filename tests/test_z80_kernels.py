"""Every kernel against the reference and against its own cost, in two processors."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from tests.nets import extreme_pictures, models, random_model, random_pictures
from zxml.emulator import RETURN_ADDR, Cpu, KosarevCpu, SkoolKitCpu
from zxml.ir import Dense, IntegerModel, Layer, PatchSum
from zxml.reference import answer, trace
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.kernels import KERNELS
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Plan, plan

PICTURE_ADDR = 0x4000
PICTURES = np.concatenate([extreme_pictures(), random_pictures(0, 20)])


def make(model: IntegerModel) -> tuple[Plan, Assembly]:
    with TemporaryDirectory() as folder:
        chosen = plan(model, PICTURES)
        return chosen, build(chosen, Path(folder, "asm"))


def check(cpu: Cpu, chosen: Plan, assembly: Assembly, pictures: NDArray[np.uint8]) -> None:
    expected, planned = trace(chosen.model, pictures), chosen.tstates(pictures)
    said = answer(chosen.model, expected)
    for i, packed in enumerate(pack_pictures(pictures)):
        cpu.write(PICTURE_ADDR, bytes(packed))
        cpu.enter(assembly.symbols["classify"], PICTURE_ADDR)
        tstates = cpu.run_to(RETURN_ADDR)
        memory = cpu.read(0, 0x10000)
        for step in chosen.steps:
            got, want = step.kernel.read(memory, assembly.symbols, step.part), expected[step.part.layers[-1].name][i]
            np.testing.assert_array_equal(got, want, f"{step.name}, picture {i}, {cpu.name}")
            if step.is_exit and want[0]:
                break
        assert cpu.a() == said.digits[i]
        assert tstates == planned[i]
        assert tstates <= chosen.tstates_worst


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_random_models_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    chosen, assembly = make(model)
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        check(cpu, chosen, assembly, PICTURES)


@pytest.mark.parametrize(("bias", "weight"), [(-128, 0), (127, 127), (-128, -127)])
def test_extreme_weights_are_exact(bias: int, weight: int) -> None:
    model = random_model(1, units=60)
    hidden = model.layers[0]
    assert isinstance(hidden, PatchSum)
    hidden.bias[:] = bias
    hidden.table[:, 1] = weight
    chosen, assembly = make(model)
    check(SkoolKitCpu(assembly.org, assembly.image), chosen, assembly, PICTURES)


@pytest.mark.parametrize("bias", [-1, 0])
def test_no_unit_and_every_unit_active_are_exact(bias: int) -> None:
    model = random_model(2, units=60, weight=0)
    hidden = model.layers[0]
    assert isinstance(hidden, PatchSum)
    hidden.bias[:] = bias
    chosen, assembly = make(model)
    check(SkoolKitCpu(assembly.org, assembly.image), chosen, assembly, PICTURES)


def test_equal_scores_give_the_first_digit() -> None:
    model = random_model(3)
    scores = model.layers[2]
    assert isinstance(scores, Dense)
    scores.weight[:] = 1
    scores.bias[:] = 5
    chosen, assembly = make(model)
    check(SkoolKitCpu(assembly.org, assembly.image), chosen, assembly, PICTURES)


@pytest.mark.parametrize("contended", [False, True])
def test_interrupts_change_no_score(contended: bool) -> None:
    model = random_model(4, units=40)
    chosen, assembly = make(model)
    expected = trace(model, PICTURES)
    cpu = SkoolKitCpu(assembly.org, assembly.image, contended, interrupts=True)
    slower = 0
    for i, packed in enumerate(pack_pictures(PICTURES)):
        cpu.write(PICTURE_ADDR, bytes(packed))
        cpu.enter(assembly.symbols["classify"], PICTURE_ADDR)
        slower += cpu.run_to(RETURN_ADDR) - int(chosen.tstates(PICTURES[i : i + 1])[0])
        memory = cpu.read(0, 0x10000)
        np.testing.assert_array_equal(
            chosen.steps[1].kernel.read(memory, assembly.symbols, chosen.steps[1].part), expected["scores"][i]
        )
        assert cpu.a() == expected["digit"][i]
    assert slower > 0  # interrupts did come


def test_classify_keeps_iy_and_the_alternate_registers() -> None:
    chosen, assembly = make(random_model(5))
    cpu = SkoolKitCpu(assembly.org, assembly.image)
    before = cpu.registers()
    check(cpu, chosen, assembly, PICTURES[:3])
    after = cpu.registers()
    kept = ("iy", "af'", "bc'", "de'", "hl'")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_every_kind_of_layer_has_a_kernel() -> None:
    assert set(get_args(Layer)) == {kind for kernel in KERNELS for kind in kernel.kinds}
