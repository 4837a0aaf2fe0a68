"""code_sum: sums of a byte for each code at each place, 16 bits wide; a page for some of the places and an output.

A line of look-ups runs once an output (asm/kernel/code_sum.asm); the layer before has written into it. Limits: weights are
unsigned, a batch of them must stay below 256, and a page must hold a row of places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from zxml.ir import Codebook, CodeSum
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call, table
from zxml.z80gen.kernels.code_line import (
    ADD_NBYTES,
    BATCHES,
    JUMP_NBYTES,
    PAGE,
    SLOT_NBYTES,
    TAIL_NBYTES,
    CodeLine,
    code_line,
    counts,
    line_of,
    operands,
)
from zxml.z80gen.kernels.scores import read_scores, scores_section
from zxml.z80gen.writer import AsmWriter

MOST_SUM, MOST_PAGES = 255, 127
JUMP_CODE_NBYTES = 5  # from a block into the next


def _sum(part: Part) -> CodeSum:
    layer = part.layers[0]
    assert isinstance(layer, CodeSum)
    return layer


def _line(batch: int, part: Part) -> CodeLine:
    assert isinstance(part.before, Codebook)
    return line_of(batch, part, part.before)


def _fits(batch: int, part: Part) -> str | None:
    layer = _sum(part)
    line = code_line(batch, part.before, part.shape) if isinstance(part.before, Codebook) and len(part.shape) == 3 else None
    if line is None:
        return "takes the codes of a codebook, few enough for a page to hold a row of places"
    if layer.sum_bits != 16:
        return f"sums are 16 bits wide, not {layer.sum_bits}"
    if layer.table.min() < 0 or layer.table.max() > MOST_SUM or layer.table[:, 0].any():
        return f"weights are unsigned bytes, 0 for code 0; they reach from {layer.table.min()} to {layer.table.max()}"
    if line.pages * len(layer.bias) > MOST_PAGES:
        return f"at most {MOST_PAGES} pages, not {line.pages} for each of {len(layer.bias)} outputs"
    most = greatest_batch(layer, line)
    if most > MOST_SUM:
        return f"a batch of {line.batch} look-ups must stay below {MOST_SUM + 1}, and one may be {most}"
    larger = next((size for size in BATCHES if size > batch and _fits(size, part) is None), None)
    return f"batches of {larger} fit, too, and are faster" if larger else None


def greatest_batch(layer: CodeSum, line: CodeLine) -> int:
    """Return the greatest sum that a batch of look-ups can have."""
    greatest = layer.table[:, : line.codes + 1].max(axis=1).astype(np.int64)  # (places, units)
    pages = [greatest[start : start + line.slots] for start in range(0, line.places, line.slots)]
    return max(int(np.sort(page, axis=0)[-line.batch :].sum(axis=0).max()) for page in pages)


def _cost(batch: int, part: Part) -> Cost:
    line, outputs = _line(batch, part), len(_sum(part).bias)
    nbytes = sum(section.nbytes for section in _sections(batch, part))
    terms = (Term("code", 14 * outputs, line.places), Term("full batch", 20 * outputs, _most_batches(line)))
    return Cost(nbytes, 44 + outputs * (101 + 38 * (line.pages - 1)), terms)


def _most_batches(line: CodeLine) -> int:
    return sum(size // line.batch for size in line.sizes)


def _count(batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    line = _line(batch, part)
    blocks = np.stack(counts(line, inputs))  # (blocks, n)
    return {"code": blocks.sum(axis=0), "full batch": (blocks // line.batch).sum(axis=0)}


def _constants(batch: int, part: Part) -> dict[str, int]:
    line = _line(batch, part)
    return {"CODE_BIAS": line.bias, "CODE_PAGES": line.pages * len(_sum(part).bias), "CODE_BLOCK": line.block_nbytes}


def _blocks(line: CodeLine) -> str:
    """Return the blocks of the line, in the order of the pages."""
    writer = AsmWriter()
    add = ("add  a, e", "ld   e, a", "adc  a, d", "sub  e", "ld   d, a")
    for page in range(line.pages):
        size = SLOT_NBYTES * line.slots + ADD_NBYTES * (line.slots // line.batch + 1)
        writer.comment(f"places {page * line.slots} to {min(line.places, (page + 1) * line.slots) - 1}")
        writer.op(f"defs {line.block_nbytes - TAIL_NBYTES - size}")
        for slot in range(line.slots, 0, -1):  # from the last that is written to the first
            full = slot % line.batch == 0
            for op in (*add, "ld   l, 0", "ld   a, (hl)") if full else ("ld   l, 0", "add  a, (hl)"):
                writer.op(op)
        if page < line.pages - 1:
            for op in (*add, "inc  h", "xor  a", "jp   0", f"defs {TAIL_NBYTES - JUMP_CODE_NBYTES}"):
                writer.op(op)
    return writer.text()


def _pages(line: CodeLine, layer: CodeSum) -> str:
    pages = np.zeros((len(layer.bias), line.pages, PAGE), np.int64)
    for place in range(line.places):
        for code in range(1, line.codes + 1):
            pages[:, line.page(place), line.index(place, code)] = layer.table[place, code]
    pages[:, 0, line.bias] = layer.bias & 255
    pages[:, 0, (line.bias + 1) % PAGE] = layer.bias >> 8 & 255
    writer = AsmWriter()
    writer.label("code_sum_page")
    for output, bias in enumerate(layer.bias):
        writer.comment(f"output {output}, bias {bias} at {line.bias}")
        writer.data(pages[output].ravel())
    return writer.text()


def _sections(batch: int, part: Part) -> tuple[Section, ...]:
    line, layer = _line(batch, part), _sum(part)
    outputs = len(layer.bias)
    return (
        _section(line.block_nbytes + line.nbytes, {"code_line": partial(_blocks, line)}),
        table("code_sum_page", PAGE * line.pages * outputs, partial(_pages, line, layer)),
        scores_section(outputs),
    )


def _section(nbytes: int, generated: Mapping[str, Callable[[], str]]) -> Section:
    return Section("kernel/code_sum", nbytes, Place.FAST, PAGE, generated=generated)


def bare_section(line: CodeLine) -> Section:
    """Return the line of a net without these sums: room for what the layer before writes. With them, theirs is larger."""
    return _section(line.block_nbytes + line.nbytes - TAIL_NBYTES, {"code_sum": partial(_bare, line)})


def _bare(line: CodeLine) -> str:
    writer = AsmWriter()
    writer.op(f"defs {line.block_nbytes - JUMP_NBYTES}")
    writer.label("code_sum_entry", "where the last slot written starts, in each block")
    writer.op(f"defs {JUMP_NBYTES}")
    writer.label("code_sum_line", "the line of codes")
    writer.op(f"defs {line.nbytes - TAIL_NBYTES}")
    return writer.text()


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_scores(memory, symbols, len(_sum(part).bias))


def code_sum(batch: int) -> Kernel:
    """Return the kernel that adds up this many look-ups in 8 bits."""
    return Kernel(
        name=f"code_sum_{batch}",
        kinds=(CodeSum,),
        takes=f"codes in batches of {batch}",
        gives="scores",
        calls=call("code_sum"),
        fits=partial(_fits, batch),
        cost=partial(_cost, batch),
        count=partial(_count, batch),
        constants=partial(_constants, batch),
        sections=partial(_sections, batch),
        read=_read,
    )


def read_codes(memory: bytes, symbols: Symbols, line: CodeLine) -> Values:
    """Return the codes, (rows, cols, 1), from the operands that were written into the line."""
    codes = np.zeros(line.places, np.int64)
    for page in range(line.pages):
        start, jump = (symbols[label] + line.block_nbytes * page for label in ("code_sum_line", "code_sum_entry"))
        entry = int.from_bytes(memory[jump : jump + 2], "little")
        places = range(page * line.slots, min(line.places, (page + 1) * line.slots))
        where = {line.index(place, code): (place, code) for place in places for code in range(1, line.codes + 1)}
        for offset in operands(line):
            if start + offset < entry:
                break
            place, code = where.get(memory[start + offset], (places[0], -1))
            codes[place] = code
    return codes.reshape(line.rows, line.cols, 1)
