"""The program on the tape: which files of asm/ it is made of, and what is generated for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from zxml.ir import IntegerModel, Looks, PatchConv, PatchSum
from zxml.reference import run
from zxml.z80gen.emit import BANK_LIST
from zxml.z80gen.kernel import Place, Section
from zxml.z80gen.plan import Program
from zxml.z80gen.target import SPECTRUM_48K, Target
from zxml.z80gen.writer import AsmWriter

GALLERY_PICTURES = 12  # the first of the test pictures
CHALLENGE_PICTURES = 8  # hard ones among the next
CHALLENGE_CHOICE = 2000
PICTURE_NBYTES = ((430, 340), (300, 240), (180, 150))  # room for the gallery's and the challenge's; less with large nets
PROGRAM_NBYTES = 3959  # what else lies at the start of the image at most: code, texts, the pictures' true digits
TIMING_NBYTES = 107  # in fast RAM, since it counts T-states
NORMALISE_NBYTES = 807  # there too, since drawings are read while they are drawn
BANKS_NBYTES, BANK_NBYTES = 93, 3  # on machines that have banks: to load them, and more for each
MEMORY_NBYTES = 173  # and one a picture of the gallery

SOURCES = (
    *(f"app/{name}" for name in ("app", "enter", "screens", "leave", "keys", "system", "gallery", "think", "draw", "pen")),
    *(f"app/{name}" for name in ("canvas", "challenge", "info", "screen", "picture", "unpack", "verdict", "bars")),
    *(f"app/{name}" for name in ("numbers", "time", "text")),
    *(f"lib/{name}" for name in ("line_address", "mul_u16_u16", "div_u16_u8")),
    "texts",
    "pictures",
)
UNIT_TSTATES = 23  # one turn of asm/app/timing.asm

BLUE, RED, MAGENTA, GREEN, CYAN, YELLOW, WHITE = range(1, 8)
BRIGHT = 8  # in text; 64 in an attribute
GO, KEY = 16, 128  # codes of asm/app/text.asm
COLUMNS = 32
Pixels = NDArray[np.uint8]
Part = str | int | tuple[int, int]  # characters, & before the name of a key; a colour; a row and column


@dataclass(frozen=True)
class Facts:
    """What is known of a net once it has been verified: its share of right digits, mean T-states, bytes."""

    accuracy: float | None = None
    tstates: float | None = None
    nbytes: int | None = None


def gallery(
    model: IntegerModel,
    pictures: Pixels,
    labels: NDArray[np.uint8],
    facts: Facts | None = None,
    nbytes: tuple[int, int] = PICTURE_NBYTES[0],
    target: Target = SPECTRUM_48K,
) -> Program:
    """Return the program that shows the first of the pictures (n, 28, 28), reads drawings, and challenges with the hardest.

    nbytes: room for the pictures that it shows, and for those that it challenges with; target: the machine that it runs on.
    """
    shown = fit(range(min(GALLERY_PICTURES, len(pictures))), pictures, nbytes[0])
    hard = fit(choose_hard(model, pictures[:CHALLENGE_CHOICE], labels[:CHALLENGE_CHOICE]), pictures, nbytes[1])
    generated = {
        "texts": texts(describe(model), info_lines(describe(model), facts or Facts()), len(hard)) + clock_source(target),
        "pictures": picture_source("gallery", shown, pictures, labels) + picture_source("challenge", hard, pictures, labels),
    }
    sizes = {"timing": TIMING_NBYTES, "normalise": NORMALISE_NBYTES, "memory": MEMORY_NBYTES + len(shown)}
    fast = tuple(Section(f"app/{name}", nbytes, Place.FAST) for name, nbytes in sizes.items())
    if not target.banks:
        return Program(SOURCES, generated, fast, PROGRAM_NBYTES + sum(nbytes))
    room = PROGRAM_NBYTES + sum(nbytes) + BANKS_NBYTES + BANK_NBYTES * len(target.banks)
    return Program((*SOURCES, "app/load_banks", BANK_LIST), generated, fast, room)


def choose_hard(model: IntegerModel, pictures: Pixels, labels: NDArray[np.uint8]) -> list[int]:
    """Return numbers of pictures that the net reads wrong, and as many that it just reads right, where it doubts the most.

    The gallery's come last: a player may have seen them.
    """
    said = run(model, pictures)
    ordered = np.sort(said.scores, axis=1)
    doubt = (ordered[:, -1] - ordered[:, -2]) / np.maximum(1, ordered[:, -1] - ordered[:, 0])
    doubt[:GALLERY_PICTURES] += 1
    order = np.argsort(doubt, kind="stable")
    right = said.digits[order] == labels[order]
    wrong_share = min(CHALLENGE_PICTURES // 2, int((~right).sum()))
    chosen = [*order[~right][:wrong_share], *order[right][: CHALLENGE_PICTURES - wrong_share]]
    return sorted(int(number) for number in chosen)


def describe(model: IntegerModel) -> str:
    """Return the net in at most 32 characters.

    For example "20x20 pixels-60-10", "a cascade of 2 nets", "a net that looks 5 times" or "2 nets that look 3 or 5 times".
    """
    looks = " or ".join(map(str, _looks(model)))
    if looks:
        return f"a net that looks {looks} times" if model.nets == 1 else f"{model.nets} nets that look {looks} times"
    if model.nets > 1:
        return f"a cascade of {model.nets} nets"
    first = model.layers[0]
    assert isinstance(first, PatchSum | PatchConv)
    sizes = [str(row.shape[-1]) for layer, row in zip(model.layers, model.ranges(), strict=True) if hasattr(layer, "bias")]
    return "-".join([f"{first.window.rows}x{first.window.cols} pixels", *sizes])[:COLUMNS]


def _looks(model: IntegerModel) -> list[int]:
    """Return how often its nets look, of those that look again, after each round; none twice."""
    had: dict[str, int] = {}  # by the layer that takes the picture
    found = []
    for layer in model.layers:
        if isinstance(layer, Looks):
            had[layer.again] = had.get(layer.again, 1) + len(layer.shifts)
            found.append(had[layer.again])
    return [*dict.fromkeys(found)]


def pack_runs(picture: Pixels) -> bytes:
    """Return a picture (28, 28) as asm/app/unpack.asm reads it.

    First the number of bytes, then gamma codes of the runs in four blank pixels and rows of 32, each XOR the one above.
    """
    rows = np.pad(picture, ((0, 0), (0, COLUMNS - picture.shape[1])))
    rows[1:] ^= rows[:-1].copy()
    runs = [len(list(run)) for _, run in groupby([0, 0, 0, 0, *rows.ravel().tolist()])]
    bits = "".join(_gamma(run) for run in runs)
    body = bytes(int(bits[start : start + 8].ljust(8, "0"), 2) for start in range(0, len(bits), 8))
    return bytes([len(body)]) + body


def texts(net: str, info: Sequence[str], challenged: int = CHALLENGE_PICTURES) -> str:
    """Return the source of all words on the screens.

    info: lines of at most 32 characters; challenged: how many pictures the challenge has.
    """
    writer = AsmWriter()
    made: dict[str, tuple[Part, ...]] = {
        "challenge": (*SCREEN_TEXTS["challenge"], (19, 10), f" of {challenged}"),
        "info": tuple(_info_parts(info)),
    }
    for label, parts in (SCREEN_TEXTS | made).items():
        words = " ".join(part.replace("&", "").replace("\0", "_") for part in parts if isinstance(part, str)).split()
        writer.label(f"text_{label}", " ".join(words)[:60])
        writer.data(encode(*parts, "\0"))
    writer.label("text_net", net)
    writer.data(encode(net, "\0"))
    return writer.text()


def fit(numbers: Sequence[int], pictures: Pixels, nbytes: int) -> Sequence[int]:
    """Return the first of the numbers, one at least, as many as have their pictures in so many bytes."""
    ends = np.cumsum([len(pack_runs(pictures[number])) for number in numbers])
    return numbers[: max(1, int((ends <= nbytes).sum()))]


def picture_source(name: str, numbers: Sequence[int], pictures: Pixels, labels: NDArray[np.uint8]) -> str:
    """Return the source of pictures and their true digits."""
    writer = AsmWriter()
    writer.equ(f"{name.upper()}_COUNT", len(numbers))
    writer.label(f"{name}_labels", "the true digits")
    writer.data(labels[list(numbers)])
    writer.label(f"{name}_pictures", "28 rows each, packed as unpack.asm says")
    for number in numbers:
        writer.data(pack_runs(pictures[number]), f"test picture {number}")
    return writer.text()


def clock_source(target: Target = SPECTRUM_48K) -> str:
    """Return the source of what a measured time is worth in seconds."""
    writer = AsmWriter()
    writer.equ("UNIT_MS", round(65536 * 10_000 * UNIT_TSTATES / target.clock_hz), "tenths of a millisecond, * 65536")
    writer.equ("LONG_SECONDS", round(65536 * 100 * 256 * UNIT_TSTATES / target.clock_hz), "hundredths of a second, * 65536")
    return writer.text()


def encode(*parts: Part) -> bytes:
    """Return text as asm/app/text.asm prints it."""
    return b"".join(_encode_part(part) for part in parts)


def info_lines(net: str, facts: Facts) -> list[str]:
    """Return what the program tells of itself and its net, as far as it is known."""
    known = [f"{net} units" if net[-1].isdigit() else net]
    if facts.accuracy is not None:
        known.append(f"{100 * facts.accuracy:.2f} % of 10,000 right")
    if facts.tstates is not None:
        known.append(f"{facts.tstates:,.0f} T-states a picture")
    if facts.nbytes is not None:
        known.append(f"{facts.nbytes:,} bytes of code and tables")
    return known


SCREEN_TEXTS: dict[str, tuple[Part, ...]] = {
    "every": (
        *((0, 0), BRIGHT + RED, "z", BRIGHT + YELLOW, "x", BRIGHT + GREEN, "m", BRIGHT + CYAN, "l"),
        *((23, 0), CYAN, "&Gallery   &Draw   &Challenge  &Info"),
    ),
    "gallery": (
        *((0, 9), WHITE, "a Z80 reads handwriting"),
        *((3, 17), "it reads", (19, 3), " of", (19, 9), " right", (21, 0), "time"),
        *((22, 0), CYAN, "&S&P&A&C&E next &Pause &Wrong &1&2&3 speed"),
        *((1, 0), BRIGHT + WHITE),
    ),
    "short": ((21, 11), " ms", (21, 21), "00 T-states"),
    "long": ((21, 11), " s ", (21, 21), " M T-states"),
    "place": ((21, 5), " " * 27, (7, 17), " " * 8, (5, 17)),  # of what is said next, and no more of the picture before
    "challenge_place": ((5, 17),),
    "thinking": (BRIGHT + YELLOW, "thinking"),
    "right": ((5, 17), BRIGHT + GREEN, "   right", (7, 17), "        "),
    "wrong": ((5, 17), BRIGHT + RED, "   wrong", (7, 17), BRIGHT + YELLOW, " it is "),
    "paused": ((20, 1), YELLOW, "paused         "),
    "wrong_only": ((20, 1), BRIGHT + RED, "only wrong ones"),
    "none_wrong": ((20, 1), GREEN, "none wrong yet "),
    "no_message": ((20, 1), "               "),
    "draw": (
        *((0, 5), WHITE, "the Z80 reads what you draw"),
        *((2, 17), WHITE, "it sees"),
        *((21, 0), CYAN, "&Q&A&O&P &S&P&A&C&E or &Joystick"),
        *((22, 0), "&New sheet  &Thickness  &Erase"),
    ),
    "nothing": ((19, 0), WHITE, "nothing yet     "),
    "reads": ((19, 0), BRIGHT + CYAN, "it reads ", "\0", "      "),
    "doubt": ((19, 0), BRIGHT + YELLOW, "not sure: ", "\0", " or "),
    "sticks": (WHITE, "5678+0  ", "\0", "67890   ", "\0", "Kempston"),
    "challenge": ((0, 5), WHITE, "do you read better than it?"),
    "ask": ((22, 0), WHITE, "which digit? press &0 to &9"),
    "says": ((3, 16), WHITE, "you say ", "\0", (5, 16), WHITE, "it says ", "\0", (7, 16), BRIGHT + YELLOW, "it is   "),
    "go_on": ((22, 0), WHITE, "any key: the next one    "),
    "score": (
        *((19, 1), WHITE, "picture ", "\0"),
        *((21, 1), BRIGHT + CYAN, "you ", "\0"),
        *((21, 17), BRIGHT + MAGENTA, "the Z80 "),
    ),
    "you_win": ((22, 0), BRIGHT + GREEN, "you beat the Z80!"),
    "it_wins": ((22, 0), BRIGHT + RED, "the Z80 beats you"),
    "draw_game": ((22, 0), BRIGHT + YELLOW, "you are equals   "),
    "again": (CYAN, "  &C again "),
}


INFO = (
    "A neural network, trained with",
    "OpenCL in the Z80's arithmetic:",
    "bytes, without multiplication.",
)


def _encode_part(part: Part) -> bytes:
    if isinstance(part, int):
        return bytes([part])
    if isinstance(part, tuple):
        row, column = part
        return bytes([GO, 32 * (row % 8) + column, 0x40 + row // 8 * 8])
    shorter = re.sub(" {2,15}", lambda blanks: chr(GO + len(blanks[0])), part)
    return bytes(ord(char) + KEY * (before == "&") for before, char in pairwise(f" {shorter}") if char != "&")


def _info_parts(facts: Sequence[str]) -> Iterator[Part]:
    yield from ((0, 9), WHITE, "a Z80 reads handwriting")
    for row, line in zip(range(4, 10, 2), INFO, strict=True):
        yield from ((row, 0), line)
    yield BRIGHT + CYAN
    for row, line in zip(range(12, 20, 2), facts, strict=False):
        yield from ((row, 0), line)
    yield from ((20, 0), WHITE, "&C&A&P&S &S&H&I&F&T+&S&P&A&C&E ends, &R&U&N plays")


def _gamma(number: int) -> str:
    """Return 0 and a bit for each bit of a number after its first, then 1."""
    return "".join(f"0{bit}" for bit in f"{number:b}"[1:]) + "1"
