"""The program with a net that is quick where it is sure and thinks for seconds where it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.app_player import BRIGHT, ONE, QUESTION_MARK, SECOND, SLOW_SHOWS, WHITE, YELLOW, FakePlayer, lamps
from tests.fake_gallery import build, show, tstates, write_tape
from zxml.emulator import KosarevCpu, SkoolKitCpu, call

LONG = (1, 2, 20, 45)  # in half seconds
ERROR = 0.0004  # at most, of long times
UNSURE = "not sure: 0 or ?"


@pytest.fixture(scope="module")
def slow_symbols(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return build(tmp_path_factory.mktemp("app"), SLOW_SHOWS).symbols


@pytest.fixture(scope="module")
def slow_tap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tape(tmp_path_factory.mktemp("tape"), SLOW_SHOWS)


@pytest.fixture
def slow(slow_tap: Path, slow_symbols: dict[str, int]) -> FakePlayer:
    return FakePlayer(slow_tap, slow_symbols, contention=True)


def wait_answer(player: FakePlayer, row: int = 5) -> None:
    player.until(lambda: "thinking" not in player.text()[row])
    player.run(10)


def draw_doubt(player: FakePlayer) -> None:
    player.until(lambda: player.byte("app_shown") == 1)
    player.draw_zero()


# Time.


@pytest.mark.parametrize("cpu", [SkoolKitCpu, KosarevCpu])
def test_a_classification_may_take_twenty_seconds(tmp_path: Path, cpu: type[SkoolKitCpu | KosarevCpu]) -> None:
    shows = [show(7, turns=100, think=think) for think in LONG]
    program = build(tmp_path, shows)
    processor = cpu(program.org, program.image)
    processor.write(program.symbols["app_screen"], b"G")
    for index, shown in enumerate(shows):
        processor.write(program.symbols["gallery_index"], bytes([index]))
        assert call(processor, program.symbols["classify"], program.symbols["picture"]) == tstates(shown)
        assert processor.a() == 7


@pytest.mark.parametrize("contention", [False, True])
def test_long_times_are_shown_in_seconds_and_millions(tmp_path: Path, contention: bool) -> None:
    shows = [show(7, turns=turns, think=think) for turns, think in zip((100, 2600, 40_000, 65_000), LONG, strict=True)]
    player = FakePlayer(write_tape(tmp_path, shows), build(tmp_path, shows).symbols, contention=contention)
    for number, shown in enumerate(shows, 1):
        while player.byte("app_shown") < number:
            player.run(1)
        player.run(10)
        found = re.fullmatch(r"time +(\d+\.\d\d) s  +(\d+\.\d\d) M T-states", player.text()[21])
        assert found, player.text()[21]
        assert abs(float(found[1]) - tstates(shown) / 3.5e6) <= 0.006 + ERROR * tstates(shown) / 3.5e6
        assert abs(float(found[2]) - tstates(shown) / 1e6) <= 0.008 + ERROR * tstates(shown) / 1e6


def test_short_times_after_long_ones_are_shown_as_ever(slow: FakePlayer) -> None:
    slow.until(lambda: slow.byte("app_shown") == 2)
    slow.run(10)
    found = re.fullmatch(r"time +(\d+\.\d) ms +(\d+),(\d00) T-states", slow.text()[21])
    assert found, slow.text()[21]
    assert abs(float(found[1]) - tstates(ONE) / 3500) <= 0.06
    assert abs(int(found[2] + found[3]) - tstates(ONE)) <= 75


# The gallery and the challenge.


def test_the_gallery_tells_that_the_net_thinks_and_then_its_answer(slow: FakePlayer) -> None:
    slow.until_thinking()
    slow.run(10)
    assert (slow.attributes()[3:9, 26:32] == lamps(QUESTION_MARK, BRIGHT + YELLOW)).all()
    assert set(slow.attributes()[10:20, 17]) == {WHITE}
    assert slow.byte("app_shown") == 0
    assert slow.text()[21].split() == ["time"]
    wait_answer(slow)
    assert slow.text()[5][17:25] == "   right"
    assert slow.byte("app_shown") == 1
    assert slow.byte("app_right") == 1


def test_nothing_of_the_picture_before_is_left_while_the_net_thinks(slow: FakePlayer) -> None:
    slow.until(lambda: slow.byte("app_shown") == 3, frames=600)
    slow.until(lambda: slow.byte("app_shown") == 1, frames=600)  # the first one again
    slow.until(lambda: slow.byte("gallery_index") == 2)
    slow.until_thinking()
    assert (slow.text()[7][17:25].strip(), slow.text()[21].split()) == ("", ["time"])


def test_a_quick_answer_is_read_once_and_never_said_to_be_thought(slow: FakePlayer) -> None:
    slow.until(lambda: slow.byte("app_shown") == 1)
    slow.run(10)
    slow.press("SPACE")
    for _ in range(20):
        assert "thinking" not in slow.text()[5]
        slow.run(1)
    assert slow.byte("app_shown") == 2


@pytest.mark.parametrize(("key", "screen"), [("d", "D"), ("c", "C"), ("i", "I")])
def test_a_key_pressed_while_the_net_thinks_leads_to_its_screen_afterwards(slow: FakePlayer, key: str, screen: str) -> None:
    slow.until_thinking()
    slow.press(key)
    assert slow.byte("app_screen") == ord("G")
    wait_answer(slow)
    assert slow.byte("app_screen") == ord(screen)


@pytest.mark.parametrize("held", [4, 200])
def test_a_key_of_the_gallery_pressed_while_the_net_thinks_is_obeyed_once(slow: FakePlayer, held: int) -> None:
    slow.until_thinking()
    slow.run(held, "p")
    slow.run(150)
    assert slow.byte("gallery_paused") == 1
    assert "paused" in slow.text()[20]


def test_break_held_while_the_net_thinks_gives_the_machine_back(slow: FakePlayer) -> None:
    slow.until_thinking()
    slow.run(100, "CS SPACE")
    slow.run(20)
    assert slow.has_report_ok()


def test_the_challenge_tells_that_the_net_thinks(slow: FakePlayer) -> None:
    slow.run(150)
    slow.enter("c")
    slow.press("5")
    slow.until_thinking()
    slow.press("p")
    wait_answer(slow)
    assert (slow.text()[3][16:25], slow.text()[5][16:25]) == ("you say 5", "it says 0")
    slow.enter("g")
    slow.run(150)
    assert slow.byte("gallery_paused") == 0  # the key was not kept for another screen


# Drawing.


def test_a_drawing_is_read_in_haste_until_the_pen_rests(slow: FakePlayer) -> None:
    draw_doubt(slow)
    assert slow.text()[19].startswith(UNSURE)
    assert (slow.attributes()[3:9, 26:32] == lamps(0, BRIGHT + YELLOW)).all()
    slow.until_thinking(19)
    assert slow.text()[19].startswith("thinking: 0 or ?")
    wait_answer(slow, 19)
    assert slow.text()[19].startswith("not sure: 0 or 6")
    slow.run(3 * SECOND)
    assert slow.text()[19].startswith("not sure: 0 or 6")


def test_the_drawing_is_read_ten_times_a_second_while_it_would_take_long(slow: FakePlayer) -> None:
    slow.until(lambda: slow.byte("app_shown") == 1)
    slow.enter("d")
    slow.go_to((14, 8))
    slow.run(10, "p SPACE")
    before = slow.byte("draw_turn")
    slow.run(SECOND, "p SPACE")
    assert slow.byte("draw_turn") - before >= 10


def test_a_pen_that_moves_is_never_waited_for(slow: FakePlayer) -> None:
    draw_doubt(slow)
    for keys in ("p", "a", "o", "q"):
        slow.run(30, keys)
        assert slow.text()[19].startswith(UNSURE)
    slow.until_thinking(19)


def test_a_key_pressed_while_the_net_thinks_of_a_drawing_is_obeyed(slow: FakePlayer) -> None:
    draw_doubt(slow)
    slow.until_thinking(19)
    slow.press("n")
    wait_answer(slow, 19)
    slow.run(20)
    assert slow.text()[19].startswith("nothing yet")
    assert not slow.canvas().any()


def test_a_player_waits_for_the_net_to_think_of_a_drawing(slow: FakePlayer) -> None:
    slow.until(lambda: slow.byte("app_shown") == 1)
    slow.enter("d")
    slow.draw([[(14, 8), (40, 8), (40, 44), (14, 44), (14, 8)]])
    assert slow.text()[19].startswith("not sure: 0 or 6")
