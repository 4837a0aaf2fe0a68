"""The drawing board in the hands of a person: pen, rubber, joysticks, and what the net reads meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from skoolkit.trace import Tracer

from tests.app_player import BRIGHT, CYAN, RED, SECOND, FakePlayer, lamps


def test_an_empty_canvas_reads_as_nothing_yet(player: FakePlayer) -> None:
    player.enter("d")
    assert player.text()[19].startswith("nothing yet")
    assert not player.attributes()[3:9, 26:32].any()


def test_a_one_drawn_with_keys_is_read(player: FakePlayer) -> None:
    player.draw_one()
    cells = player.canvas()
    assert cells[6:49, 27:30].all()
    assert not cells[:, :27].any()
    assert player.text()[19].startswith("it reads 1")
    assert (player.attributes()[3:9, 26:32] == lamps(1, BRIGHT + CYAN)).all()


def test_two_close_scores_are_told(player: FakePlayer) -> None:
    player.draw_zero()
    assert player.text()[19].startswith("not sure: 0 or 6")
    assert (player.attributes()[3:9, 26:32] == lamps(0, BRIGHT + 6)).all()


def test_the_drawing_is_read_ten_times_a_second(player: FakePlayer, symbols: dict[str, int]) -> None:
    player.enter("d")
    player.go_to((14, 8))
    player.run(10, "p SPACE")
    before = player.byte("draw_turn")
    player.run(SECOND, "p SPACE")
    assert player.byte("draw_turn") - before >= 10


def test_the_pen_moves_a_cell_a_tap_then_steadily_and_diagonally(player: FakePlayer) -> None:
    player.enter("d")
    x, y = player.pen()
    player.run(4, "p")
    player.run(4)
    assert player.pen() == (x + 1, y)
    player.run(21, "p a")
    assert player.pen()[0] - x - 1 == player.pen()[1] - y
    assert 14 <= player.pen()[1] - y <= 18
    assert not player.canvas().any()


def test_the_pen_stays_on_the_canvas(player: FakePlayer) -> None:
    player.enter("d")
    for keys, corner in (("q o", (0, 0)), ("a p", (53, 53))):
        player.run(90, keys)
        assert player.pen() == corner
    player.press("t")
    assert (player.byte("pen_size"), player.pen()) == (4, (52, 52))
    player.press("t")
    assert player.byte("pen_size") == 2
    player.run(20, "a p")
    assert player.pen() == (54, 54)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_stroke_is_as_thick_as_the_pen(player: FakePlayer, size: int) -> None:
    player.enter("d")
    player.press(*["t"] * ((size - 3) % 3))
    player.run(40, "p SPACE")
    assert set(player.canvas().sum(axis=0)) == {0, size}


def test_the_rubber_takes_away_and_a_new_sheet_is_blank(player: FakePlayer) -> None:
    player.draw_zero()
    full = player.canvas().sum()
    player.press("e")
    player.run(2)
    assert player.attributes()[3, 0] == RED
    player.run(60, "p SPACE")
    assert player.attributes()[3, 0] == RED + BRIGHT
    assert 0 < player.canvas().sum() < full - 20
    player.press("n")
    player.run(20)
    assert not player.canvas().any()
    assert player.attributes()[3, 0] == CYAN
    assert player.text()[19].startswith("nothing yet")


def test_the_drawing_is_still_there_after_a_look_elsewhere(player: FakePlayer) -> None:
    player.draw_zero()
    screen = player.png()
    player.enter("i")
    player.enter("d")
    player.run(10)
    assert player.png() == screen


def test_arrow_keys_that_press_caps_shift_draw_with_space_and_do_not_break(player: FakePlayer) -> None:
    player.enter("d")
    x = player.pen()[0]
    player.run(30, "CS 5 SPACE")
    assert player.pen()[0] < x - 5
    assert player.canvas().any()


@pytest.mark.parametrize(("presses", "name", "keys"), [(0, "5678+0", "8675"), (1, "67890", "7896")])
def test_cursor_keys_and_sinclair_joystick(player: FakePlayer, presses: int, name: str, keys: str) -> None:
    player.enter("d")
    player.press(*["j"] * presses)
    assert name in player.text()[21]
    x, y = player.pen()
    places = []
    for key in keys:  # right, down, up, left
        player.press(key)
        places.append(player.pen())
    assert places == [(x + 1, y), (x + 1, y + 1), (x + 1, y), (x, y)]
    assert not player.canvas().any()
    player.press("0")
    assert player.canvas().sum() == 9


class Kempston(Tracer):  # type: ignore[misc]
    """Input with a joystick on port 31, or whatever else the port answers."""

    answer = 0

    def read_port(self, registers: Any, port: int) -> int:
        return self.answer if port & 0xFF == 31 else int(super().read_port(registers, port))


def test_kempston_joystick_once_chosen(player: FakePlayer) -> None:
    stick = Kempston(player._simulator, 0, 0, 0, [0] * 16, 0, False)
    player._tracer = stick
    player._simulator.set_tracer(stick)
    player.enter("d")
    x, y = player.pen()
    stick.answer = 1
    player.run(3)
    assert player.pen() == (x, y)
    player.press("j", "j")
    assert "Kempston" in player.text()[21]
    player.until(lambda: player.pen()[0] > x)
    stick.answer = 0xFF  # nothing is connected
    player.run(5)
    x, y = player.pen()
    player.run(20)
    assert player.pen() == (x, y)
    assert not player.canvas().any()
    stick.answer = 4 + 16
    player.run(20)
    assert player.pen()[1] > y
    assert player.canvas().any()
