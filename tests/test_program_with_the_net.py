"""The tape of the shipped net, in the hands of a person: what is shown is what the reference computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from zxml import ir
from zxml.cassette import FORMATS, Cassette, export_as, record
from zxml.data import Dataset, load
from zxml.files import product_folder
from zxml.film import film_png
from zxml.normalise import normalise
from zxml.player import DIGITS, Player, Strokes, tour
from zxml.reference import run
from zxml.z80gen.program import GALLERY_PICTURES

pytestmark = pytest.mark.slow
LARGE: dict[int, Strokes] = {  # as large as the canvas
    0: [[(28, 4), (44, 10), (50, 28), (44, 46), (28, 52), (12, 46), (6, 28), (12, 10), (28, 4)]],
    5: [[(46, 4), (10, 4), (10, 24), (38, 24), (46, 32), (46, 44), (36, 52), (8, 52)]],
    6: [[(40, 4), (16, 16), (8, 34), (14, 48), (30, 52), (44, 44), (44, 34), (30, 28), (12, 34)]],
    8: [[(28, 4), (42, 10), (42, 20), (14, 34), (14, 46), (28, 52), (42, 46), (42, 34), (14, 20), (14, 10), (28, 4)]],
    9: [[(44, 16), (32, 4), (16, 6), (12, 18), (20, 28), (40, 24), (44, 8), (42, 52)]],
}
FILM = Path(__file__).parent.parent / "docs" / "film.png"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load("mnist")


@pytest.fixture(scope="module")
def cassette(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Cassette:
    return record(ir.load(product_folder("models") / "mnist.npz"), dataset, tmp_path_factory.mktemp("mnist"))


@pytest.fixture(scope="module")
def cascade(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Cassette:
    return record(ir.load(product_folder("models") / "frame.npz"), dataset, tmp_path_factory.mktemp("frame"))


@pytest.fixture(params=["cassette", "cascade"])
def either(request: pytest.FixtureRequest) -> Cassette:
    chosen: Cassette = request.getfixturevalue(request.param)
    return chosen


@pytest.mark.parametrize("digit", DIGITS)
def test_a_drawn_digit_is_read_as_the_reference_reads_it(either: Cassette, digit: int) -> None:
    symbols = either.assembly.symbols
    player = Player(either.tap, symbols, contention=True)
    player.run(20)
    player.enter("d")
    player.draw(DIGITS[digit])
    said = run(either.model, normalise(player.canvas())[None])
    assert [player.word(symbols["scores"] + 2 * i) for i in range(10)] == said.scores[0].tolist()
    assert said.digits[0] == digit
    assert player.text()[19].startswith(f"it reads {digit}")


@pytest.mark.parametrize("contention", [False, True])
def test_the_gallery_reads_and_times_as_planned(either: Cassette, dataset: Dataset, contention: bool) -> None:
    player = Player(either.tap, either.assembly.symbols, contention=contention)
    pictures, labels = dataset.test_images[:GALLERY_PICTURES], dataset.test_labels[:GALLERY_PICTURES]
    right = run(either.model, pictures).digits == labels
    for shown, tstates in enumerate(either.plan.tstates(pictures), 1):
        while player.byte("app_shown") < shown:
            player.run(1)
        player.run(10)
        assert player.byte("app_right") == right[:shown].sum()
        line = player.text()[21]
        slower = 1.02 if contention else 1.0  # tables that lie in contended memory
        assert tstates - 75 <= int(line[15:23].replace(",", "")) <= slower * tstates + 75


class Counting(Player):
    """A person who counts the readings while the pen is down."""

    frames = readings = 0

    def run(self, frames: int, keys: str = "") -> None:
        before = self.byte("draw_turn")
        super().run(frames, keys)
        if "SPACE" in keys:
            self.frames += frames
            self.readings += (self.byte("draw_turn") - before) % 256


@pytest.mark.parametrize("thicker", [0, 1])
@pytest.mark.parametrize("digit", [*DIGITS, *LARGE])
def test_a_digit_is_read_ten_times_a_second_while_it_is_drawn(cassette: Cassette, digit: int, thicker: int) -> None:
    player = Counting(cassette.tap, cassette.assembly.symbols, contention=True)
    player.run(20)
    player.enter("d")
    for _ in range(thicker):
        player.press("t")
    player.draw({**DIGITS, **LARGE}[digit])
    assert 50 * player.readings >= 10 * player.frames


def test_a_canvas_full_of_scribble_is_read_six_times_a_second(cassette: Cassette) -> None:
    player = Player(cassette.tap, cassette.assembly.symbols, contention=True)
    player.run(20)
    player.enter("d")
    player.draw([[(x, 4), (x, 50)] for x in range(4, 52, 6)])
    player.draw([[(4, 4), *((x, y) for y in range(4, 52, 8) for x in ((50, 4) if y % 16 == 4 else (4, 50)))]])
    player.go_to((27, 8))
    before = player.byte("draw_turn")
    player.run(50, "a SPACE")
    assert player.byte("draw_turn") - before >= 6


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_is_the_same_twice(cassette: Cassette, form: str) -> None:
    first = export_as(cassette, form).read_bytes()
    assert export_as(cassette, form).read_bytes() == first
    assert len(first) > 30_000


def test_the_film_in_the_readme_is_what_the_program_shows(cassette: Cassette) -> None:
    memories = tour(Player(cassette.tap, cassette.assembly.symbols))
    assert len({memory[0x4000:0x5B00] for memory in memories}) > 10
    assert film_png(memories) == FILM.read_bytes(), "make it anew: python -m zxml film mnist, and copy it to docs/"
