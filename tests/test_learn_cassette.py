"""What was learned goes to a cassette and comes back: as a file of the ROM's, with a word on whatever goes wrong."""

from __future__ import annotations

import pytest

from tests.learning import ENOUGH_FRAMES, LD_BYTES, SA_BYTES, Cassette, Pupil, after_counting, loaded
from zxml.learn.proof import same_weights

STATE_HEADER = b"\x03lessons   "


@pytest.fixture
def taught() -> Pupil:
    return after_counting()


def save(pupil: Pupil) -> list[tuple[int, bytes]]:
    pupil.show("s")
    pupil.press_to("ENTER", SA_BYTES)
    return [pupil.saved_block(), pupil.saved_block()]


def begin_to_fetch(pupil: Pupil) -> None:
    pupil.show("f")
    pupil.press_to("ENTER", LD_BYTES)


def test_what_was_learned_is_saved_as_a_file_of_code(taught: Pupil) -> None:
    (flag, header), (data_flag, block) = save(taught)
    assert (flag, data_flag) == (0, 255)
    start = taught.symbols["state"]
    lengths = [value.to_bytes(2, "little") for value in (0x10000 - start, start, 0x8000)]
    assert header == STATE_HEADER + b"".join(lengths)
    assert block == bytes(taught.memory[start:])
    taught.run(ENOUGH_FRAMES)
    assert "Saved." in taught.text()[17]
    assert taught.show("r")[3][17:25] == "it reads"


def test_what_was_saved_is_fetched_into_a_machine_that_has_learned_nothing(taught: Pupil) -> None:
    (_, header), (_, block) = save(taught)
    weights = taught.weights()
    _, state = loaded()
    taught.restore(state)
    begin_to_fetch(taught)
    assert "Waiting" in taught.text()[17]
    assert not taught.load_block(255, b"\0" * 100)  # the end of some other file
    assert taught.load_block(0, header)
    assert taught.load_block(255, block)
    taught.run(ENOUGH_FRAMES)
    assert "Fetched" in taught.text()[17]
    assert "It has counted" in taught.text()[20]
    assert same_weights(taught, weights)
    assert taught.show("l")[1].startswith("correcting: pass  1")


def test_another_file_is_named_and_passed_over(taught: Pupil) -> None:
    (_, header), (_, block) = save(taught)
    begin_to_fetch(taught)
    assert taught.load_block(0, b"\x00Manic Mi\x01r" + bytes(6))
    taught.run_to(LD_BYTES)
    assert "Not this one: Manic Mi?r" in taught.text()[21]
    assert taught.load_block(0, header)
    assert taught.load_block(255, block)
    taught.run(ENOUGH_FRAMES)
    assert "Fetched" in taught.text()[17]


def test_a_loading_error_is_told_and_f_tries_again(taught: Pupil) -> None:
    (_, header), (_, block) = save(taught)
    begin_to_fetch(taught)
    assert taught.load_block(0, header)
    assert not taught.load_block(255, block, good=False)
    taught.run(ENOUGH_FRAMES)
    assert "Tape loading error." in taught.text()[17]
    begin_to_fetch(taught)
    assert taught.load_block(0, header)
    assert taught.load_block(255, block)
    taught.run(ENOUGH_FRAMES)
    assert "Fetched" in taught.text()[17]


def test_after_a_loading_error_it_can_learn_anew(taught: Pupil) -> None:
    (_, header), (_, block) = save(taught)
    begin_to_fetch(taught)
    assert taught.load_block(0, header)
    assert not taught.load_block(255, block, good=False)
    taught.run(ENOUGH_FRAMES)
    assert "learned nothing" in taught.show("m")[20]
    assert taught.show("l")[1].startswith("counting")


def test_space_breaks_off_waiting_for_a_tape_and_nothing_is_lost(taught: Pupil) -> None:
    weights = taught.weights()
    begin_to_fetch(taught)
    taught.run(30)
    taught.run(30, "SPACE")
    taught.run(ENOUGH_FRAMES)
    assert "Broken off." in taught.text()[17]
    assert taught.border == 0
    assert same_weights(taught, weights)
    assert "It has counted" in taught.show("m")[20]
    taught.run(40, "CS SPACE")
    taught.run(ENOUGH_FRAMES)
    assert taught.text()[23].rstrip() == "0 OK, 50:4"


def test_space_breaks_off_saving(taught: Pupil) -> None:
    taught.show("s")
    taught.run(4, "ENTER")
    taught.run(300)
    taught.run(200, "SPACE")
    taught.run(ENOUGH_FRAMES)
    assert "Broken off." in taught.text()[17]
    assert "it reads" in taught.show("r")[3]


@pytest.mark.slow
def test_a_real_cassette_brings_back_every_weight(taught: Pupil) -> None:
    weights, recorder = taught.weights(), Cassette(taught)
    taught.show("s")
    taught.run(4, "ENTER")
    with recorder.record():
        taught.run(4600)
    assert "Saved." in taught.text()[17]
    assert recorder.seconds == pytest.approx(80, abs=3)
    _, state = loaded()
    taught.restore(state)
    taught.show("f")
    taught.run(4, "ENTER")
    with recorder.play():
        taught.run(4600)
    assert "Fetched" in taught.text()[17]
    assert same_weights(taught, weights)
