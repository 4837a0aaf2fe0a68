"""The code of front_bits for one window: it makes cells of each two rows, and goes through the places they form.

A cell holds two columns of four rows, the upper row first: `ld a, (cell)` and the four pixels of two new rows shifted into a
leave the four rows that the next row of places sees. Cells lie in a buffer, a byte a cell, so that a row ends in its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

from zxml.ir import Window
from zxml.z80gen.writer import AsmWriter

ROW_NBYTES, CELLS_A_BYTE = 4, 4
BUFFER_NBYTES, END, END_BIT = 32, 16, 4  # where a row ends, and the bit of the address that says so
SHIFT = ("add a, a",) * 3
SAVE, RESTORE = ("exx", "push bc", "push de", "push hl", "exx"), ("exx", "pop hl", "pop de", "pop bc", "exx")
STEP = ("inc h", "inc h")


@dataclass(frozen=True)
class FrontCells:
    """A window as cells, and the code for it.

    name: what its labels begin with; page_label, map_label: the table and the map; groups: bytes of features a place;
    top, start: its first row, and its first byte in a row of the picture; shifted: whether it begins at an odd column, and so
    its bytes are moved by a bit; first: the cell it begins with; nbytes_a_row: bytes of a row that it takes; rows, cols: of
    places.
    """

    name: str
    page_label: str
    map_label: str
    groups: int
    top: int
    start: int
    shifted: bool
    first: int
    nbytes_a_row: int
    rows: int
    cols: int

    @property
    def pairs(self) -> int:
        """The pairs of rows."""
        return self.rows + 1

    @property
    def takes_last_byte(self) -> bool:
        """Whether it takes the last byte of a row, which no pixel is moved into."""
        return self.start + self.nbytes_a_row == ROW_NBYTES

    @property
    def place_tstates(self) -> int:
        """What a place with a pixel takes more than a blank one."""
        return 262 + 101 * self.groups - self._blank_place

    @property
    def byte_tstates(self) -> int:
        """What a byte of each of two rows takes more if they have a pixel."""
        return 159

    @property
    def begin_tstates(self) -> int:
        """What a row of places takes more if its first cell is not blank."""
        return 130

    @property
    def _blank_place(self) -> int:
        return 29 * self.groups + 27

    @property
    def blank_tstates(self) -> int:
        """What a blank picture takes."""
        load = 81 + self.nbytes_a_row * 185
        if self.shifted:
            load += 38 + self.nbytes_a_row * 40 - 54 * self.takes_last_byte
        return 193 + self.pairs * load + self.rows * (183 + self.cols * self._blank_place)

    @property
    def code_nbytes(self) -> int:
        """The bytes of the code."""
        shift = 6 + self.nbytes_a_row * 10 - 10 * self.takes_last_byte if self.shifted else 0
        return 258 + 25 * self.groups + 9 * self.nbytes_a_row + shift

    def text(self) -> str:
        """Return the code."""
        writer = AsmWriter()
        self._write_head(writer)
        self._write_rows(writer)
        self._write_place(writer)
        self._write_blank(writer)
        self._write_load(writer)
        self._write_cells(writer)
        return writer.text()

    def _write_head(self, writer: AsmWriter) -> None:
        writer.comment(f"{self.name} - features of 3 x 3 pixels, pooled by OR of 2 x 2, {self.groups} bytes a place")
        writer.comment("In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel")
        writer.comment(f"Out        {self.map_label}")
        writer.comment("Clobbers   af bc de hl ix")
        writer.comment("T-states   exact in the picture: the Cost of the kernel front_bits")
        writer.comment(f"Bytes      {self.code_nbytes}")
        writer.comment(
            "Needs      front_bits_cells, 32 bytes within a page; front_bits_column_page; the table's pages, from an even one"
        )
        writer.comment("Writes     own code (the operand named source)")
        writer.label(f"{self.name}")
        self._ops(writer, f"ld de, {self.top * ROW_NBYTES + self.start}", "add hl, de", f"ld ({self.name}_source), hl")
        self._ops(writer, *SAVE, f"ld ix, {self.map_label}", f"call {self.name}_load", f"ld a, {self.rows}")
        writer.op(f"jr {self.name}_row")

    def _write_rows(self, writer: AsmWriter) -> None:
        """Write the code around a row of places."""
        name = self.name
        writer.label(f"{name}_row_end")
        self._ops(writer, "pop af", "dec a", f"jp z, {name}_end")
        writer.label(f"{name}_row", "a = rows of places left")
        self._ops(writer, "push af", f"call {name}_load", f"ld hl, front_bits_cells + {END}", "ld (hl), 255")
        self._ops(writer, f"ld hl, front_bits_cells + {END - 1 - self.cols}", "ld c, 0", "exx", "ld c, 0")
        self._ops(
            writer,
            "exx",
            "ld a, (hl)",
            "ld d, front_bits_column_page / 256",
            "ld e, a",
            "or a",
            f"jr z, {name}_scan",
            "push hl",
        )
        for alternate in (False, True):
            self._ops(writer, "ld l, a", "ld h, front_bits_column_page / 256", "ld a, (hl)", *SHIFT, "sla l", "or (hl)")
            self._ops(writer, "ld c, a", *(() if alternate else ("ld a, l", "add a, a")), "exx")
        writer.op("pop hl")
        writer.label(
            f"{name}_scan",
            "hl = cell, e = it, d = page of columns; c and the alternate c = the last columns",
        )
        self._ops(writer, "inc l", "ld a, (hl)", "or e", f"jp z, {name}_blank")

    def _write_place(self, writer: AsmWriter) -> None:
        """Write the code of a place with a pixel."""
        name = self.name
        writer.label(f"{name}_place", "hl = its right cell")
        self._ops(writer, f"bit {END_BIT}, l", f"jr nz, {name}_row_end")
        self._ops(writer, "push hl", "ld l, (hl)", "ld h, d")
        self._patterns(writer)
        self._ops(writer, "ld a, l", "add a, a", "ex de, hl", "exx", "ld l, a", "ld h, front_bits_column_page / 256")
        self._patterns(writer)
        self._ops(writer, "ld h, b", "ld l, a", "exx")
        for group in range(self.groups):
            if group:
                self._ops(writer, *STEP, "inc d", "inc d", "exx", *STEP, "inc b", "inc b")
            self._ops(writer, "ld a, (bc)", "or (hl)", "exx", "or (hl)", "ex de, hl", "or (hl)")
            writer.op(f"ld (ix+{group}), a")
        self._ops(writer, "exx", "pop hl", "ld e, (hl)", *("inc ix",) * self.groups)
        self._ops(writer, "inc l", "ld a, (hl)", "or e", f"jp nz, {name}_place")

    def _patterns(self, writer: AsmWriter) -> None:
        """Write the code that moves on by the two columns of a cell: de and bc = both patterns' places in the table."""
        half = f"{self.page_label} / 512"
        self._ops(writer, "ld a, c", *SHIFT, f"ld d, {half}", "rl d", "or (hl)", "ld e, a")
        self._ops(writer, "sla l", *SHIFT, f"ld b, {half}", "rl b", "or (hl)", "ld c, a")

    def _write_blank(self, writer: AsmWriter) -> None:
        """Write the code of a blank place, and of the end."""
        name = self.name
        writer.label(f"{name}_blank", "e = 0")
        self._ops(writer, *(f"ld (ix+{group}), e" for group in range(self.groups)), *("inc ix",) * self.groups)
        self._ops(writer, "inc l", "ld a, (hl)", "or e", f"jr z, {name}_blank", f"jp {name}_place")
        writer.label(f"{name}_end")
        self._ops(writer, *RESTORE, "ret")

    def _write_load(self, writer: AsmWriter) -> None:
        """Write the code that takes the next two rows into the cells."""
        name = self.name
        writer.label(f"{name}_load")
        self._ops(writer, "push ix", "ld ix, 0")
        writer.equ(f"{name}_source", "$ - 2", "the next two rows")
        writer.op(f"ld hl, front_bits_cells + {END - 1 - self.cols - self.first}")
        if self.shifted:
            self._ops(writer, "ld b, (ix+0)", f"ld c, (ix+{ROW_NBYTES})")
        for byte in range(self.nbytes_a_row):
            self._write_bytes(writer, byte)
            if byte < self.nbytes_a_row - 1:
                writer.op(f"call {name}_cells")
        self._ops(writer, f"ld bc, {2 * ROW_NBYTES}", "add ix, bc", f"ld ({name}_source), ix", "pop ix")

    def _write_bytes(self, writer: AsmWriter, byte: int) -> None:
        """Write the code that takes a byte of each row into d and e; b, c = the bytes before they are moved, if they are."""
        upper, lower = f"(ix+{byte + self.shifted})", f"(ix+{byte + self.shifted + ROW_NBYTES})"
        if not self.shifted:
            self._ops(writer, f"ld d, {upper}", f"ld e, {lower}")
            return
        self._ops(writer, "ld d, b", "ld e, c")
        if self.start + byte + 1 == ROW_NBYTES:
            self._ops(writer, "sla d", "sla e")
            return
        self._ops(writer, f"ld b, {upper}", f"ld c, {lower}")
        self._ops(writer, "ld a, b", "rla", "rl d", "ld a, c", "rla", "rl e")

    def _write_cells(self, writer: AsmWriter) -> None:
        """Write the code that takes a byte of each of two rows into four cells."""
        name = self.name
        writer.label(f"{name}_cells", "hl = first cell, d, e = bytes of the upper and the lower row")
        self._ops(writer, "ld a, d", "or e", f"jr z, {name}_cells_blank")
        for _ in range(CELLS_A_BYTE):
            self._ops(writer, "ld a, (hl)", *("sla d", "rla") * 2, *("sla e", "rla") * 2, "ld (hl), a", "inc l")
        writer.op("ret")
        writer.label(f"{name}_cells_blank")
        for cell in range(CELLS_A_BYTE):
            self._ops(writer, *("xor a",)[:cell], "rld", "inc l")
        writer.op("ret")

    def _ops(self, writer: AsmWriter, *ops: str) -> None:
        for op in ops:
            writer.op(op)


def front_cells(window: Window, groups: int, name: str, page_label: str, map_label: str) -> FrontCells:
    """Return the cells of a window; the rest as in FrontCells."""
    shifted = bool(window.left % 2)
    start, skip = divmod(window.left - shifted, 2 * CELLS_A_BYTE)
    return FrontCells(
        name=name,
        page_label=page_label,
        map_label=map_label,
        groups=groups,
        top=window.top,
        start=start,
        shifted=shifted,
        first=skip // 2,
        nbytes_a_row=-(-(skip + window.cols) // (2 * CELLS_A_BYTE)),
        rows=(window.rows - 2) // 2,
        cols=(window.cols - 2) // 2,
    )
