"""The tape: a BASIC loader, a loading screen and the machine code, as the bytes of a .tap file.

What lies in banks of paged memory follows in a block each, without headers; asm/app/load_banks.asm loads them.
"""

from __future__ import annotations

from collections.abc import Mapping

from spectrum_basic.core import make_header, make_program_tap, make_tape_block, parse_string

from zxml.errors import PlanError
from zxml.z80gen.target import BANK_ADDR

SCREEN_ADDR = 0x4000
SCREEN_BYTES = 6912
MEMORY_END_ADDR = 0x10000
NAME_CHARACTERS = 10
LOADER_LINE = 20

NO_BANKS = "This needs 128 BASIC or USR 0"

CODE_TYPE = 3  # the byte that opens a header
CODE_UNUSED = 0x8000  # a CODE header's second parameter, as the ROM writes it
HEADER_FLAG = 0x00
DATA_FLAG = 0xFF


def tape_bytes(
    name: str,
    image: bytes,
    org: int,
    start: int,
    screen: bytes,
    banks: Mapping[int, bytes] | None = None,
    symbols: Mapping[str, int] | None = None,
) -> bytes:
    """Return a .tap file that LOAD "" runs: BASIC, a screen, then the image at `org`, called at `start`.

    banks: what lies in banks of paged memory, in the order in which asm/app/load_banks.asm loads it; symbols: of the image.
    Raises PlanError for a name that a tape header cannot hold, and for an image, entry or screen that does not fit.
    """
    _check(name, image, org, start, screen, BANK_ADDR if banks else MEMORY_END_ADDR)
    loading = (symbols["load_banks"], symbols["banks_missing"]) if banks and symbols else None
    basic = bytes(parse_string(loader(org, start, loading)))
    return b"".join(
        (
            make_program_tap(name, basic, LOADER_LINE),
            _code_blocks("screen", screen, SCREEN_ADDR),
            _code_blocks("code", image, org),
            *(bytes(make_tape_block(DATA_FLAG, bank)) for bank in (banks or {}).values()),
        )
    )


def loader(org: int, start: int, banks: tuple[int, int] | None = None) -> str:
    """Return the BASIC program: line 10 for RUN after a BREAK, line 20 for the tape, which starts itself.

    banks: the routine that loads the banks, and the byte that is 1 if there are none. 23739 holds the low byte of the address
    that prints on the upper screen; 111 makes it a RET, so that the name of the last block does not appear over the picture.
    The program's drawing lies not far above this (asm/app/canvas.asm).
    """
    load = f"35 IF NOT USR {banks[0]} THEN GO TO 50\n" if banks else ""
    tell = f'60 IF PEEK {banks[1]} THEN PRINT "{NO_BANKS}"\n' if banks else ""
    return f"""\
10 GO TO 40
{LOADER_LINE} BORDER 0: PAPER 0: INK 0: CLEAR {org - 1}
30 LOAD ""SCREEN$: POKE 23739,111: LOAD ""CODE: POKE 23739,244
{load}40 RANDOMIZE USR {start}
50 BORDER 7: PAPER 7: INK 0: CLS
{tell}"""


def _code_blocks(name: str, data: bytes, addr: int) -> bytes:
    header = make_header(CODE_TYPE, name, len(data), addr, CODE_UNUSED)
    return bytes(make_tape_block(HEADER_FLAG, header) + make_tape_block(DATA_FLAG, data))


def _check(name: str, image: bytes, org: int, start: int, screen: bytes, memory_end_addr: int) -> None:
    if not (name.isascii() and name.isprintable() and 1 <= len(name) <= NAME_CHARACTERS):
        raise PlanError(f"tape name {name!r}: a header holds 1 to {NAME_CHARACTERS} ASCII characters; choose a shorter name")
    end_addr = org + len(image)
    if end_addr > memory_end_addr:
        raise PlanError(
            f"tape {name}: {len(image)} bytes at {org} end at {end_addr - 1}, "
            f"{end_addr - memory_end_addr} past {memory_end_addr - 1}; choose a smaller net or fewer pictures"
        )
    if not org <= start < end_addr:
        raise PlanError(f"tape {name}: entry {start} lies outside the code, {org} to {end_addr - 1}")
    if len(screen) != SCREEN_BYTES:
        raise PlanError(f"tape {name}: a screen has {SCREEN_BYTES} bytes, got {len(screen)}")
