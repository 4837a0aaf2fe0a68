"""The format `codes in batches of N`: a line of look-ups that the codes of a map are compiled into, and pages to look up in.

The line runs once an output. It has a block of slots, `ld l, k / add a, (hl)`, for each page of the output's table, written
from its end downwards, and adds up as many look-ups in 8 bits as a batch has. A page holds the weights of a few rows of places,
or of a part of a row, too, where fewer pages do then; the codes of a place lie as far apart as the page has places, so the
index of a code is its first index plus the number of the place.
"""

from __future__ import annotations

from dataclasses import dataclass

from zxml.ir import Codebook
from zxml.z80gen.kernel import Part, Values

BATCHES = (27, 13, 12, 11, 10, 9, 6, 4, 2, 1)  # look-ups added up in 8 bits before the sum is taken into 16
PAGE, SLOT_NBYTES, ADD_NBYTES, TAIL_NBYTES = 256, 3, 5, 11  # tail: a jump, or the end of an output
BLOCKS_NBYTES = (128, 256)  # a block lies within a page
JUMP_NBYTES = 8  # from the operand of the jump into a block to the block
BIAS_NBYTES = 2


@dataclass(frozen=True)
class CodeLine:
    """The line of a map of rows x cols places with codes from 0 to `codes`.

    slots: the most slots of a block, which are the places of a page; block_nbytes: the bytes of a block.
    """

    rows: int
    cols: int
    codes: int
    slots: int
    batch: int
    block_nbytes: int

    @property
    def places(self) -> int:
        """The places of the map."""
        return self.rows * self.cols

    @property
    def pages(self) -> int:
        """The pages of an output, each with a block of the line."""
        return len(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """The places of each page."""
        return [min(self.slots, self.places - start) for start in range(0, self.places, self.slots)]

    @property
    def nbytes(self) -> int:
        """The bytes of the line: a block for each page."""
        return self.block_nbytes * self.pages

    @property
    def bias(self) -> int:
        """Where the bias lies in an output's first page, two bytes; the second may be at the page's start."""
        return self.first(self.codes) + self.slots

    def first(self, code: int) -> int:
        """Return the first index of a code, from 1 on; the number of the place is to be added."""
        return 1 + (code - 1) * self.slots

    def page(self, place: int) -> int:
        """Return the page of a place, from 0 on."""
        return place // self.slots

    def index(self, place: int, code: int) -> int:
        """Return where the look-up of a code at a place lies in its page."""
        return (self.first(code) + place) % PAGE


def code_line(batch: int, codebook: Codebook, shape: tuple[int, ...]) -> CodeLine | None:
    """Return the line of a map of shape (rows, cols, 1) or (rows, cols, 8), or None if there are too many codes for it."""
    rows, cols = shape[:2]
    codes = max(1, int(codebook.code.max()))
    most = min(rows * cols, (PAGE - BIAS_NBYTES) // codes, max(slots_a_block(batch, nbytes) for nbytes in BLOCKS_NBYTES))
    if most < cols:
        return None
    pages, pages_of_rows = -(-rows * cols // most), -(-rows // (most // cols))
    slots = cols * -(-rows // pages) if pages == pages_of_rows else -(-rows * cols // pages)
    block_nbytes = next(nbytes for nbytes in BLOCKS_NBYTES if slots <= slots_a_block(batch, nbytes))
    return CodeLine(rows, cols, codes, slots, min(batch, slots), block_nbytes)


def slots_a_block(batch: int, nbytes: int) -> int:
    """Return how many slots fit into a block, with an accumulation at its end and before each full batch."""
    room = nbytes - TAIL_NBYTES
    return max(slots for slots in range(room) if SLOT_NBYTES * slots + ADD_NBYTES * (slots // batch + 1) <= room)


def line_of(batch: int, part: Part, codebook: Codebook) -> CodeLine:
    """Return the line of a part that fits."""
    line = code_line(batch, codebook, part.shape)
    assert line is not None
    return line


def operands(line: CodeLine) -> list[int]:
    """Return where in a block the operands of its slots lie, the one that is written first first."""
    last = line.block_nbytes - TAIL_NBYTES - ADD_NBYTES - 2
    return [last - SLOT_NBYTES * slot - ADD_NBYTES * (slot // line.batch) for slot in range(line.slots + 1)]


def counts(line: CodeLine, codes: Values) -> list[Values]:
    """Return how many codes each block has, (n,) each, of codes (n, rows, cols, 1)."""
    some = codes.reshape(len(codes), -1) > 0
    return [some[:, start : start + line.slots].sum(axis=1) for start in range(0, line.places, line.slots)]
