"""The small kernel of codes on a map of features: against the reference and its cost in two processors, and in the planner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.feature_nets import random_front, random_quick
from tests.kernels_alone import PICTURES, check, check_interrupted, lay_out
from tests.pasmo import pasmo_bytes
from tests.test_feature_kernels import check_both
from tests.test_z80_kernels import make
from zxml.ir import ArgMax, Codebook, CodeSum, IntegerModel, Pool, Range, Window
from zxml.z80gen.emit import build
from zxml.z80gen.kernel import Part
from zxml.z80gen.kernels.code_sum_4bit import CODE_SUM_4BIT

quick = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def net(seed: int, rows: int, cols: int, codes: int = 7, weight: int = 15, density: float = 0.2) -> IntegerModel:
    """Return codes on a map of rows x cols places, and their sums."""
    window = Window((26 - 2 * rows) // 2, (26 - 2 * cols) // 2, 2 * rows + 2, 2 * cols + 2)
    layers = (*random_front(seed, 8, density, window), *random_quick(seed + 1, rows * cols, codes, weight), ArgMax("digit"))
    return IntegerModel(f"codes{seed}", seed, layers)


@quick
@given(
    st.integers(0, 2**32 - 10),
    st.integers(2, 13),
    st.integers(2, 13),
    st.integers(1, 12),
    st.sampled_from([1, 9, 15]),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_sums_of_codes_of_any_map_are_exact_and_take_the_planned_time(
    seed: int, rows: int, cols: int, codes: int, weight: int, density: float
) -> None:
    check(lay_out(net(seed, rows, cols, codes, weight, density), CODE_SUM_4BIT), PICTURES[::2])


def test_the_most_codes_are_exact() -> None:
    check(lay_out(net(5, 10, 10, codes=51, density=1.0), CODE_SUM_4BIT), PICTURES[::3])


def test_a_window_that_no_other_kernel_of_codes_takes_is_exact() -> None:
    model = net(1, 12, 12)
    chosen, _ = make(model)
    assert [step.kernel.name for step in chosen.steps[:2]] == ["front_bits", "code_sum_4bit"]
    check_both(model, PICTURES[::6])


def test_the_planner_takes_the_faster_kernels_where_there_is_room_for_them() -> None:
    chosen, _ = make(net(2, 9, 9))
    assert chosen.steps[0].kernel.name.startswith("front_codes")
    assert any("code_sum_4bit" in choice.name and "slower" in choice.reason for choice in chosen.rejected)


def test_interrupts_change_nothing_and_other_registers_are_kept() -> None:
    check_interrupted(lay_out(net(3, 9, 9), CODE_SUM_4BIT))


@pytest.mark.slow
def test_another_assembler_makes_the_same_bytes(tmp_path: Path) -> None:
    assembly = build(lay_out(net(4, 9, 9), CODE_SUM_4BIT), tmp_path)
    assert pasmo_bytes(tmp_path / "main.asm") == assembly.image


def part_of(shape: tuple[int, int, int], codes: int, weight: int = 15, outputs: int = 10, sum_bits: int = 16) -> Part:
    """Return a part of codes and sums of a map of this shape, in which every code has this weight."""
    table = np.full((shape[0] * shape[1], codes + 1, outputs), weight, np.int32)
    table[:, 0] = 0
    sums = CodeSum("scores", sum_bits, table, np.zeros(outputs, np.int32))
    return Part(Pool("pool"), Range(0, 1), (Codebook("codes", np.full(256, codes, np.int32)), sums), shape)


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (part_of((9, 9, 16), 7), "takes a map of 8 features of a bit"),
        (replace(part_of((9, 9, 8), 7), inputs=Range(0, 2)), "takes a map of 8 features of a bit"),
        (part_of((9, 9, 8), 7, sum_bits=8), "sums are 16 bits wide, not 8"),
        (part_of((9, 9, 8), 7, outputs=9), "computes an even number of outputs, not 9"),
        (part_of((9, 9, 8), 7, weight=16), "weights are 0 to 15, 0 for code 0; they reach from 0 to 16"),
        (part_of((17, 16, 8), 7), "takes a map of at most 256 places, not 272"),
        (part_of((9, 9, 8), 52), "the weights of a place may take 255 bytes, not 260"),
        (part_of((16, 16, 8), 51), None),
    ],
)
def test_the_kernel_says_what_it_does_not_fit(part: Part, reason: str | None) -> None:
    assert CODE_SUM_4BIT.fits(part) == reason
