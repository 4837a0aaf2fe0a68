"""The kernels of features, codes and early answers against the reference and their costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.feature_nets import cascades, random_cascade, random_front, random_quick, random_sharp
from tests.nets import extreme_pictures, random_pictures
from tests.pasmo import pasmo_bytes
from tests.test_z80_kernels import PICTURE_ADDR, make
from zxml.emulator import RETURN_ADDR, Cpu, KosarevCpu, SkoolKitCpu
from zxml.errors import PlanError
from zxml.ir import ArgMax, Codebook, CodeSum, Exit, IntegerModel, Layer, PatchConv, Window
from zxml.reference import answer, run, trace
from zxml.z80gen.assemble import Assembly
from zxml.z80gen.emit import build
from zxml.z80gen.kernels.bits import read_bits
from zxml.z80gen.kernels.code_line import BATCHES, code_line, operands
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Plan, plan

SETTINGS = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def sparse_pictures(seed: int, count: int) -> NDArray[np.uint8]:
    """Return pictures of a few single pixels, (count, 28, 28), which places see in part."""
    rng = np.random.default_rng(seed)
    pictures = np.zeros((count, 28, 28), np.uint8)
    for picture in pictures:
        rows, columns = rng.integers(0, 28, (2, rng.integers(1, 12)))
        picture[rows, columns] = 1
    return pictures


PICTURES = np.concatenate([extreme_pictures(), random_pictures(0, 10), sparse_pictures(1, 20)])


def quick_net(
    seed: int,
    codes: int = 7,
    weight: int = 28,
    density: float = 0.2,
    rows: int = 20,
    top: int = 4,
    classes: int = 10,
) -> IntegerModel:
    """Return a net of a front, codes and sums."""
    front = random_front(seed, 8, density, Window(top, 4, rows, 20))
    quick = random_quick(seed + 1, (rows - 2) // 2 * 9, codes, weight, classes)
    return IntegerModel(f"quick{seed}", seed, (*front, *quick, ArgMax("digit")))


@st.composite
def quick_nets(draw: st.DrawFn) -> IntegerModel:
    rows = 2 * draw(st.integers(2, 12))
    codes = draw(st.integers(1, 14) | st.sampled_from([15, 28]))
    return quick_net(
        seed=draw(st.integers(0, 2**32 - 10)),
        codes=codes,
        weight=draw(st.sampled_from([0, 1, 9, 28, 63, 127, 255])),
        density=draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])),
        rows=rows,
        top=draw(st.integers(0, 28 - rows)),
        classes=draw(st.integers(2, 10)) if codes < 15 else 2,
    )


def check(cpu: Cpu, chosen: Plan, assembly: Assembly, pictures: NDArray[np.uint8]) -> None:
    """Compare each step's output as soon as it is there, for later ones overwrite it, and the digit and the time at the end."""
    expected, planned = trace(chosen.model, pictures), chosen.tstates(pictures)
    said = answer(chosen.model, expected)
    for i, packed in enumerate(pack_pictures(pictures)):
        cpu.write(PICTURE_ADDR, bytes(packed))
        cpu.enter(assembly.symbols["classify"], PICTURE_ADDR)
        tstates = 0
        for number, step in enumerate(chosen.steps):
            end = f"classify_{number}_exit" if step.is_exit else f"classify_{number + 1}"
            tstates += cpu.run_to(assembly.symbols[end])
            got = step.kernel.read(cpu.read(0, 0x10000), assembly.symbols, step.part)
            want = expected[step.part.layers[-1].name][i]
            np.testing.assert_array_equal(got, want, f"{step.name}, picture {i}, {cpu.name}")
            if step.is_exit and want[0]:
                break
        tstates += cpu.run_to(RETURN_ADDR)
        assert cpu.a() == said.digits[i]
        assert tstates == planned[i]
        assert tstates <= chosen.tstates_worst


def check_both(model: IntegerModel, pictures: NDArray[np.uint8] = PICTURES) -> None:
    chosen, assembly = make(model)
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        check(cpu, chosen, assembly, pictures)


@SETTINGS
@given(quick_nets())
def test_random_quick_nets_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES[::2])


@settings(SETTINGS, max_examples=2)
@given(cascades())
def test_random_cascades_are_exact_at_every_exit_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES[::6])


@st.composite
def bits_nets(draw: st.DrawFn) -> IntegerModel:
    """Draw a net with a front of any size, whose bits a convolution takes."""
    rows, cols = (2 * draw(st.integers(4, 14)) for _ in range(2))
    window = Window(draw(st.integers(0, 28 - rows)), draw(st.integers(0, 28 - cols)), rows, cols)
    filters, seed = draw(st.sampled_from([8, 16, 24, 32])), draw(st.integers(0, 2**32 - 10))
    front = random_front(seed, filters, draw(st.sampled_from([0.0, 0.1, 1.0])), window)
    sharp = random_sharp(seed + 1, ((rows - 2) // 2, (cols - 2) // 2, filters), (8,))
    return IntegerModel(f"bits{seed}", seed, (*front, *sharp))


@SETTINGS
@given(bits_nets())
def test_random_fronts_of_bits_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    check_both(model, PICTURES[::6])


@pytest.mark.parametrize(
    ("top", "left", "rows", "cols", "filters"),
    [
        (4, 4, 20, 20, 16),
        (3, 3, 22, 22, 16),
        (2, 2, 24, 24, 24),
        (0, 0, 28, 28, 8),
        (9, 0, 8, 8, 32),
        (0, 20, 28, 8, 8),
        (5, 7, 8, 20, 24),
    ],
)
def test_fronts_of_bits_of_these_windows_are_exact(top: int, left: int, rows: int, cols: int, filters: int) -> None:
    chosen, assembly = make(bits_net(1, filters, Window(top, left, rows, cols)))
    pixels = np.eye(28 * 28, dtype=np.uint8).reshape(28, 28, 28, 28)
    borders = [pixels[row, column] for row in (top, top + rows - 1) for column in (max(left - 1, 0), left, left + cols - 1)]
    check_front(chosen, assembly, np.concatenate([PICTURES, borders, 1 - np.array(borders)]))


def check_front(chosen: Plan, assembly: Assembly, pictures: NDArray[np.uint8]) -> None:
    """Compare the first step's output and its time in two processors."""
    step, end = chosen.steps[0], assembly.symbols["classify_1"]
    expected = trace(chosen.model, pictures)
    outputs = [expected[layer.name] for layer in step.part.layers]
    planned = step.cost.tstates(step.kernel.count(step.part, pictures.astype(np.int64), outputs))
    assert planned.max() <= step.cost.worst
    for cpu in (SkoolKitCpu(assembly.org, assembly.image), KosarevCpu(assembly.org, assembly.image)):
        for i, packed in enumerate(pack_pictures(pictures)):
            cpu.write(PICTURE_ADDR, bytes(packed))
            cpu.enter(assembly.symbols["classify"], PICTURE_ADDR)
            assert cpu.run_to(end) == planned[i]
            got = step.kernel.read(cpu.read(0, 0x10000), assembly.symbols, step.part)
            np.testing.assert_array_equal(got, outputs[-1][i], f"picture {i}, {cpu.name}")


def three_stages(seed: int) -> IntegerModel:
    """Return a cascade whose last stage has a front of its own."""
    layers = random_cascade(seed, gap=60, units=(8,)).layers[:-1]
    front = random_front(seed + 3, 16, window=Window(2, 2, 24, 24), name="fine")
    last = random_sharp(seed + 4, (11, 11, 16), (8,), (True,), prefix="fine_")
    return IntegerModel("three", seed, (*layers, Exit("surer", 20, "picture"), *front, *last))


def test_three_stages_with_two_fronts_are_exact_at_every_exit() -> None:
    model = three_stages(9)
    assert set(run(model, PICTURES).exits) == {0, 1, 2}
    check_both(model)


@pytest.mark.slow
def test_pasmo_builds_the_same_bytes(tmp_path: Path) -> None:
    assembly = build(plan(three_stages(10), PICTURES[:5]), tmp_path)
    assert pasmo_bytes(tmp_path / "main.asm") == assembly.image


@pytest.mark.parametrize(
    ("codes", "weight", "rows"), [(9, 9, 20), (3, 127, 22), (14, 255, 12), (1, 0, 4), (6, 9, 20), (10, 28, 24), (12, 31, 20)]
)
def test_a_full_line_is_exact(codes: int, weight: int, rows: int) -> None:
    model = quick_net(1, codes, weight, density=1.0, rows=rows, top=2)
    codebook, sums = model.layers[2], model.layers[3]
    assert isinstance(codebook, Codebook)
    assert isinstance(sums, CodeSum)
    codebook.code[1:] = codes
    sums.table[:, 1:] = weight
    check_both(model)


@given(st.integers(1, 28), st.integers(1, 11), st.sampled_from(BATCHES))
def test_every_code_of_a_place_has_a_look_up_of_its_own(codes: int, rows: int, batch: int) -> None:
    line = code_line(batch, Codebook("codes", np.full(256, codes, np.int32)), (rows, 9, 1))
    assume(line)
    assert line is not None
    used = {(line.page(place), line.index(place, code)) for place in range(line.places) for code in range(1, codes + 1)}
    assert len(used) == line.places * codes
    assert not used & {(0, line.bias), (0, (line.bias + 1) % 256)}
    assert 0 <= operands(line)[-1] <= operands(line)[0] < line.block_nbytes
    assert sum(line.sizes) == line.places


@pytest.mark.parametrize(("codes", "sizes"), [(5, [45, 36]), (6, [41, 40]), (8, [27] * 3), (10, [21, 21, 21, 18])])
def test_a_page_ends_within_a_row_where_fewer_pages_do_then(codes: int, sizes: list[int]) -> None:
    line = code_line(12, Codebook("codes", np.full(256, codes, np.int32)), (9, 9, 1))
    assert line is not None
    assert line.sizes == sizes


def test_a_front_that_keeps_its_bits_ends_a_page_within_a_row() -> None:
    model = random_cascade(11, density=0.4, codes=6, units=(8,))
    chosen, assembly = make(model)
    assert chosen.steps[0].kernel.keeps
    check(SkoolKitCpu(assembly.org, assembly.image), chosen, assembly, PICTURES[::3])


def test_features_without_a_code_are_exact() -> None:
    model = quick_net(2)
    codebook = model.layers[2]
    assert isinstance(codebook, Codebook)
    codebook.code[:] = 0
    check_both(model)


def test_bits_that_no_layer_takes_are_not_kept() -> None:
    chosen, assembly = make(quick_net(3))
    assert not chosen.steps[0].kernel.keeps
    assert "front_pool_bits" not in assembly.symbols


def test_the_front_keeps_its_bits() -> None:
    model = random_cascade(3, window=Window(4, 4, 8, 20), units=(8,))
    chosen, assembly = make(model)
    expected = trace(model, PICTURES)["front_pool"]
    assert chosen.steps[0].kernel.keeps
    cpu = SkoolKitCpu(assembly.org, assembly.image)
    for packed, bits in zip(pack_pictures(PICTURES), expected, strict=True):
        cpu.write(PICTURE_ADDR, bytes(packed))
        cpu.enter(assembly.symbols["classify"], PICTURE_ADDR)
        cpu.run_to(assembly.symbols["classify_1"])
        got = read_bits(cpu.read(0, 0x10000), assembly.symbols, "front_pool", bits.shape)
        np.testing.assert_array_equal(got, bits)


@pytest.mark.parametrize("gap", [0, 1])
def test_equal_scores_lead_by_nothing(gap: int) -> None:
    model = random_cascade(4, window=Window(4, 4, 8, 20), weight=0, gap=gap, units=(8,))
    sums = model.layers[3]
    assert isinstance(sums, CodeSum)
    sums.bias[:] = 7
    check_both(model, PICTURES[:6])


@pytest.mark.parametrize(("leader", "second"), [(0, 9), (9, 8)])
def test_a_lead_of_the_gap_is_an_answer_and_one_less_is_none(leader: int, second: int) -> None:
    for lead in (59, 60):
        model = random_cascade(5, window=Window(4, 4, 8, 20), weight=0, gap=60, units=(8,))
        sums = model.layers[3]
        assert isinstance(sums, CodeSum)
        sums.bias[:] = np.arange(10) * 3
        sums.bias[second], sums.bias[leader] = 511 - lead, 511
        chosen, assembly = make(model)
        check(SkoolKitCpu(assembly.org, assembly.image), chosen, assembly, PICTURES[:2])


def test_interrupts_change_nothing() -> None:
    model = random_cascade(6, gap=100, units=(8,))
    chosen, assembly = make(model)
    cpu = SkoolKitCpu(assembly.org, assembly.image, contended=True, interrupts=True)
    expected = trace(model, PICTURES)
    for i, packed in enumerate(pack_pictures(PICTURES)):
        cpu.write(PICTURE_ADDR, bytes(packed))
        cpu.enter(assembly.symbols["classify"], PICTURE_ADDR)
        cpu.run_to(RETURN_ADDR)
        memory = cpu.read(0, 0x10000)
        for step in chosen.steps[:3]:
            if step.part.layers[-1].name != "quick" or expected["sure"][i, 0]:
                got = step.kernel.read(memory, assembly.symbols, step.part)
                np.testing.assert_array_equal(got, expected[step.part.layers[-1].name][i])


def bits_net(seed: int, filters: int, window: Window) -> IntegerModel:
    """Return a net of a front of bits and a convolution."""
    shape = (window.rows - 2) // 2, (window.cols - 2) // 2, filters
    front = random_front(seed, filters, 0.3, window)
    return IntegerModel(f"bits{seed}", seed, (*front, *random_sharp(seed + 1, shape, (8,))))


@pytest.mark.parametrize("model", [quick_net(7), bits_net(7, 16, Window(3, 3, 10, 22))])
def test_registers_are_kept(model: IntegerModel) -> None:
    chosen, assembly = make(model)
    cpu = SkoolKitCpu(assembly.org, assembly.image)
    before = cpu.registers()
    check(cpu, chosen, assembly, PICTURES[:3])
    after = cpu.registers()
    kept = ("iy", "af'", "bc'", "de'", "hl'")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def changed(model: IntegerModel, number: int, **fields: object) -> IntegerModel:
    layers: list[Layer] = [*model.layers]
    layers[number] = replace(layers[number], **fields)  # type: ignore[arg-type]
    return IntegerModel(model.name, model.seed, tuple(layers))


def blank_feature(model: IntegerModel) -> IntegerModel:
    conv = model.layers[0]
    assert isinstance(conv, PatchConv)
    table = conv.table.copy()
    table[0, 3] = 1
    return changed(model, 0, table=table)


def negative_weight(model: IntegerModel) -> IntegerModel:
    sums = model.layers[3]
    assert isinstance(sums, CodeSum)
    table = sums.table.copy()
    table[0, 1, 0] = -1
    return changed(model, 3, table=table)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (blank_feature(quick_net(0)), "none on a blank window"),
        (negative_weight(quick_net(0)), "unsigned bytes"),
        (changed(quick_net(0), 3, sum_bits=8), "sums are 16 bits wide, not 8"),
        (quick_net(0, codes=29), "more look-ups than a page"),
        (changed(quick_net(0), 0, window=Window(4, 3, 20, 20)), "20 columns from column 4"),
        (changed(random_cascade(0), 4, gap=65_536), "unsigned word, not 65536"),
        (blank_feature(bits_net(0, 16, Window(3, 3, 10, 22))), "passes over blank windows"),
    ],
)
def test_what_does_not_fit_is_named(model: IntegerModel, reason: str) -> None:
    with pytest.raises(PlanError, match=reason):
        plan(model, PICTURES[:2])


def test_an_exit_and_an_arg_max_share_the_digit() -> None:
    chosen, assembly = make(random_cascade(8, units=(8,)))
    assert [placed.section.source for placed in chosen.placed].count("kernel/digit") == 1
    assert isinstance(chosen.steps[2].part.layers[0], Exit)
    assert assembly.symbols["digit"]


@pytest.mark.slow
@settings(SETTINGS, max_examples=30)
@given(quick_nets() | cascades() | bits_nets())
def test_many_random_nets_are_exact_and_take_the_planned_time_in_two_processors(model: IntegerModel) -> None:
    check_both(model)
