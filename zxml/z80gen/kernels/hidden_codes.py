"""hidden_codes: a layer of weights for each code at each place, and its activations; half a byte or a byte a weight.

The codes that front_codes compiled into its line are copied into a line of this kernel's own, which runs once a unit or, where
two weights of 4 bits share a byte, once a pair of units (asm/kernel/hidden_codes.asm); an operand picks the same place in a
page of both. Sums are modulo 256. Limits: 127 units; packed weights in [-8, 7], others in [-128, 127].
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zxml.ir import Codebook, CodeSum, Requant
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call, table
from zxml.z80gen.kernels.active_units import LEVEL_PAGE_NBYTES, full_sum, level_offset, read_levels, reject_levels, write_active
from zxml.z80gen.kernels.code_line import PAGE, CodeLine, code_line, counts, line_of, operands
from zxml.z80gen.kernels.code_sum import bare_section
from zxml.z80gen.kernels.dense_sum import FIRST_INDEX, count_slots, held_levels, slots_a_unit
from zxml.z80gen.kernels.weight_line import WeightLine, nibble_section, split_pairs
from zxml.z80gen.writer import AsmWriter

MOST_UNITS, MOST_TABLE_PAGES = 127, 24
CODE_NBYTES, PACKED_CODE_NBYTES = 57, 90  # hidden_codes without what is generated and what two slots a unit need more
FULL_NBYTES = 22
COPY_NBYTES, START_COPY_NBYTES, JUMP_NBYTES = 6, 25, 3
RUN_NBYTES = 10
FIRST_LEVEL_INDEX = FIRST_INDEX - 2  # the level page is asked with the number of the next unit
FORMS = {"hidden_codes": WeightLine(True), "hidden_codes_bytes": WeightLine(False)}


def _parts(part: Part) -> tuple[CodeSum, Requant]:
    sums, levels = part.layers
    assert isinstance(sums, CodeSum)
    assert isinstance(levels, Requant)
    return sums, levels


def _units(part: Part) -> int:
    return len(_parts(part)[0].bias)


def _line(codes: int, part: Part) -> CodeLine:
    assert isinstance(part.before, Codebook)
    return line_of(codes, part, part.before)


def _fits(form: WeightLine, codes: int, part: Part) -> str | None:
    layer, requant = _parts(part)
    line = code_line(codes, part.before, part.shape) if isinstance(part.before, Codebook) and len(part.shape) == 3 else None
    if line is None:
        return "takes the codes of a codebook, few enough for a page to hold a row of places"
    if layer.sum_bits != 8:
        return f"sums are 8 bits wide, not {layer.sum_bits}"
    if layer.table[:, 0].any():
        return "weights are 0 for code 0"
    if _units(part) > MOST_UNITS:
        return f"at most {MOST_UNITS} units, not {_units(part)}"
    return form.reject(layer.table.astype(np.int64)) or reject_levels(requant, _units(part))


def _full_sum(part: Part) -> int:
    return full_sum(_parts(part)[1], _units(part))


def _tables(form: WeightLine, codes: int, part: Part) -> list[range]:
    """Return the lines whose pages lie in each table."""
    lines, pages = form.lines(_units(part)), _line(codes, part).pages
    tables = -(-lines // max(1, MOST_TABLE_PAGES // pages))
    each = -(-lines // tables)
    return [range(start, min(lines, start + each)) for start in range(0, lines, each)]


def _cost(form: WeightLine, codes: int, batch: int, part: Part) -> Cost:
    units, line = _units(part), _line(codes, part)
    runs, two = form.lines(units), bool(_full_sum(part))
    terms = (
        Term("code", 26 + (18 if form.packed else 14) * runs, line.places),
        Term("batch of codes", 12, sum(size // line.batch for size in line.sizes)),
        Term("batch run", 59 * runs if form.packed else 0, sum(-(-size // form.batch) for size in line.sizes)),
        Term("active unit", 79 if two else 60, units),
        Term("unit of two slots", 55, units if two else 0),
        Term("full batch", 24, units * slots_a_unit(units, _parts(part)[1].levels) // batch),
    )
    nbytes = sum(section.nbytes for section in _sections(form, codes, part)[1:])
    each = 120 + 32 * line.pages if form.packed else 55 + 14 * line.pages
    return Cost(nbytes, 170 + 129 * line.pages + 53 * len(_tables(form, codes, part)) + each * runs, terms)


def _count(form: WeightLine, codes: int, batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    line = _line(codes, part)
    blocks = np.stack(counts(line, inputs))  # (blocks, n)
    active, slots = (outputs[-1] > 0).sum(axis=1), count_slots(outputs[-1], _parts(part)[1].levels)
    return {
        "code": blocks.sum(axis=0),
        "batch of codes": (blocks // line.batch).sum(axis=0),
        "batch run": -(-blocks // form.batch).sum(axis=0),
        "active unit": active,
        "unit of two slots": slots - active,
        "full batch": slots // batch,
    }


def _constants(form: WeightLine, part: Part) -> dict[str, int]:
    return {"HIDDEN_PACKED": int(form.packed)}


def _active(name: str, end: str, part: Part) -> str:
    """Return the code of an active unit."""
    units, full = _units(part), _full_sum(part)
    highest = level_offset(held_levels(units, _parts(part)[1].levels), units)
    writer = AsmWriter()
    write_active(writer, name, end, full, (FIRST_LEVEL_INDEX + highest) % PAGE)
    return writer.text()


def _copy(form: WeightLine, line: CodeLine) -> str:
    """Return the code that copies the operands of each block, and sets where the line's block is entered.

    The copies are twice as long as the block that they are of, so that where its last code starts tells where they do.
    """
    writer = AsmWriter()
    starts = _starts(line)
    for page, size in enumerate(line.sizes):
        writer.label(f"hidden_copy_{page}", "the jump into the block, and into the copies of its codes")
        base = line.block_nbytes * (page + 1) % PAGE  # where the block lies in its page
        for op in (
            f"ld   a, (code_sum_entry + {line.block_nbytes * page})",
            "ld   l, a",
            "ld   h, 0",
            "ld   d, h",
            "ld   e, l",
        ):
            writer.op(op)
        writer.op(f"ld   bc, hidden_start_{page} - {base + starts[size]}")
        for op in ("add  hl, bc", "ld   c, (hl)", "inc  hl", "ld   b, (hl)", f"ld   (hidden_entry_{page}), bc"):
            writer.op(op)
        writer.op(f"ld   hl, hidden_copied_{page} - {2 * (base + starts[0])}")
        for op in ("add  hl, de", "add  hl, de", "jp   (hl)"):
            writer.op(op)
        for slot in range(size - 1, -1, -1):
            if (slot + 1) % line.batch == 0:
                writer.op("jr   $ + 10")
                writer.op("defs 8")
            writer.op(f"ld   a, (code_sum_line + {line.block_nbytes * page + operands(line)[slot]})")
            writer.op(f"ld   (hidden_line_{page} - {form.start(slot) - 1}), a")
        writer.label(f"hidden_copied_{page}")
    return writer.text()


def _copy_nbytes(line: CodeLine) -> int:
    return sum(START_COPY_NBYTES + COPY_NBYTES * size + 10 * (size // line.batch) for size in line.sizes)


def _starts(line: CodeLine) -> list[int]:
    """Return where a block is entered that has each number of codes."""
    return [operand + 2 for operand in operands(line)]


def _start(form: WeightLine, line: CodeLine) -> str:
    writer = AsmWriter()
    starts = _starts(line)
    for page, size in enumerate(line.sizes):
        writer.label(f"hidden_start_{page}", "where the line starts, by where the block that was copied starts")
        for number in range(size, -1, -1):
            writer.op(f"defw hidden_line_{page} - {form.start(number - 1) if number else 0}")
            if number:
                writer.op(f"defs {starts[number - 1] - starts[number] - 2}")
    return writer.text()


def _start_nbytes(line: CodeLine) -> int:
    starts = _starts(line)
    return sum(starts[0] - starts[size] + 2 for size in line.sizes)


def _run(form: WeightLine, line: CodeLine) -> str:
    """Return the line, a block for each page of codes."""
    writer = AsmWriter()
    ops = ("inc  e", "ld   h, e", "ld   bc, 0", "ld   d, b") if form.packed else ("inc  h",)
    for page, size in enumerate(line.sizes):
        for op in (*ops, "jp   0"):
            writer.op(op)
        writer.equ(f"hidden_entry_{page}", "$ - 2")
        for _ in range(-(-size // form.batch)):
            form.write_batch(writer)
        writer.label(f"hidden_line_{page}")
    return writer.text()


def _run_nbytes(form: WeightLine, line: CodeLine) -> int:
    block = 6 + JUMP_NBYTES if form.packed else 1 + JUMP_NBYTES
    return sum(block + form.batch_nbytes * -(-size // form.batch) for size in line.sizes)


def _runs(form: WeightLine, codes: int, part: Part) -> str:
    """Return the code that runs the line on each table."""
    writer = AsmWriter()
    for number, lines in enumerate(_tables(form, codes, part)):
        before = f"{_table(number)} / {PAGE} - 1"
        for op in ("exx", f"ld   {'e' if form.packed else 'h'}, {before}", "exx"):
            writer.op(op)
        writer.op(f"ld   ixh, {len(lines)}")
        writer.op("call hidden_unit")
    return writer.text()


def _table(number: int) -> str:
    return f"hidden_code_{number}_page"


def _level_page(form: WeightLine, part: Part) -> str:
    """Return the page of the level of each sum that is not negative, and of the biases."""
    layer, requant = _parts(part)
    units, held = _units(part), held_levels(_units(part), requant.levels)
    levels = np.clip((np.arange(LEVEL_PAGE_NBYTES) >> requant.shift) + 1, 1, requant.levels)
    writer = AsmWriter()
    writer.label("hidden_level_page", "where the level of a sum, or what a full slot leaves of it, lies in a product page")
    writer.data([FIRST_LEVEL_INDEX + level_offset(int(level) - held * int(level > held), units) for level in levels])
    writer.label("hidden_bias", "of each unit, or of each pair: the first unit's, and both packed as weights are")
    biases = layer.bias[None].astype(np.int64)
    if form.packed:  # the second of an odd last pair is never active
        first, second = split_pairs(biases, rest=-128)
        biases = np.stack([first, 16 * first + second], axis=-1)
    writer.data(biases.ravel())
    return writer.text()


def _weights(form: WeightLine, codes: int, part: Part, number: int) -> str:
    line, lines = _line(codes, part), _tables(form, codes, part)[number]
    weights = _parts(part)[0].table.astype(np.int64)  # (places, codes, units)
    packed = form.pack(weights.reshape(-1, weights.shape[2])).reshape(*weights.shape[:2], -1)
    pages = np.zeros((len(lines), line.pages, PAGE), np.int64)
    for place in range(line.places):
        for code in range(1, line.codes + 1):
            pages[:, line.page(place), line.index(place, code)] = packed[place, code, lines]
    writer = AsmWriter()
    writer.label(_table(number))
    for which, page in zip(lines, pages, strict=True):
        writer.comment(f"units {2 * which} and {2 * which + 1}" if form.packed else f"unit {which}")
        writer.data(page.ravel())
    return writer.text()


def _sections(form: WeightLine, codes: int, part: Part) -> tuple[Section, ...]:
    line, units = _line(codes, part), _units(part)
    tables = _tables(form, codes, part)
    code = (PACKED_CODE_NBYTES if form.packed else CODE_NBYTES) + _copy_nbytes(line) + _run_nbytes(form, line)
    code += RUN_NBYTES * len(tables) + (FULL_NBYTES * form.share if _full_sum(part) else 0)
    generated = {
        "hidden_copy": partial(_copy, form, line),
        "hidden_line": partial(_run, form, line),
        "hidden_runs": partial(_runs, form, codes, part),
        "hidden_active": partial(_active, "hidden_active", "hidden_off", part),
        "hidden_first": partial(_active, "hidden_first", "hidden_second", part),  # pasmo wants it for bytes, too
    }
    sections = (
        bare_section(line),
        Section("kernel/hidden_codes", code, Place.FAST, generated=generated),
        table("hidden_start", _start_nbytes(line), partial(_start, form, line), align=1),
        table("hidden_level_page", LEVEL_PAGE_NBYTES + form.lines(units) * form.share, partial(_level_page, form, part)),
        *(
            table(_table(n), PAGE * line.pages * len(lines), partial(_weights, form, codes, part, n))
            for n, lines in enumerate(tables)
        ),
    )
    return (*sections, nibble_section()) if form.packed else sections


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_levels(memory, symbols, _units(part))


def hidden_codes(name: str, codes: int, batch: int) -> Kernel:
    """Return the kernel of a form, by its name, that takes codes in batches and leaves active units in batches."""
    form = FORMS[name]
    return Kernel(
        name=f"{name}_{codes}_{batch}",
        kinds=(CodeSum, Requant),
        takes=f"codes in batches of {codes}",
        gives=f"line of batches of {batch}",
        calls=call("hidden_codes"),
        fits=partial(_fits, form, codes),
        cost=partial(_cost, form, codes, batch),
        count=partial(_count, form, codes, batch),
        constants=partial(_constants, form),
        sections=partial(_sections, form, codes),
        read=_read,
        prefix="hidden",
    )
