"""The words on the screens of the tape that learns."""

from __future__ import annotations

from zxml.z80gen.program import BRIGHT, CYAN, GREEN, MAGENTA, RED, SCREEN_TEXTS, WHITE, YELLOW, Part, encode
from zxml.z80gen.writer import AsmWriter

Texts = dict[str, tuple[Part, ...]]
SHARED = ("right", "wrong", "nothing", "reads", "doubt", "sticks")


def words(pictures: int, passes: int, tests: int) -> str:
    """Return the source of all words on the screens."""
    out = AsmWriter()
    shared: Texts = {name: SCREEN_TEXTS[name] for name in SHARED}
    for name, parts in (shared | TEXTS | counted(pictures, passes, tests)).items():
        shown = " ".join(part.replace("&", "").replace("\0", "_") for part in parts if isinstance(part, str)).split()
        out.label(f"text_{name}", " ".join(shown)[:60])
        out.data(encode(*parts, "\0"))
    return out.text()


def counted(pictures: int, passes: int, tests: int) -> Texts:
    """Return the words that tell how many pictures or passes there are."""
    return {
        "menu": (
            *((2, 0), BRIGHT + WHITE, "A Z80 that learns to read digits"),
            *((3, 0), WHITE, f"from {pictures:,} handwritten ones,"),
            *((4, 0), "without a single multiplication."),
            *((7, 2), CYAN, "&L  learn, before your eyes"),
            *((9, 2), f"&R  read {tests} it has never seen"),
            *((11, 2), "&D  draw a digit yourself"),
            *((13, 2), "&K  teach it what you drew"),
            *((15, 2), "&S  save what it has learned"),
            *((17, 2), "&F  fetch that back from tape"),
            *((22, 0), WHITE, "&C&A&P&S &S&H&I&F&T+&S&P&A&C&E ends, &R&U&N plays"),
        ),
        "board": (
            *((0, 9), WHITE, "a Z80 learns to read"),
            *((3, 0), CYAN, "pictures", (3, 16), f"of {pictures:,}"),
            *((4, 0), CYAN, "read right"),
            *((5, 0), CYAN, "last pass        %"),
            *((6, 0), CYAN, "time             s"),
            *((22, 0), CYAN, "&N from nothing  BREAK ends"),
        ),
        "pass": ((1, 0), BRIGHT + MAGENTA, f"correcting: pass    of {passes}"),
        "over": (
            (1, 0),
            BRIGHT + GREEN,
            f"learned in {passes} passes      ",
            (22, 0),
            CYAN,
            "&R read  &D draw  &N from nothing ",
            BRIGHT + WHITE,
        ),
    }


TEXTS: Texts = {
    "every": (
        *((0, 0), BRIGHT + RED, "z", BRIGHT + YELLOW, "x", BRIGHT + GREEN, "m", BRIGHT + CYAN, "l"),
        *((23, 0), CYAN, "&Menu &Learn &Read &Draw &Save &Fetch"),
    ),
    "counting": ((1, 0), BRIGHT + CYAN, "counting: digit "),
    "name": ((4, 21), WHITE, "a ", BRIGHT + YELLOW),
    "counts": ((16, 0), WHITE, "its memory: what it has counted"),
    "curve": (
        *((8, 0), BRIGHT + WHITE, "%", (10, 0), "95", (15, 0), "85"),
        *((16, 0), WHITE, "read right, of every 100       ", BRIGHT + WHITE),
    ),
    "learned_nothing": (YELLOW, "It has learned nothing so far."),
    "learned_counts": (BRIGHT + GREEN, "It has counted; no passes yet."),
    "learned": (BRIGHT + GREEN, "It has learned, in ", "\0", " passes."),
    "learn_first": ((6, 1), BRIGHT + YELLOW, "It has learned nothing so far:", (18, 1), "&L lets it learn, &F fetches."),
    "read": (
        *((0, 9), WHITE, "pictures it never saw"),
        *((3, 17), WHITE, "it reads", (19, 3), " of", (19, 9), " right"),
        *((22, 0), CYAN, "&S&P&A&C&E next, held: fast"),
    ),
    "draw": (
        *((0, 5), WHITE, "the Z80 reads what you draw"),
        *((2, 17), WHITE, "it sees"),
        *((21, 0), CYAN, "&Q&A&O&P &S&P&A&C&E or &Joystick"),
        *((22, 0), "&New &Thickness &Erase  &K teach"),
    ),
    "draw_first": ((11, 1), BRIGHT + YELLOW, "Draw something first:", (13, 1), "&D shows the board."),
    "teach": (
        *((0, 7), WHITE, "teach it what you drew"),
        *((3, 17), "it reads", (5, 17), CYAN, "&0 to &9"),
        *((6, 17), "tells it", (7, 17), "better"),
        *((21, 0), "&W forgets a digit: teach it anew"),
        *((22, 0), "&G goes over all digits once more"),
    ),
    "wipe": ((22, 0), BRIGHT + YELLOW, "forget which? &0 to &9, or &W: all "),
    "go_over": ((22, 0), BRIGHT + YELLOW, "it goes over all of them again  "),
    "save": ((1, 0), BRIGHT + WHITE, "Save what it has learned"),
    "save_how": (
        *((3, 0), WHITE, "Put a cassette in, press &R&E&C and"),
        *((4, 0), "&P&L&A&Y on the recorder, and &E&N&T&E&R"),
        *((7, 0), MAGENTA, "its memory: some of the weights"),
    ),
    "saving": ((17, 0), BRIGHT + CYAN, "Saving, for about 80 seconds...", (19, 0), CYAN, "&S&P&A&C&E breaks off."),
    "saved": ((17, 0), BRIGHT + GREEN, "Saved. Stop the recorder.      ", (19, 0), GREEN, "&F loads it back.  "),
    "fetch": (
        *((1, 0), BRIGHT + WHITE, "Fetch what it has learned"),
        *((3, 0), WHITE, "Press &E&N&T&E&R, then play the tape"),
        *((4, 0), "that you saved."),
        *((7, 0), MAGENTA, "its memory: some of the weights"),
    ),
    "fetching": ((17, 0), BRIGHT + CYAN, "Waiting for the tape...", (19, 0), CYAN, "&S&P&A&C&E breaks off."),
    "loading": ((17, 0), BRIGHT + CYAN, "Found it. Loading...    "),
    "other": ((21, 0), YELLOW, "Not this one: "),
    "fetched": ((17, 0), BRIGHT + GREEN, "Fetched, every weight.  ", (19, 0), GREEN, "Try &R or &D.         "),
    "error": (
        *((17, 0), BRIGHT + RED, "Tape loading error.    ", (19, 0), RED, "What it had learned is gone:"),
        *((20, 0), "&F tries again, &L learns anew."),
    ),
    "broken": ((17, 0), BRIGHT + YELLOW, "Broken off.                    ", (19, 0), YELLOW, "&S and &F try again.   "),
}
