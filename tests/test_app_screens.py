"""The program as a person meets it: a tape through the ROM, then keys; what is on the screen is what it should be."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.app_player import BRIGHT, CANVAS, CHALLENGE_DIGITS, RED, SECOND, SLOW_SHOWS, WHITE, FakePlayer, lamps
from tests.fake_gallery import PROGRAM_ADDR, build, show, write_tape

GOLDEN = Path(__file__).parent / "screens"


# What leads to each golden screen.


def see_right(player: FakePlayer) -> None:
    player.run(20)


def see_wrong(player: FakePlayer) -> None:
    player.press("p", "SPACE")
    player.run(20)
    player.press("SPACE")
    player.run(20)


def see_empty(player: FakePlayer) -> None:
    player.enter("d")


def see_sure(player: FakePlayer) -> None:
    player.draw_one()


def see_doubt(player: FakePlayer) -> None:
    player.draw_zero()


def see_question(player: FakePlayer) -> None:
    player.enter("c")


def see_answer(player: FakePlayer) -> None:
    player.enter("c")
    player.press(str(CHALLENGE_DIGITS[1]))


def see_verdict(player: FakePlayer) -> None:
    play_round(player, CHALLENGE_DIGITS[1:] + CHALLENGE_DIGITS[:1])


def see_info(player: FakePlayer) -> None:
    player.enter("i")


def play_round(player: FakePlayer, digits: list[int]) -> None:
    player.enter("c")
    for turn, digit in enumerate(digits):
        player.press(str(digit))
        if turn < 7:
            player.press("ENTER")


VIEWS = {
    "gallery_right": see_right,
    "gallery_wrong": see_wrong,
    "draw_empty": see_empty,
    "draw_sure": see_sure,
    "draw_doubt": see_doubt,
    "challenge_question": see_question,
    "challenge_answer": see_answer,
    "challenge_verdict": see_verdict,
    "info": see_info,
}


def see_thinking(player: FakePlayer) -> None:
    player.until_thinking()


def see_seconds(player: FakePlayer) -> None:
    player.until(lambda: player.byte("app_shown") == 1)
    player.run(10)


def see_look(player: FakePlayer) -> None:
    see_seconds(player)
    player.draw_zero()
    player.until_thinking(19)


SLOW_VIEWS = {"gallery_thinking": see_thinking, "gallery_seconds": see_seconds, "draw_thinking": see_look}


def read_png(png: bytes) -> tuple[bytes, bytes, bytes]:
    """Return a PNG's header, palette and lines, whatever its compression."""
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind = png[at + 4 : at + 8]
        chunks[kind] = chunks.get(kind, b"") + png[at + 8 : at + 8 + size]
        at += 12 + size
    return chunks[b"IHDR"], chunks[b"PLTE"], zlib.decompress(chunks[b"IDAT"])


@pytest.mark.parametrize("view", VIEWS)
def test_golden_screens(player: FakePlayer, view: str) -> None:
    VIEWS[view](player)
    compare(player, view)


@pytest.mark.parametrize("view", SLOW_VIEWS)
def test_golden_screens_of_a_net_that_thinks(tmp_path: Path, view: str) -> None:
    player = FakePlayer(write_tape(tmp_path, SLOW_SHOWS), build(tmp_path, SLOW_SHOWS).symbols, contention=True)
    SLOW_VIEWS[view](player)
    compare(player, view)


def compare(player: FakePlayer, view: str) -> None:
    path = GOLDEN / f"{view}.png"
    if os.environ.get("ZXML_WRITE_GOLDEN"):
        path.write_bytes(player.png())
    assert read_png(path.read_bytes()) == read_png(player.png()), "if the change is meant: ZXML_WRITE_GOLDEN=1"


# Ways between the screens, and out.


@pytest.mark.parametrize(
    ("key", "name", "title"), [("d", "Draw", "what you draw"), ("c", "Challenge", "better"), ("i", "Info", "")]
)
def test_every_screen_leads_to_every_other(player: FakePlayer, key: str, name: str, title: str) -> None:
    player.enter(key)
    text = player.text()
    assert title in text[0]
    assert text[23].split() == ["Gallery", "Draw", "Challenge", "Info"]
    column = text[23].index(name)
    assert player.attributes()[23, column : column + len(name)].tolist() == [BRIGHT + WHITE] * len(name)
    for other in "gdci":
        player.enter(other)
        assert chr(player.byte("app_screen")) == other.upper()
        player.enter(key)
        assert chr(player.byte("app_screen")) == key.upper()


@pytest.mark.parametrize("screen", list("gdci"))
@pytest.mark.parametrize("held", ["", "q", "SPACE", "3"])
def test_break_gives_the_machine_back_from_everywhere(player: FakePlayer, screen: str, held: str) -> None:
    alternate = player.register("^HL")
    player.enter(screen)
    player.run(10, held)
    player.run(12, f"CS SPACE {held}")
    assert player.register("^HL") == alternate
    player.run(20)
    assert player.text()[23].rstrip() == "0 OK, 50:4"
    assert (player.register("IY"), player.register("IM"), player.register("IFF")) == (0x5C3A, 1, 1)
    assert player.border == 7


def test_run_starts_anew_with_the_gallery(player: FakePlayer) -> None:
    player.draw_one()
    player.run(12, "CS SPACE")
    player.run(20)
    player.press("r", "ENTER")
    player.run(20)
    assert player.text()[19][1:15] == " 1 of  1 right"
    assert not player.canvas().any()


def test_nothing_is_written_outside_the_memory_map(player: FakePlayer, symbols: dict[str, int]) -> None:
    before = bytes(player.memory)
    see_doubt(player)
    play_round(player, [0] * 8)
    player.enter("i")
    after = bytes(player.memory)
    own: list[Iterable[int]] = [
        range(0x4000, 0x5B00),
        range(CANVAS.start, CANVAS.stop),
        range(0x5FA0, 0x6000),
    ]
    own += [range(0x5C00, 0x5C08), {23560, 23611}, range(23672, 23675)]  # the ROM's keys, flags and frames
    own += [range(symbols["memory"], symbols["app_sp"] + 2), range(symbols["bar_line"], symbols["draw_bar_end"])]
    own += [range(symbols["normalise_end"], symbols["normalise_buffers_end"]), range(symbols["scores"], symbols["scores"] + 20)]
    own += [[symbols["classify_haste"]]]
    own += [range(symbols["timing_digit"], symbols["timing_stack"])]
    changed = {addr for addr, (old, new) in enumerate(zip(before, after, strict=True)) if old != new}
    assert not changed.difference(*own)


# The gallery.


@pytest.mark.parametrize(("key", "low", "high"), [("1", 1, 2), ("2", 5, 7), ("3", 20, 40)])
def test_three_speeds(tmp_path: Path, symbols: dict[str, int], key: str, low: int, high: int) -> None:
    player = FakePlayer(write_tape(tmp_path, [show(1)] * 60), symbols)
    player.run(20)
    player.press(key)
    before = int(player.text()[19][7:9])
    player.run(6 * SECOND)
    assert low <= int(player.text()[19][7:9]) - before <= high


def test_pause_holds_a_picture_and_space_shows_the_next(player: FakePlayer) -> None:
    player.press("p")
    assert "paused" in player.text()[20]
    player.run(4 * SECOND)
    assert player.byte("app_shown") == 1
    player.press("SPACE")
    player.run(10)
    assert player.byte("app_shown") == 2
    player.run(4 * SECOND)
    assert player.byte("app_shown") == 2
    player.press("p")
    player.run(3 * SECOND)
    assert player.byte("app_shown") >= 4


def test_the_wrong_ones_come_back_alone_and_are_not_counted_again(player: FakePlayer) -> None:
    player.press("w")
    assert "none wrong yet" in player.text()[20]
    player.press("3")
    player.until(lambda: player.byte("app_shown") == 6)
    player.press("w")
    seen = set()
    for _ in range(200):
        player.run(1)
        seen.add(player.byte("gallery_index"))
    assert "only wrong ones" in player.text()[20]
    assert seen - {5, 6} == {2, 4}
    assert player.byte("app_shown") in (6, 7)
    player.press("w")
    player.run(20)
    assert player.text()[20].strip() == ""
    assert player.byte("app_shown") > 6 or player.byte("app_shown") < 3


# The challenge.


def test_the_challenge_asks_then_tells_both_answers(player: FakePlayer) -> None:
    player.enter("c")
    assert "picture 1 of 8" in player.text()[19]
    assert not player.attributes()[10:20, 16:].any()  # no score shows yet
    true = CHALLENGE_DIGITS[1]
    player.press("a", str(true))
    text = player.text()
    assert (text[3][16:25], text[5][16:25], text[7][16:25]) == (f"you say {true}", "it says 0", f"it is   {true}")
    assert (text[21][1:6], text[21][17:26]) == ("you 1", "the Z80 0")
    assert (player.attributes()[3:9, 26:32] == lamps(0, BRIGHT + RED)).all()


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        (CHALLENGE_DIGITS[1:] + CHALLENGE_DIGITS[:1], "you beat the Z80!"),
        ([0] * 8, "you are equals"),
        ([8] * 8, "the Z80 beats you"),
    ],
)
def test_the_verdict_after_a_round_and_another_round(player: FakePlayer, digits: list[int], words: str) -> None:
    play_round(player, digits)
    assert words in player.text()[22]
    player.press("5")
    assert words in player.text()[22]
    player.enter("c")
    assert "picture 1 of 8" in player.text()[19]
    assert (player.text()[21][1:6], player.text()[21][17:26]) == ("you 0", "the Z80 0")


def test_the_tape_calls_the_first_byte(symbols: dict[str, int]) -> None:
    assert symbols["app_start"] == PROGRAM_ADDR
