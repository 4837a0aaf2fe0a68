"""The tape: a BASIC loader, a loading screen and the machine code, as the bytes of a .tap file."""

from __future__ import annotations

from spectrum_basic.core import make_header, make_program_tap, make_tape_block, parse_string

from zxml.errors import PlanError

SCREEN_ADDR = 0x4000
SCREEN_BYTES = 6912
MEMORY_END_ADDR = 0x10000
NAME_CHARACTERS = 10
LOADER_LINE = 20

CODE_TYPE = 3  # the byte that opens a header
CODE_UNUSED = 0x8000  # a CODE header's second parameter, as the ROM writes it
HEADER_FLAG = 0x00
DATA_FLAG = 0xFF


def tape_bytes(name: str, image: bytes, org: int, start: int, screen: bytes) -> bytes:
    """Return a .tap file that LOAD "" runs: BASIC, a screen, then the image at `org`, called at `start`.

    Raises PlanError for a name that a tape header cannot hold, and for an image, entry or screen that does not fit.
    """
    _check(name, image, org, start, screen)
    basic = bytes(parse_string(loader(org, start)))
    return b"".join(
        (
            make_program_tap(name, basic, LOADER_LINE),
            _code_blocks("screen", screen, SCREEN_ADDR),
            _code_blocks("code", image, org),
        )
    )


def loader(org: int, start: int) -> str:
    """Return the BASIC program: line 10 for RUN after a BREAK, line 20 for the tape, which starts itself.

    23739 holds the low byte of the address that prints on the upper screen; 111 makes it a RET, so that the name of the
    last block does not appear over the picture.
    """
    return f"""\
10 GO TO 40
{LOADER_LINE} BORDER 0: PAPER 0: INK 0: CLEAR {org - 1}
30 LOAD ""SCREEN$: POKE 23739,111: LOAD ""CODE: POKE 23739,244
40 RANDOMIZE USR {start}
50 BORDER 7: PAPER 7: INK 0: CLS
"""


def _code_blocks(name: str, data: bytes, addr: int) -> bytes:
    header = make_header(CODE_TYPE, name, len(data), addr, CODE_UNUSED)
    return bytes(make_tape_block(HEADER_FLAG, header) + make_tape_block(DATA_FLAG, data))


def _check(name: str, image: bytes, org: int, start: int, screen: bytes) -> None:
    if not (name.isascii() and name.isprintable() and 1 <= len(name) <= NAME_CHARACTERS):
        raise PlanError(f"tape name {name!r}: a header holds 1 to {NAME_CHARACTERS} ASCII characters; choose a shorter name")
    end_addr = org + len(image)
    if end_addr > MEMORY_END_ADDR:
        raise PlanError(
            f"tape {name}: {len(image)} bytes at {org} end at {end_addr - 1}, {end_addr - MEMORY_END_ADDR} past 65535; "
            "choose a smaller net or fewer pictures"
        )
    if not org <= start < end_addr:
        raise PlanError(f"tape {name}: entry {start} lies outside the code, {org} to {end_addr - 1}")
    if len(screen) != SCREEN_BYTES:
        raise PlanError(f"tape {name}: a screen has {SCREEN_BYTES} bytes, got {len(screen)}")
