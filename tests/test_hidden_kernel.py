"""hidden_bits alone, and behind the early answer of a cascade."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.feature_nets import hidden_cascade, random_front, random_hidden
from tests.kernels_alone import FRONT, PICTURES, Shape, check, check_interrupted, lay_out
from tests.pasmo import pasmo_bytes
from tests.test_z80_kernels import PICTURE_ADDR, make
from zxml.emulator import KosarevCpu, SkoolKitCpu, call
from zxml.ir import Dense, IntegerModel, Pool, Range, Requant, Window
from zxml.reference import answer, trace
from zxml.z80gen.emit import build, emit
from zxml.z80gen.kernel import Part
from zxml.z80gen.kernels import hidden_stretch
from zxml.z80gen.kernels.dense_sum import dense_sum, page_levels
from zxml.z80gen.kernels.hidden_bits import FORMS, hidden_bits
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Plan

forms = st.sampled_from([*FORMS])


def net(
    shape: Shape, units: int, levels: int = 8, shift: int = 3, weight: int = 7, density: float = 0.2, seed: int = 0
) -> IntegerModel:
    """Return a front that puts out a map of this shape, a hidden layer on it, and scores."""
    rows, cols, channels = shape
    front = random_front(seed, channels, density, Window(0, 0, 2 * rows + 1, 2 * cols + 1))
    return IntegerModel("net", seed, (*front, *random_hidden(seed, rows * cols * channels, units, levels, shift, weight)))


def hidden_of(model: IntegerModel) -> Dense:
    """Return the layer of the kernel."""
    layer = model.layers[FRONT]
    assert isinstance(layer, Dense)
    return layer


def lay_down(model: IntegerModel, form: str, batch: int = 4) -> Plan:
    """Return a plan of hidden_bits and dense_sum for the layers after the front."""
    return lay_out(model, hidden_bits(form, batch), dense_sum(batch))


quick = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
levels_and_shift = st.tuples(st.integers(1, 8), st.integers(0, 7))


@quick
@given(
    forms,
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 24)),
    st.integers(1, 12) | st.just(31),
    levels_and_shift,
    st.sampled_from([0, 1, 7]),
    st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    st.sampled_from([1, 2, 4]),
)
@example("hidden_nibbles", (9, 9, 24), 12, (8, 3), 7, 1.0, 4)
@example("hidden_nibbles", (9, 9, 8), 48, (2 * page_levels(48), 2), 7, 0.3, 4)
@example("hidden_nibbles", (9, 9, 8), 41, (8, 3), 7, 0.3, 4)
@example("hidden_bytes", (9, 5, 8), 33, (8, 3), 7, 0.3, 4)
@example("hidden_nibbles_short", (9, 9, 16), 9, (8, 3), 7, 1.0, 3)
def test_hidden_bits_is_exact_and_takes_the_planned_time(
    form: str, shape: Shape, units: int, levels: tuple[int, int], weight: int, density: float, batch: int
) -> None:
    model = net(shape, units, *levels, weight, density, sum(shape))
    check(lay_down(model, form, batch), PICTURES[::2])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("weight", "bias"), [(-8, -128), (7, 127), (0, -1), (0, 0)])
def test_extreme_weights_on_extreme_maps_are_exact(form: str, weight: int, bias: int) -> None:
    model = net((9, 7, 8), 7, density=1.0)
    hidden_of(model).weight[:] = weight * (16 if form == "hidden_bytes" else 1)
    hidden_of(model).bias[:] = bias
    check(lay_down(model, form), PICTURES[:7])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_two_assemblers_agree(form: str, tmp_path: Path) -> None:
    plan = lay_down(net((4, 4, 8), 5), form)
    assert pasmo_bytes(emit(plan, tmp_path)) == build(plan, tmp_path).image


def test_stretches_without_weights_are_passed_over() -> None:
    model = net((9, 9, 8), 5, density=0.5)
    whole = lay_down(model, "hidden_nibbles")
    hidden_of(model).weight[: 8 * 20] = 0
    hidden_of(model).weight[-8 * 29 :] = 0
    pruned = lay_down(model, "hidden_nibbles")
    assert pruned.nbytes < whole.nbytes
    check(pruned, PICTURES[::4])
    hidden_of(model).weight[:] = 0
    check(lay_down(model, "hidden_nibbles"), PICTURES[::4])


@pytest.mark.parametrize("form", FORMS)
def test_interrupts_change_nothing_and_other_registers_are_kept(form: str) -> None:
    check_interrupted(lay_down(net((9, 9, 8), 12), form))


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1000), st.sampled_from([0.05, 0.3]), st.integers(1, 24))
def test_cascades_into_a_hidden_layer_are_exact_at_each_exit(seed: int, density: float, units: int) -> None:
    ordered = np.sort(trace(hidden_cascade(seed, density, 0, units), PICTURES)["quick"], axis=1)
    model = hidden_cascade(seed, density, int(np.median(ordered[:, -1] - ordered[:, -2])), units)
    said = answer(model, trace(model, PICTURES))
    assume(set(said.exits) == {0, 1})
    chosen, assembly = make(model)
    assert any(step.kernel.name.startswith("hidden_") for step in chosen.steps)
    scores, classes = assembly.symbols["scores"], model.classes
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        for i, tstates in enumerate(chosen.tstates(PICTURES)):
            cpu.write(PICTURE_ADDR, pack_pictures(PICTURES[i : i + 1]).tobytes())
            assert call(cpu, assembly.symbols["classify"], PICTURE_ADDR) == tstates
            assert cpu.a() == said.digits[i]
            np.testing.assert_array_equal(np.frombuffer(cpu.read(scores, 2 * classes), "<i2"), said.scores[i])


@given(st.integers(0, 40), st.integers(1, 256), st.integers(1, 127), st.sampled_from([16, 32]))
def test_every_weight_has_a_place_of_its_own(first: int, nbytes: int, lines: int, most: int) -> None:
    layout = hidden_stretch.lay_out(first, nbytes, lines, most)
    weights = np.arange(1, 8 * (first + nbytes) * lines + 1).reshape(-1, lines)
    pages = np.concatenate(layout.place(weights))
    assert sorted(pages[pages > 0]) == sorted(weights[8 * first :].ravel())
    assert pages.size < 8 * nbytes * lines + 5 * 256  # a page begun at most for each size below that of a page
    assert all(0 < record[-1] < 256 and record[1] <= most for record in layout.records())


@pytest.mark.parametrize(
    ("form", "shape", "layers", "reason"),
    [
        ("hidden_nibbles", (5, 5, 8), (7, 16, 8, 8), "sums are 8 bits wide, not 16"),
        ("hidden_nibbles", (5, 5, 8), (7, 8, 8, 8), r"weights are in \[-8, 7\], not in \[8, 8\]"),
        ("hidden_bytes", (5, 5, 8), (7, 8, 128, 8), r"weights are in \[-128, 127\], not in \[128, 128\]"),
        ("hidden_bytes", (9, 29, 8), (7, 8, 1, 8), "takes a map of at most 256 bytes, not 261"),
        ("hidden_bytes", (5, 5, 8), (128, 8, 1, 2), "at most 127 units, not 128"),
        ("hidden_bytes", (5, 5, 8), (64, 8, 1, 8), "8 levels of 64 units have more product indices"),
    ],
)
def test_kernels_say_what_they_do_not_fit(form: str, shape: Shape, layers: tuple[int, int, int, int], reason: str) -> None:
    units, sum_bits, weight, levels = layers
    dense = Dense("hidden", sum_bits, np.full((np.prod(shape), units), weight, np.int32), np.zeros(units, np.int32))
    part = Part(Pool("pool"), Range(0, 1), (dense, Requant("levels", 3, levels)), shape)
    with pytest.raises(AssertionError, match=reason):
        assert hidden_bits(form, 4).fits(part) is None, hidden_bits(form, 4).fits(part)
