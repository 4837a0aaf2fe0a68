"""conv_pairs and conv_bits alone: maps of all kinds are written into memory, and outputs and T-states are compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.kernels_alone import PICTURES, Shape, assembled, check, lay_out, run
from tests.pasmo import pasmo_bytes
from tests.test_conv_kernels import conv_of, net
from zxml.emulator import SkoolKitCpu
from zxml.ir import Conv, Pool, Range, Requant
from zxml.reference import trace
from zxml.z80gen.emit import build
from zxml.z80gen.kernel import Kernel, Part
from zxml.z80gen.kernels.bit_sum import BIT_SUM
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE
from zxml.z80gen.kernels.conv_bits import CONV_BITS
from zxml.z80gen.kernels.conv_pairs import BIAS, CONV_PAIRS, byte_code

KERNELS = (CONV_PAIRS, CONV_BITS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
quick = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
shapes = st.tuples(st.integers(3, 7), st.integers(3, 7), st.integers(1, 24))
densities = st.sampled_from([0.0, 0.02, 0.1, 0.3, 1.0])


@quick
@given(st.sampled_from(KERNELS), shapes, st.sampled_from([8, 16, 24]), st.sampled_from([1, 2]), densities)
@example(CONV_PAIRS, (10, 10, 16), 32, 2, 0.02)
@example(CONV_BITS, (10, 10, 16), 32, 2, 0.02)
@example(CONV_PAIRS, (8, 11, 24), 8, 2, 0.1)
@example(CONV_BITS, (8, 11, 24), 8, 1, 0.1)
def test_convolutions_from_bits_are_exact_and_take_the_planned_time(
    kernel: Kernel, shape: Shape, units: int, stride: int, density: float
) -> None:
    check(lay_out(net(shape, (units,), False, stride, sum(shape), density), kernel), PICTURES[::2])


@pytest.mark.parametrize("channels", [8, 16, 24])
@pytest.mark.parametrize(("kernel", "weight"), [(CONV_PAIRS, -8), (CONV_PAIRS, 7), (CONV_BITS, -128), (CONV_BITS, 127)])
def test_sums_of_extreme_weights_wrap(kernel: Kernel, channels: int, weight: int) -> None:
    model = net((4, 5, channels), (8,), density=1.0)
    conv_of(model).weight[..., ::2] = weight
    conv_of(model).weight[..., 1::4] = -1 - weight
    conv_of(model).bias[:] = [-128, 127, 0, -1, 1, 0, 127, -128]
    check(lay_out(model, kernel), PICTURES[:8])


@each_kernel
def test_windows_of_every_number_of_bits_are_exact(kernel: Kernel) -> None:
    model = net((3, 3, 24), (8,), density=0.5)
    plan = lay_out(model, kernel)
    assembly, conv, rng = assembled(plan), conv_of(model), np.random.default_rng(0)
    cpu = SkoolKitCpu(assembly.org, assembly.image)
    for count in range(217):
        front = rng.permutation(np.arange(216) < count).astype(np.int64).reshape(3, 3, 24)
        sums = (np.tensordot(front, conv.weight.astype(np.int64), 3) + conv.bias + 128) % PAGE - 128
        run(cpu, assembly, front)
        got = kernel.read(cpu.read(0, 0x10000), assembly.symbols, plan.steps[0].part)
        np.testing.assert_array_equal(got[0, 0], sums >= 0, f"{count} bits")


def test_layers_of_several_sizes_share_code_and_buffers() -> None:
    check(lay_out(net((9, 8, 5), (24, 16, 8)), CONV_PAIRS, CONV_PAIRS, CONV_PAIRS, BIT_SUM), PICTURES[::3])
    check(lay_out(net((9, 8, 5), (16, 24, 8)), CONV_BITS, CONV_BITS, CONV_PAIRS, BIT_SUM), PICTURES[::3])


@each_kernel
def test_interrupts_change_nothing_and_other_registers_are_kept(kernel: Kernel) -> None:
    plan = lay_out(net((7, 7, 16), (16,), stride=2), kernel)
    outputs, assembly = trace(plan.model, PICTURES), assembled(plan)
    cpu = SkoolKitCpu(assembly.org, assembly.image, interrupts=True)
    before = cpu.registers()
    for i, front in enumerate(outputs["front_pool"]):
        run(cpu, assembly, front)
        got = kernel.read(cpu.read(0, 0x10000), assembly.symbols, plan.steps[0].part)
        np.testing.assert_array_equal(got, outputs["levels1"][i])
    after = cpu.registers()
    kept = ("iy", "af'", "bc'", "de'", "hl'")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


@pytest.mark.slow
def test_another_assembler_makes_the_same_bytes(tmp_path: Path) -> None:
    assembly = build(lay_out(net((9, 8, 8), (16, 24, 8)), CONV_PAIRS, CONV_BITS, CONV_PAIRS), tmp_path)
    assert pasmo_bytes(tmp_path / "main.asm") == assembly.image


def test_no_two_weights_share_a_place_in_their_page() -> None:
    places = [byte_code(number) ^ 1 << bit for number in range(27) for bit in range(CHANNELS_A_BYTE)]
    assert len({*places, BIAS, BIAS + 1}) == len(places) + 2


@pytest.mark.parametrize(
    ("kernel", "channels", "change", "reason"),
    [
        (CONV_PAIRS, 25, {}, "has weights for 24 channels, not 25"),
        (CONV_PAIRS, 8, {"weight": np.full((3, 3, 8, 8), 8, np.int32)}, r"weights are in \[-8, 7\], not in \[8, 8\]"),
        (CONV_PAIRS, 8, {"sum_bits": 16}, "sums are 8 bits wide, not 16"),
        (CONV_BITS, 25, {}, "has weights for 24 channels, not 25"),
        (CONV_BITS, 8, {"stride": 3}, "steps over at most 2 places, not 3"),
        (
            CONV_BITS,
            8,
            {"weight": np.full((3, 3, 8, 8), -129, np.int32)},
            r"weights are in \[-128, 127\], not in \[-129, -129\]",
        ),
    ],
)
def test_kernels_say_what_they_do_not_fit(kernel: Kernel, channels: int, change: dict[str, object], reason: str) -> None:
    conv = replace(Conv("conv", 8, np.zeros((3, 3, channels, 8), np.int32), np.zeros(8, np.int32)), **change)  # type: ignore[arg-type]
    part = Part(Pool("pool"), Range(0, 1), (conv, Requant("levels", 0, 1)), (7, 7, channels))
    with pytest.raises(AssertionError, match=reason):
        assert kernel.fits(part) is None, kernel.fits(part)
