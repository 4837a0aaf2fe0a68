"""The Z80 trains the seed's net bit for bit as NumPy does, and each routine keeps its header's contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts import assert_kept, numbers_of, read_contracts
from tests.pasmo import pasmo_bytes
from tests.test_seed_net import PAGE, PICTURES, random_net
from zxml.data import seed8
from zxml.emulator import STACK_ADDR, KosarevCpu, call
from zxml.errors import VerifyError
from zxml.learn.correct import next_random
from zxml.learn.seed import assembly, cost, evidence
from zxml.learn.seed.arithmetic import CHOSEN
from zxml.learn.seed.machine import STUB_ADDR, STUB_TSTATES, Machine, made
from zxml.learn.seed.net import BATCH, Bits, Net, see_windows

HEADERS = read_contracts("seed_*.asm")
SIZES = st.sampled_from([300, 3000, 32_768])  # of weights: active and idle units, scores that wrap


class Checked(Machine):
    """A machine that checks what a routine changes besides memory."""

    def call(self, name: str, *, a: int = 0, bc: int = 0, de: int = 0, hl: int = 0) -> int:
        registers = self.cpu.registers()
        given = {"af": 256 * a + (registers["af"] & 255), "bc": bc, "de": de, "hl": hl, "sp": STACK_ADDR}
        tstates = super().call(name, a=a, bc=bc, de=de, hl=hl)
        assert_kept(HEADERS[name], registers | given, self.cpu.registers())
        return tstates


MACHINE = Checked()


def numbers(name: str) -> list[int]:
    """Return the numbers of a header's T-states."""
    return numbers_of(HEADERS[name])


def put(net: Net, picture: Bits, machine: Machine = MACHINE) -> None:
    machine.put(net)
    machine.put_pictures(seed8.Pictures(picture[None], np.zeros(1, np.uint8)))


def look(machine: Machine = MACHINE) -> int:
    return machine.call("seed_look", hl=machine.picture_addr(0))


def active_units(net: Net, picture: Bits) -> int:
    return int((net.look(see_windows(picture[None])).levels > 0).sum())


@settings(max_examples=30, deadline=None)
@given(PICTURES, st.integers(0, 99), SIZES)
def test_scores_are_the_references_in_the_stated_time(pictures: Bits, seed: int, size: int) -> None:
    net = random_net(CHOSEN, seed, size)
    for picture in pictures:
        put(net, picture)
        active = active_units(net, picture)
        assert MACHINE.call("seed_see", hl=MACHINE.picture_addr(0)) == numbers("seed_see")[0]
        lowest, highest, each = numbers("seed_filters")
        assert lowest <= MACHINE.call("seed_filters") - each * active <= highest
        fixed, each = numbers("seed_fill")
        assert MACHINE.call("seed_fill") == fixed + each * active
        fixed, each = numbers("seed_scores")
        assert MACHINE.call("seed_scores") == fixed + each * active
        assert MACHINE.scores() == net.look(see_windows(picture[None])).scores[0, 0].tolist()
        lowest, highest, each = numbers("seed_look")
        assert lowest <= look() - each * active <= highest


@settings(max_examples=30, deadline=None)
@given(PICTURES, st.integers(0, 99), SIZES)
def test_a_picture_is_read_as_the_reference_does(pictures: Bits, seed: int, size: int) -> None:
    net = random_net(CHOSEN, seed, size)
    for picture in pictures:
        put(net, picture)
        scores = net.look(see_windows(picture[None])).scores[0, 0]
        lowest, highest, each = numbers("seed_read")
        tstates = MACHINE.call("seed_read", hl=MACHINE.picture_addr(0))
        assert lowest <= tstates - each * active_units(net, picture) <= highest
        registers = MACHINE.cpu.registers()
        assert [registers["af"] >> 8, registers["de"]] == [int(scores.argmax()), int(scores.max()) + assembly.SCORE_ZERO]


@settings(max_examples=40, deadline=None)
@given(PICTURES, st.integers(0, 99), SIZES, st.booleans())
def test_everything_is_the_references_after_every_picture_and_step(pictures: Bits, seed: int, size: int, slow: bool) -> None:
    net = random_net(CHOSEN, seed, size)
    MACHINE.put(net)
    for picture, windows in zip(pictures, see_windows(pictures), strict=True):
        digit = (seed + int(picture.sum())) % 10
        MACHINE.put_pictures(seed8.Pictures(picture[None], np.zeros(1, np.uint8)))
        MACHINE.call("seed_learn", bc=digit, hl=MACHINE.picture_addr(0))
        assert MACHINE.scores() == net.learn(windows, digit).scores[0, 0].tolist()
        assert MACHINE.differences(net) == []
        assert not MACHINE.pages("seed_news_page", 1).any()
    MACHINE.call("seed_pace", a=int(slow))
    tstates = MACHINE.call("seed_step")
    net.step(slow)
    assert MACHINE.differences(net) == []
    np.testing.assert_array_equal(MACHINE.tables(), net.tables()[0])
    lowest, highest = numbers("seed_step")[2 * slow : 2 * slow + 2]
    assert lowest <= tstates <= highest


@settings(max_examples=30, deadline=None)
@given(PICTURES, st.integers(0, 99))
def test_teaching_takes_the_time_its_headers_state(pictures: Bits, seed: int) -> None:
    net, picture = random_net(CHOSEN, seed), pictures[0]
    put(net, picture)
    active = active_units(net, picture)
    alone = look() + MACHINE.call("seed_rival", bc=3)
    raised, lowered = (MACHINE.call(name, bc=0x8C81) for name in ("seed_raise", "seed_lower"))
    for name, tstates in (("seed_raise", raised), ("seed_lower", lowered)):
        fixed, least, most = numbers(name)
        assert fixed + least * active <= tstates <= fixed + most * active
    moved = int((MACHINE.pages("seed_news_page", 1) != 0).sum())
    fixed, each, news = numbers("seed_news")
    assert MACHINE.call("seed_news") == fixed + each * active + news * moved
    put(net, picture)
    tally = Net(CHOSEN, [1]).tally
    net.tally = tally
    tstates = MACHINE.call("seed_learn", bc=3, hl=MACHINE.picture_addr(0)) - alone
    net.learn(see_windows(picture[None])[0], 3)
    least, most = numbers("seed_teach")
    teaching = numbers("seed_news")[0] + numbers("seed_news")[1] * active + news * tally.moved if tally.taught else 0
    lessons = tally.gains // active if active else 0
    lowest = teaching + (least + lessons * numbers("seed_raise")[0] + numbers("seed_raise")[1] * tally.gains) * tally.taught
    highest = teaching + (most + 20 * numbers("seed_lower")[0] + numbers("seed_lower")[2] * tally.gains) * tally.taught
    assert 165 + lowest <= tstates <= 224 + highest


def test_the_headers_of_learning_add_up() -> None:
    least, most, each = numbers("seed_look")
    rival = numbers("seed_rival")
    assert numbers("seed_learn") == [least + rival[0] + 165, most + rival[1] + 224, each]
    assert numbers("seed_read") == [least + rival[0] + 34, most + rival[1] + 34, each]


def test_grades_of_every_score_are_the_references() -> None:
    net = Net(CHOSEN, [1])
    put(net, np.zeros((8, 8), np.uint8))
    MACHINE.cpu.write(MACHINE.symbols["seed_list_page"], bytes([5, 2, 0, 0x96, 255]))  # one active unit of level 1
    taken = []
    for start in range(0, 0x10000, 9):
        scores, digit = np.arange(start, start + 10) % 0x10000 - assembly.SCORE_ZERO, start % 10
        MACHINE.cpu.write(MACHINE.symbols["seed_dense_velocity_page"], bytes(10 * 256))
        MACHINE.cpu.write(MACHINE.symbols["seed_score"], (scores + assembly.SCORE_ZERO).astype("<u2").tobytes())
        tstates = MACHINE.call("seed_teach", bc=digit)
        raise_by = -net.errors(scores[None], digit)[0]
        velocities = MACHINE.pages("seed_dense_velocity_page", 10)
        assert (velocities[:, 5] * 256 + velocities[:, 133] == 2 * raise_by % 0x10000).all()
        taken.append((tstates, int(abs(raise_by).sum())))
    least, most = numbers("seed_teach")
    lesson = numbers("seed_raise")[0] + numbers("seed_raise")[1], numbers("seed_lower")[0] + numbers("seed_lower")[2]
    assert all(least + lesson[0] * n <= tstates <= most + lesson[1] * n for tstates, n in taken)


def test_the_rival_is_the_first_of_the_greatest_scores_but_the_digits() -> None:
    taken = []
    random = np.random.default_rng(0)
    for i in range(2000):
        scores = random.integers(0, [1, 3, 300, 65_536][i % 4], 10) if i > 10 else np.arange(1, 11)
        MACHINE.cpu.write(MACHINE.symbols["seed_score"], scores.astype("<u2").tobytes())
        left_out = i % 11
        taken.append(MACHINE.call("seed_rival", bc=left_out))
        scores[left_out : left_out + 1] = -1
        registers = MACHINE.cpu.registers()
        if scores.max() > 0:
            assert [registers["af"] >> 8, registers["de"]] == [int(scores.argmax()), int(scores.max())]
        else:
            assert [registers["af"] >> 8, registers["de"]] == [10, 0]
    assert [min(taken), max(taken)] == numbers("seed_rival")


@pytest.mark.parametrize("seed", [1, 2, 0xFFFF])
def test_first_weights_are_the_references(seed: int) -> None:
    net = Net(CHOSEN, [seed])
    assert MACHINE.call("seed_begin", hl=seed) == numbers("seed_begin")[0]
    assert MACHINE.differences(net) == []
    np.testing.assert_array_equal(MACHINE.tables(), net.tables()[0])


def test_random_numbers_are_the_references() -> None:
    state = 1
    MACHINE.cpu.write(MACHINE.symbols["seed_random"], state.to_bytes(2, "little"))
    for _ in range(2000):
        assert MACHINE.call("seed_next_random") == numbers("seed_next_random")[0]
        state = next_random(state)
        assert MACHINE.cpu.registers()["hl"] == state


def test_steps_take_the_time_their_headers_state() -> None:
    ends = {0: (numbers("seed_move")[1], 1200), 1: (numbers("seed_move")[3], 2400)}
    assert numbers("seed_move") == [ends[0][0] - 1200, ends[0][0], ends[1][0] - 2400, ends[1][0]]
    net = Net(CHOSEN, [1])
    for slow, (most, fewer) in ends.items():
        MACHINE.put(net)
        assert MACHINE.call("seed_pace", a=slow) == numbers("seed_pace")[0 if slow == 0 else 2]
        assert MACHINE.call("seed_move") == most  # with velocities of 0 nothing carries
        MACHINE.put(random_net(CHOSEN, slow, 32_768))
        assert most - fewer <= MACHINE.call("seed_move") <= most
    assert MACHINE.call("seed_lessons") == numbers("seed_lessons")[0]
    assert MACHINE.call("seed_tables") == numbers("seed_tables")[0]
    around = numbers("seed_lessons")[0] + numbers("seed_tables")[0] + 44
    assert numbers("seed_step") == [around + tstates for tstates in numbers("seed_move")]


@pytest.mark.parametrize("interrupts", [False, True])
def test_an_epoch_of_forty_pictures_is_the_references(interrupts: bool) -> None:
    machine, pictures = Checked(interrupts), seed8.load().train.first(40)
    machine.put_pictures(pictures)
    machine.call("seed_begin", hl=5)
    net = Net(CHOSEN, [5])
    for slow in (False, True):
        machine.learn_epoch(40, slow)
        for number, (windows, label) in enumerate(zip(see_windows(pictures.images), pictures.labels, strict=True), 1):
            net.learn(windows, int(label))
            if number % BATCH == 0:
                net.step(slow)
        assert machine.differences(net) == []


def test_pictures_that_taught_are_counted() -> None:
    net, train = Net(CHOSEN, [6]), seed8.load().train
    chosen = np.flatnonzero(train.labels < 2)[:10]
    pictures = seed8.Pictures(train.images[chosen], train.labels[chosen])
    MACHINE.put_pictures(pictures)
    MACHINE.call("seed_begin", hl=6)
    for _ in range(20):
        before = net.tally.taught
        for windows, label in zip(see_windows(pictures.images), pictures.labels, strict=True):
            net.learn(windows, int(label))
        net.step(slow=False)
        MACHINE.learn_ten(0, slow=False)
        got = MACHINE.cpu.read(MACHINE.symbols["seed_taught"], 2)
        assert int.from_bytes(got, "little") == net.tally.taught - before
    assert net.tally.taught < net.tally.pictures


def test_training_takes_the_time_that_the_formula_tells() -> None:
    net, pictures = Net(CHOSEN, [2]), seed8.load().train.first(100)
    MACHINE.put_pictures(pictures)
    MACHINE.call("seed_begin", hl=2)
    tstates = MACHINE.learn_epoch(100, slow=False) + MACHINE.learn_epoch(100, slow=True)
    for slow in (False, True):
        for number, (windows, label) in enumerate(zip(see_windows(pictures.images), pictures.labels, strict=True), 1):
            net.learn(windows, int(label))
            if number % BATCH == 0:
                net.step(slow)
    assert tstates == pytest.approx(cost.tstates(net.tally), rel=0.02)
    small = cost.STEP + cost.SLOW_STEP
    teaching = [cost.TEACH_PICTURE, cost.TEACH_ACTIVE, cost.TEACH_ERROR, cost.TEACH_GAIN, cost.TEACH_MOVED]
    assert numbers("seed_epoch") == [cost.LEARN_PICTURE, cost.LEARN_ACTIVE, *teaching, cost.STEP, small]


def test_two_processors_learn_the_same_in_the_same_time() -> None:
    pictures = seed8.load().train.first(10)
    MACHINE.put_pictures(pictures)
    MACHINE.call("seed_begin", hl=9)
    other = KosarevCpu(made().org, MACHINE.cpu.read(made().org, len(made().image)))
    tstates = MACHINE.learn_ten(0, slow=False)
    other.write(STUB_ADDR, MACHINE.cpu.read(STUB_ADDR, 11))
    assert call(other, STUB_ADDR, MACHINE.picture_addr(0)) - STUB_TSTATES == tstates
    assert other.read(made().org, len(made().image)) == MACHINE.cpu.read(made().org, len(made().image))


def test_the_headers_state_the_bytes() -> None:
    symbols = made().symbols
    ends = {"seed_next_random": "seed_epoch", "seed_step": "seed_random"}
    starts = sorted((symbols[name], name) for name in HEADERS)
    following = dict(
        zip([name for _, name in starts], [start for start, _ in starts[1:]] + [symbols["seed_code_end"]], strict=True)
    )
    measured = {name: symbols[ends.get(name, name)] if name in ends else following[name] for name in HEADERS}
    assert {name: end - symbols[name] for name, end in measured.items()} == {
        name: int(header["Bytes"]) for name, header in HEADERS.items()
    }


def test_the_program_fits_a_48k_and_leaves_its_end_to_the_tape() -> None:
    symbols = made().symbols
    assert made().org == symbols["seed_pictures"] == 0x6000
    assert symbols["seed_errors_other"] + 6 <= symbols["seed_filters_page"] == 0x8000
    assert symbols["seed_code_end"] <= symbols["seed_list_page"]
    assert made().org + len(made().image) == symbols["seed_end"] <= 0xFFF0


def test_a_flipped_bit_of_a_weight_is_noticed() -> None:
    net = Net(CHOSEN, [3])
    MACHINE.put(net)
    addr = MACHINE.symbols["seed_dense_page"] + 5 * 256 + 130
    MACHINE.cpu.write(addr, bytes([MACHINE.cpu.read(addr, 1)[0] ^ 1]))
    assert MACHINE.differences(net) == ["dense"]


def test_a_flipped_byte_of_the_code_fails_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Machine):
        def __init__(self) -> None:
            super().__init__()
            self.cpu.write(self.symbols["seed_raise_news"], b"\x60")  # ld h, c becomes ld h, b

    monkeypatch.setattr(evidence, "Machine", Broken)
    with pytest.raises(VerifyError, match="the Z80 has other"):
        evidence.prove_epoch(seed8.load().train.first(10))


@pytest.mark.slow
def test_every_weight_velocity_and_score_is_the_references_over_a_whole_epoch() -> None:
    assert evidence.prove_epoch(seed8.load().train) == 640


@pytest.mark.slow
def test_the_evidence_is_what_was_set_out_for() -> None:
    found = evidence.measure()
    assert found["exact_pictures"] == 640
    assert float(found["tstates_per_picture"]) <= 200_000
    assert float(found["accuracy_640_mean"]) >= 0.772
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"in {found['tstates_per_picture']:,} T-states a picture, {60 * float(found['epoch_minutes']):.0f} seconds" in page
    assert f"reads a picture in {found['tstates_forward']:,}." in page
    minutes, seconds = divmod(round(300 * float(found["epoch_minutes"])), 60)
    assert f"| {found['tstates_per_picture']:,} | {minutes}:{seconds:02d} |" in page


@pytest.mark.slow
def test_pasmo_makes_the_same_bytes(tmp_path: Path) -> None:
    assembly.build(tmp_path)
    assert pasmo_bytes(tmp_path / "seed.asm") == made().image
