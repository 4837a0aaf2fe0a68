"""The learning tape loads through the ROM, learns what the reference learns, shows the right figures, and ends at BREAK."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from tests.learning import ENOUGH_FRAMES, Pupil, after_counting, counted, loaded, made
from zxml import data
from zxml.classify import no_track
from zxml.errors import VerifyError
from zxml.learn import correct, count, teach, words
from zxml.learn.__main__ import table
from zxml.learn.command import PASSES, PICTURES
from zxml.learn.cost import CLOCK_HZ
from zxml.learn.pictures import CLASSES, COLS, NBYTES, ROWS, Bits, border, choose_training, pack, see_patterns, shrink
from zxml.learn.proof import Proof, StageRow, learn, prove, same_weights, write_evidence
from zxml.learn.tape import TESTS, WEIGHTS_ADDR
from zxml.player import DIGITS
from zxml.spectrum import FRAME_TSTATES
from zxml.z80gen.program import Part

GREEN, YELLOW, RED, CYAN, WHITE, BRIGHT = 4, 6, 2, 5, 7, 64
MARKS_ROW, CURVE_LINE, CURVE_COLUMN = 17, 64, 16
LEARNING_PAGE = Path(__file__).parent.parent / "docs" / "learning.md"
SHOWN = ("count", "pass 1", "pass 2", "pass 5", "pass 10", "pass 15")


@pytest.fixture
def fresh() -> Pupil:
    pupil, state = loaded()
    pupil.restore(state)
    return pupil


@pytest.fixture
def taught() -> Pupil:
    return after_counting()


def look_once(weights: count.Weights, small: Bits, state: int) -> tuple[int, list[bool]]:
    """Correct the weights on all pictures once; return the random state and which were read wrong."""
    wrong, bordered = [], border(small)
    for i in range(len(small)):
        state = correct.next_random(state)
        top, left = correct.choose_shift(state)
        patterns = see_patterns(bordered[i : i + 1, top : top + ROWS, left : left + COLS])
        wrong.append(bool(weights.scores(patterns)[0].argmax() != i % CLASSES))
        correct.correct_picture(weights, patterns[0], i % CLASSES)
    return state, wrong


def number(text: str) -> float:
    match = re.search(r"[\d.]+", text)
    assert match, text
    return float(match[0])


# The tape.


def test_the_tape_brings_the_pictures_that_the_reference_learns_from(fresh: Pupil) -> None:
    dataset = data.load("mnist")
    chosen = shrink(dataset.train_images[choose_training(dataset.train_labels, PICTURES)])
    assert (fresh.bytes("learn_pictures", NBYTES * PICTURES).reshape(-1, NBYTES) == pack(chosen)).all()
    tests = fresh.bytes("app_tests", NBYTES * TESTS).reshape(-1, NBYTES).copy()
    assert (tests[:, -1] & 15 == dataset.test_labels[:TESTS]).all()
    tests[:, -1] &= 0xF0
    assert (tests == pack(shrink(dataset.test_images[:TESTS]))).all()


def test_the_menu_tells_the_keys_and_that_nothing_is_learned(fresh: Pupil) -> None:
    text = fresh.text()
    assert f"from {PICTURES:,} handwritten ones," in text[3]
    assert [row[2] for row in text[7:18:2]] == list("LRDKSF")
    assert text[20].startswith("It has learned nothing so far.")
    assert text[23].split() == ["Menu", "Learn", "Read", "Draw", "Save", "Fetch"]
    assert fresh.border == 0


@pytest.mark.parametrize("key", list("rdks"))
def test_who_has_learned_nothing_is_told_to_learn(fresh: Pupil, key: str) -> None:
    text = fresh.show(key)
    assert "It has learned nothing so far:" in text[6]
    assert "L lets it learn, F fetches." in text[18]


@pytest.mark.parametrize("name", [*words.TEXTS, *words.counted(PICTURES, PASSES, TESTS)])
def test_no_line_of_text_runs_over_the_edge(name: str) -> None:
    parts: tuple[Part, ...] = (words.TEXTS | words.counted(PICTURES, PASSES, TESTS))[name]
    column = 0
    for part in parts:
        if isinstance(part, tuple):
            column = part[1]
        elif isinstance(part, str):
            column += len(part.replace("&", "").replace("\0", "  "))
        assert column <= 32, f"{name}: {part}"


# Counting.


def test_counting_gives_the_references_weights_within_ten_seconds(fresh: Pupil) -> None:
    fresh.run(2, "l")
    fresh.run_to("lesson_begin")
    start = fresh.tstates
    fresh.run_to("lesson_counted")
    assert same_weights(fresh, count.learn(made().train))
    assert fresh.tstates - start < 10 * CLOCK_HZ


def test_the_counts_are_seen_in_the_screens_middle(fresh: Pupil) -> None:
    fresh.run(2, "l")
    for _ in range(5):
        fresh.run_to("lesson_counted_one")
    wanted = count.count_patterns(made().train[: 5 * CLASSES : CLASSES])
    assert bytes(fresh.memory[0x4800 : 0x4800 + wanted.size]) == wanted.tobytes()
    assert (fresh.attributes()[8:16] == BRIGHT + CYAN).all()


def test_while_it_counts_it_shows_the_digit_the_pictures_and_the_time(fresh: Pupil) -> None:
    fresh.run(2, "l")
    fresh.run_to("lesson_begin")
    start = fresh.tstates
    fresh.run(200)
    text = fresh.text()
    seen = fresh.word_at("lesson_seen")
    assert text[1].startswith(f"counting: digit {seen // (PICTURES // CLASSES)}")
    assert 0 <= seen - number(text[3]) <= 16
    assert f"of {PICTURES:,}" in text[3]
    assert -0.1 < (fresh.tstates - start) / CLOCK_HZ - number(text[6]) < 0.5
    lamps = fresh.attributes()[MARKS_ROW:].ravel()[: PICTURES // CLASSES]
    assert len(set(lamps.tolist())) in (2, 3)


# Correcting.


def test_a_pass_gives_the_references_weights_and_shows_how_many_were_right(fresh: Pupil) -> None:
    fresh.restore(counted())
    weights = count.learn(made().train)
    state, wrong = look_once(weights, made().train, correct.SEED)
    fresh.run_to("lesson_corrected")
    assert same_weights(fresh, weights)
    assert fresh.word_at("learn_random") == state
    assert number(fresh.text()[4]) == PICTURES - sum(wrong)
    tens = np.reshape(wrong, (-1, 10)).sum(axis=1)
    colours = np.select([tens == 0, tens == 1], [BRIGHT + GREEN, BRIGHT + YELLOW], BRIGHT + RED)
    assert fresh.attributes()[MARKS_ROW:].ravel()[: len(tens)].tolist() == colours.tolist()
    hundreds = np.reshape(wrong, (-1, 100)).sum(axis=1)
    assert fresh.bytes("state_curve", len(hundreds)).tolist() == hundreds.tolist()
    assert fresh.byte("state_points") == len(hundreds)
    fresh.run_to("lesson_pass")
    assert number(fresh.text()[5]) == pytest.approx(100 - 100 * sum(wrong) / PICTURES, abs=0.051)


def test_the_curve_is_four_lines_high_for_each_right_one_of_a_hundred_above_84(fresh: Pupil) -> None:
    fresh.restore(counted())
    fresh.run_to("lesson_corrected")
    screen = np.frombuffer(bytes(fresh.memory[0x4800:0x5000]), np.uint8).reshape(8, 8, 32).transpose(1, 0, 2).reshape(64, 32)
    columns = np.unpackbits(screen, axis=1)[:, CURVE_COLUMN:]
    points = fresh.bytes("state_curve", PICTURES // 100)
    for point, column in zip(points.tolist(), columns.T, strict=False):
        assert column[4 * min(point, 15) :].all()
    assert not columns[61:, len(points) :].any()


def test_the_clock_on_the_screen_is_the_machines(fresh: Pupil) -> None:
    fresh.run(2, "l")
    fresh.run_to("lesson_begin")
    start = fresh.tstates
    fresh.run_to("lesson_corrected")
    assert abs((fresh.tstates - start) / CLOCK_HZ - number(fresh.text()[6])) < 0.15


def test_a_pass_that_was_left_begins_again_and_n_begins_from_nothing(fresh: Pupil) -> None:
    fresh.restore(counted())
    fresh.run(150)
    text = fresh.show("m")
    assert text[20].startswith("It has counted; no passes yet.")
    assert fresh.show("l")[1].startswith("correcting: pass  1 of")
    fresh.press("n")
    fresh.run(ENOUGH_FRAMES)
    assert fresh.text()[1].startswith("counting: digit 0")
    assert fresh.byte("state_stage") == 0


# Reading, drawing, teaching.


def test_the_test_pictures_are_read_as_the_reference_reads_them(taught: Pupil) -> None:
    weights = taught.weights()
    taught.press("r")
    taught.run(ENOUGH_FRAMES)
    for _ in range(TESTS):
        taught.run(12, "SPACE")
        if taught.byte("app_shown") == TESTS:
            break
    right = weights.scores(see_patterns(made().test)).argmax(axis=1) == made().test_labels
    assert (taught.byte("app_right"), taught.byte("app_shown")) == (right.sum(), TESTS)
    taught.run(3)
    assert taught.text()[19][1:15] == f"{right.sum():>2} of {TESTS:>2} right"


def test_a_test_picture_is_shown_as_large_cells(taught: Pupil) -> None:
    taught.show("r")
    shown = taught.byte("app_shown") - 1
    cells = taught.attributes()[5:16, 4:13]
    assert (cells == np.where(made().test[shown], BRIGHT + 8 * WHITE, 8)).all()


@pytest.mark.parametrize("digit", [1, 2, 3, 7])
def test_drawn_digits_are_read(taught: Pupil, digit: int) -> None:
    taught.show("d")
    taught.draw(DIGITS[digit])
    assert taught.text()[19].startswith((f"it reads {digit}", f"not sure: {digit}"))


def test_teaching_corrects_on_the_spot_as_the_reference_does(taught: Pupil) -> None:
    weights = taught.weights()
    taught.show("d")
    taught.draw(DIGITS[3])
    taught.show("k")
    small = unpack(taught.bytes("small", NBYTES))
    teach.fix(weights, small, 8)
    taught.press("8")
    taught.run(ENOUGH_FRAMES)
    assert same_weights(taught, weights)


def test_a_forgotten_digit_is_taught_anew_as_the_reference_does(taught: Pupil) -> None:
    of_each = np.full(CLASSES, PICTURES // CLASSES, np.uint8)
    memory = teach.Memory(made().train.copy(), of_each, taught.weights())
    taught.show("d")
    taught.draw(DIGITS[3])
    taught.show("k")
    small = unpack(taught.bytes("small", NBYTES))
    taught.press("w")
    assert "forget which?" in taught.text()[22]
    taught.press("3")
    taught.run(2 * ENOUGH_FRAMES)
    teach.forget(memory, 3)
    assert same_weights(taught, memory.weights)
    taught.press("3")
    taught.run(300)
    teach.teach(memory, small, 3)
    assert same_weights(taught, memory.weights)
    state = taught.word_at("learn_random")
    taught.press("g")
    taught.run(600)
    teach.practise(memory, state)
    assert same_weights(taught, memory.weights)
    taught.press("w", "w")
    taught.run(3 * ENOUGH_FRAMES)
    assert not taught.bytes("learn_weight_page", 12_800).any()


def unpack(packed: Bits) -> Bits:
    rows = np.unpackbits(packed[:11, None], axis=1)
    return np.hstack([rows, np.unpackbits(packed[11:])[:ROWS, None]])


# BREAK, and the memory map.


@pytest.mark.parametrize("screen", ["m", "l", "r", "d", "k", "s", "f"])
def test_break_gives_the_machine_back_from_every_screen_and_run_starts_anew(taught: Pupil, screen: str) -> None:
    alternate = taught.register("^HL")
    taught.show(screen)
    taught.run(40, "CS SPACE")
    assert taught.register("^HL") == alternate
    taught.run(ENOUGH_FRAMES)
    assert taught.text()[23].rstrip() == "0 OK, 50:4"
    assert (taught.register("IY"), taught.register("IM"), taught.register("IFF")) == (0x5C3A, 1, 1)
    assert taught.border == 7
    taught.press("r", "ENTER")
    taught.run(ENOUGH_FRAMES)
    assert taught.text()[20].startswith("It has counted")  # RUN keeps what was learned


@pytest.mark.parametrize("frames", [30, 47, 62, 75, 200])
def test_break_stops_the_counting_at_any_time(fresh: Pupil, frames: int) -> None:
    fresh.press("l")
    fresh.run(frames)
    fresh.run(30, "CS SPACE")
    fresh.run(ENOUGH_FRAMES)
    assert fresh.text()[23].rstrip() == "0 OK, 50:4"
    fresh.press("r", "ENTER")
    fresh.run(ENOUGH_FRAMES)
    assert fresh.text()[20].startswith("It has learned nothing so far.")
    assert fresh.show("l")[1].startswith("counting: digit 0")


def test_nothing_is_written_outside_the_memory_map(fresh: Pupil) -> None:
    before = bytes(fresh.memory)
    fresh.restore(counted())
    fresh.run(100)
    fresh.show("r")
    fresh.show("d")
    fresh.draw(DIGITS[7])
    fresh.show("k")
    after = bytes(fresh.memory)
    own = [range(0x4000, 0x5B00), range(0x5E00, 0x5F88), range(0x5F88, 0x6000), range(WEIGHTS_ADDR, 0x10000)]
    own += [
        range(0x5C00, 0x5C08),
        range(23560, 23561),
        range(23611, 23612),
        range(23672, 23675),
    ]  # the ROM's keys, flags, frames
    labels = [("memory", "memory_end"), ("state", "state_end"), ("app_sp", "app_free"), ("bar_line", "draw_bar_end")]
    labels += [
        ("learn_line", "learn_line_end"),
        ("learn_weigh_bias", "learn_rival"),
        ("normalise_end", "normalise_buffers_end"),
    ]
    own += [range(fresh.symbols[first], fresh.symbols[end]) for first, end in labels]
    own += [range(fresh.symbols["learn_weigh_end"], fresh.symbols["learn_weigh_end"] + 1)]
    changed = {addr for addr, (old, new) in enumerate(zip(before, after, strict=True)) if old != new}
    assert not changed.difference(*own)
    assert fresh.tstates > FRAME_TSTATES


def test_docs_tell_where_everything_lies() -> None:
    found = re.findall(r"^\| (0x[0-9A-F]{4}) \|", LEARNING_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    labels = ("learn_counts", "canvas", "app_start", "app_tests", "learn_pictures_end", "learn_log_page", "state")
    wanted = [*(made().symbols[label] for label in labels), WEIGHTS_ADDR]
    assert [int(addr, 16) for addr in found] == wanted, [f"0x{addr:04X}" for addr in wanted]


@pytest.mark.slow
def test_all_passes_keep_both_promises_on_all_test_pictures() -> None:
    proof = prove(made(), data.load("mnist"), PASSES, no_track)
    assert proof.differences == ()
    assert [row.exact_pictures for row in proof.rows] == [PICTURES] * (PASSES + 1)
    assert any(row.seconds <= 10 and row.accuracy_10000 >= 0.91 for row in proof.rows)
    assert proof.rows[-1].seconds <= 300
    assert proof.rows[-1].accuracy_10000 >= 0.94
    lines = LEARNING_PAGE.read_text(encoding="utf-8").splitlines()
    for row in proof.rows:
        line = f"| {row.stage} | {row.seconds:.1f} s | {row.accuracy_10000:.2%} |".replace("%", " %")
        assert row.stage not in SHOWN or line in lines, f"{LEARNING_PAGE}: {line}"


def test_a_proof_notices_a_wrong_weight(fresh: Pupil) -> None:
    fresh.restore(counted())
    fresh.memory[WEIGHTS_ADDR + 777] ^= 1
    assert not same_weights(fresh, count.learn(made().train))


def test_a_proof_notices_a_flipped_bit_of_the_program(fresh: Pupil) -> None:
    fresh.memory[fresh.symbols["learn_raise_slot"] + 4] ^= 2  # add a, 3 instead of add a, 1
    rows = [row for row, _ in learn(fresh, made().train, 1, no_track)]
    assert [row.exact_pictures for row in rows] == [PICTURES, 0]


def test_differences_are_written_and_told(tmp_path: Path) -> None:
    row = StageRow("count", 10, 9, 35_000_000, 10.0, 0.9123)
    tape = replace(made(), tap=tmp_path / "learn.tap")
    tape.tap.write_bytes(b"")
    with pytest.raises(VerifyError, match="learning tape: something"):
        write_evidence(tape, Proof((row,), b"png", ("something",)), {"teach": {"new_digit_mean": 0.8}})
    evidence = json.loads((tmp_path / "evidence.json").read_text())
    assert evidence["count_and_correct"] == [asdict(row)]
    assert evidence["teach"] == {"new_digit_mean": 0.8}
    assert evidence["differences"] == ["something"]
    assert (tmp_path / "screen.png").read_bytes() == b"png"
    assert table(Proof((row,), b"", ())).splitlines()[1].split() == ["count", "9", "of", "10", "35,000,000", "10.00", "91.23%"]
