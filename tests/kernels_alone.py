"""Kernels on maps, each alone: a map is written into memory, kernels run, and outputs and T-states are compared."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from tests.nets import extreme_pictures, random_pictures
from zxml.emulator import Cpu, KosarevCpu, SkoolKitCpu, call
from zxml.ir import IntegerModel, Range
from zxml.reference import Values, trace
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels.bits import BITS, LEVELS, bits_label
from zxml.z80gen.kernels.conv_part import pack_groups
from zxml.z80gen.memory import place
from zxml.z80gen.plan import NO_PROGRAM, RET_TSTATES, Plan, Step, sections_of
from zxml.z80gen.target import SPECTRUM_48K

FRONT = 2  # layers before the kernels
PICTURES = np.concatenate([extreme_pictures(), random_pictures(0, 6)])
KEPT = ("iy", "af'", "bc'", "de'", "hl'")
Shape = tuple[int, int, int]


def lay_out(model: IntegerModel, *kernels: Kernel) -> Plan:
    """Return a plan of these kernels for the layers after the front."""
    rows, first, steps = model.ranges(), FRONT, []
    for kernel in kernels:
        layers = model.layers[first : first + len(kernel.kinds)]
        part = Part(model.layers[first - 1], Range(0, LEVELS.get(kernel.takes, 1)), layers, rows[first - 1].shape)
        assert kernel.fits(part) is None, kernel.fits(part)
        steps.append(Step(kernel, part, kernel.cost(part)))
        first += len(layers)
    placed = place(sections_of(tuple(steps), NO_PROGRAM), SPECTRUM_48K)
    return Plan(model, SPECTRUM_48K, NO_PROGRAM, tuple(steps), placed, 0.0, ())


def assembled(plan: Plan) -> Assembly:
    """Return the plan's machine code."""
    with TemporaryDirectory() as folder:
        return build(plan, Path(folder, "asm"))


def run(cpu: Cpu, assembly: Assembly, front: Values, form: str = BITS) -> int:
    """Write the front's map of one picture into memory in this format, run the kernels and return their T-states."""
    packed = pack_groups(front[None], LEVELS[form]).astype(np.uint8)
    cpu.write(assembly.symbols[bits_label("front_pool")], packed.tobytes())
    return call(cpu, assembly.symbols["classify"])


def check(plan: Plan, pictures: NDArray[np.uint8] = PICTURES) -> None:
    """Compare the outputs and the T-states of the plan's kernels on both processors with the reference and the cost."""
    values = [pictures.astype(np.int64), *trace(plan.model, pictures).values()]
    first, tstates, wanted = FRONT, np.full(len(pictures), RET_TSTATES), []
    for step in plan.steps:
        last = first + len(step.part.layers)
        counts = step.kernel.count(step.part, values[first], values[first + 1 : last + 1])
        for term in step.cost.terms:
            assert counts[term.name].max() <= term.most, term.name
        tstates = tstates + step.cost.tstates(counts)
        wanted.append((step, values[last]))
        first = last
    assembly = assembled(plan)
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        for i, front in enumerate(values[FRONT]):
            took = run(cpu, assembly, front, plan.steps[0].kernel.takes)
            memory = cpu.read(0, 0x10000)
            for step, want in wanted:
                got = step.kernel.read(memory, assembly.symbols, step.part)
                np.testing.assert_array_equal(got, want[i], f"{step.name}, picture {i}, {cpu.name}")
            assert took == tstates[i], f"picture {i}, {cpu.name}"


def check_interrupted(plan: Plan) -> None:
    """Run the kernels under the ROM's interrupts: the last one's outputs are right, and the other registers are kept."""
    last = plan.steps[-1]
    outputs, assembly = trace(plan.model, PICTURES), assembled(plan)
    cpu = SkoolKitCpu(assembly.org, assembly.image, interrupts=True)
    before = cpu.registers()
    for front, want in zip(outputs["front_pool"], outputs[last.part.layers[-1].name], strict=True):
        run(cpu, assembly, front, plan.steps[0].kernel.takes)
        np.testing.assert_array_equal(last.kernel.read(cpu.read(0, 0x10000), assembly.symbols, last.part), want)
    after = cpu.registers()
    assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
