"""hidden_bits: a layer of weights on the bits of a map, and its activations; half a byte or a byte a weight.

The set bits are compiled into a line of code, which runs once a unit or, where two weights of 4 bits share a byte, once a pair
of units (asm/kernel/hidden_bits.asm); a page of the first weight of each byte takes the pair's sums apart. Sums are modulo 256.
Limits: a map of 256 bytes, 127 units; packed weights in [-8, 7], others in [-128, 127].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from zxml.ir import Dense, Requant
from zxml.z80gen.cost import Cost, Counts, Term
from zxml.z80gen.kernel import Kernel, Part, Place, Section, Symbols, Values, call, table
from zxml.z80gen.kernels.active_units import LEVEL_PAGE_NBYTES, full_sum, level_offset, level_page, read_levels, reject_levels
from zxml.z80gen.kernels.bits import CHANNELS_A_BYTE, PAGE, bits_groups, bits_label, bits_nbytes, bits_section
from zxml.z80gen.kernels.conv_part import pack_groups, total
from zxml.z80gen.kernels.dense_sum import FIRST_INDEX, count_slots, held_levels, slots_a_unit
from zxml.z80gen.kernels.hidden_stretch import RECORD_NBYTES, STRETCH_NBYTES, Layout, lay_out
from zxml.z80gen.kernels.weight_line import WeightLine, nibble_section, split_pairs
from zxml.z80gen.writer import AsmWriter

CODE_NBYTES, PACKED_CODE_NBYTES = 200, 320  # hidden_bits without its line and what two slots a unit need more
FULL_NBYTES = 23
MOST_UNITS = 127
RUN_TERMS = (
    "run looked at",
    "stretch without a bit",
    "run with a bit",
    "byte looked at",
    "byte with a bit",
    "bit compiled",
    "batch compiled",
    "line run",
    "slot run",
    "batch run",
)


@dataclass(frozen=True)
class Form(WeightLine):
    """How weights lie in memory, and the most bytes of the map that are compiled at once."""

    stretch: int


PACKED, PACKED_SHORT, BYTES = Form(True, STRETCH_NBYTES), Form(True, STRETCH_NBYTES // 2), Form(False, STRETCH_NBYTES)
FORMS = {"hidden_nibbles": PACKED, "hidden_nibbles_short": PACKED_SHORT, "hidden_bytes": BYTES}


def _parts(part: Part) -> tuple[Dense, Requant]:
    sums, levels = part.layers
    assert isinstance(sums, Dense)
    assert isinstance(levels, Requant)
    return sums, levels


def _units(part: Part) -> int:
    return len(_parts(part)[0].bias)


def _fits(form: Form, part: Part) -> str | None:
    layer, requant = _parts(part)
    if part.before is None or len(part.shape) != 3 or part.inputs.lo < 0 or part.inputs.hi > 1:
        return f"takes a map of bits, not values in {part.inputs}"
    if layer.sum_bits != 8:
        return f"sums are 8 bits wide, not {layer.sum_bits}"
    if bits_nbytes(part.shape) > PAGE:
        return f"takes a map of at most {PAGE} bytes, not {bits_nbytes(part.shape)}"
    if _units(part) > MOST_UNITS:
        return f"at most {MOST_UNITS} units, not {_units(part)}"
    return form.reject(layer.weight.astype(np.int64)) or reject_levels(requant, _units(part))


def _bit_weights(part: Part) -> Values:
    """Return the weights of the bits of the map, those above the last channel too, (8 x bytes, units)."""
    rows, cols, channels = part.shape
    weight = np.zeros((rows * cols, bits_groups(channels) * CHANNELS_A_BYTE, _units(part)), np.int64)
    weight[:, :channels] = _parts(part)[0].weight.reshape(rows * cols, channels, -1)
    return weight.reshape(-1, _units(part))


def _layout(form: Form, part: Part) -> Layout:
    """Return the layout of the bytes of the map from the first that has a weight to the last."""
    used = np.flatnonzero(_bit_weights(part).any(axis=1)) // CHANNELS_A_BYTE
    first, end = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 1)
    return lay_out(first, end - first, form.lines(_units(part)), form.stretch)


def _full_sum(part: Part) -> int:
    return full_sum(_parts(part)[1], _units(part))


def _batches(form: Form, part: Part) -> int:
    """Return the batches of the line, which has room for all bits of the longest stretch."""
    return max(stretch.nbytes for stretch in _layout(form, part).stretches) * CHANNELS_A_BYTE // form.batch


def _code_nbytes(form: Form, part: Part) -> int:
    code = PACKED_CODE_NBYTES if form.packed else CODE_NBYTES
    return code + form.batch_nbytes * _batches(form, part) + (FULL_NBYTES if _full_sum(part) else 0)


def _cost(form: Form, batch: int, part: Part) -> Cost:
    units, layout, packed = _units(part), _layout(form, part), form.packed
    runs = [(stretch, run) for stretch in layout.stretches for run in stretch.runs]
    nbytes = sum(stretch.nbytes for stretch, _ in runs)
    bits = CHANNELS_A_BYTE * nbytes
    lines = layout.lines * len(layout.stretches)
    slots = CHANNELS_A_BYTE * sum(stretch.nbytes for stretch in layout.stretches) * layout.lines
    terms = (
        Term("run looked at", 184, len(runs)),
        Term("stretch without a bit", 94, len(layout.stretches)),
        Term("run with a bit", 183, len(runs)),
        Term("byte looked at", 48, nbytes),
        Term("byte with a bit", 22 if packed else 12, nbytes),
        Term("bit compiled", 56, bits),
        Term("batch compiled", 43 if packed else 5, bits // form.batch),
        Term("line run", 106 if packed else 58, lines),
        Term("slot run", 18 if packed else 14, slots),
        Term("batch run", 59 if packed else 0, slots // form.batch),
        Term("active unit", 83 if _full_sum(part) else 64, units),
        Term("unit of two slots", 59, units if _full_sum(part) else 0),
        Term("full batch", 24, units * slots_a_unit(units, _parts(part)[1].levels) // batch),
    )
    seconds = 6 + 66 * layout.lines if packed else 0
    fixed = 237 + 21 * form.share * layout.lines + seconds + 46 * units
    return Cost(sum(section.nbytes for section in _sections(form, part)[1:]), fixed, terms)


def _count(form: Form, batch: int, part: Part, inputs: Values, outputs: list[Values]) -> Counts:
    layout = _layout(form, part)
    packed = pack_groups(inputs).reshape(len(inputs), -1)  # (n, bytes of the map)
    ones = np.unpackbits(packed.astype(np.uint8)[..., None], axis=2).sum(axis=2, dtype=np.int64)
    counts = {name: np.zeros(len(inputs), np.int64) for name in RUN_TERMS}
    for stretch in layout.stretches:
        seen = slice(stretch.first, stretch.first + stretch.nbytes)
        slots, some = ones[:, seen].sum(axis=1, dtype=np.int64), packed[:, seen].any(axis=1)
        runs = np.where(some, len(stretch.runs), 1)
        batches = -(-slots // form.batch)
        counts["run looked at"] += runs
        counts["stretch without a bit"] += ~some
        counts["run with a bit"] += runs * some
        counts["byte looked at"] += runs * stretch.nbytes
        counts["byte with a bit"] += runs * total(packed[:, seen] > 0)
        counts["bit compiled"] += runs * slots
        counts["batch compiled"] += runs * batches
        counts["line run"] += layout.lines * some
        counts["slot run"] += layout.lines * slots
        counts["batch run"] += layout.lines * batches
    active, slots = (outputs[-1] > 0).sum(axis=1), count_slots(outputs[-1], _parts(part)[1].levels)
    return {**counts, "active unit": active, "unit of two slots": slots - active, "full batch": slots // batch}


def _constants(form: Form, part: Part) -> dict[str, int]:
    units = _units(part)
    highest = level_offset(held_levels(units, _parts(part)[1].levels), units)
    return {
        "HIDDEN_PACKED": int(form.packed),
        "HIDDEN_UNITS": units,
        "HIDDEN_SUMS": _layout(form, part).lines * form.share,
        "HIDDEN_STEP": form.step,
        "HIDDEN_FULL_SUM": _full_sum(part),
        "HIDDEN_FULL_INDEX": (FIRST_INDEX + highest) % PAGE if _full_sum(part) else 0,
    }


def _scan(form: Form) -> str:
    """Return the code that puts the positions of the set bits of bytes into the line, a part for each slot of a batch."""
    writer = AsmWriter()
    for slot in range(form.batch):
        writer.label(f"hidden_bit_{slot}", "c = bits left of the byte, ixl = its column, hl = last operand")
        writer.op("ld   a, (bc)")
        writer.op("add  a, ixl")
        for _ in range(1 if slot else form.batch_nbytes // form.step - form.batch + 1):
            writer.op("add  hl, de")
        for line in ("ld   (hl), a", "ld   a, c", "dec  a", "and  c", "ld   c, a"):
            writer.op(line)
        if slot < form.batch - 1:
            writer.op(f"jr   z, hidden_byte_end_{slot + 1}")
    if form.packed:
        writer.op("jr   z, hidden_byte_end_0")
        writer.label("hidden_batch", "the way to a batch takes the same time from everywhere")
        writer.op("jp   hidden_bit_0")
    else:
        writer.op("jr   nz, hidden_bit_0")
    for slot in range(form.batch):
        writer.label(f"hidden_byte_end_{slot}")
        writer.op("exx")
        writer.label(f"hidden_blank_{slot}")
        writer.op("inc  ixl")
        writer.op(f"djnz hidden_byte_{slot}")
        writer.op("jp   hidden_compiled")
        writer.label(f"hidden_byte_{slot}", "hl = byte of the map, b = bytes left")
        for line in ("ld   a, (hl)", "inc  l", "or   a", f"jr   z, hidden_blank_{slot}", "exx", "ld   c, a"):
            writer.op(line)
        writer.op(f"jp   hidden_bit_{slot}" if slot or not form.packed else "jp   hidden_batch")
    return writer.text()


def _line(form: Form, part: Part) -> str:
    writer = AsmWriter()
    for _ in range(_batches(form, part)):
        form.write_batch(writer)
    return writer.text()


def _runs(form: Form, part: Part) -> str:
    assert part.before is not None
    layout = _layout(form, part)
    writer = AsmWriter()
    writer.equ("hidden_map", f"{bits_label(part.before.name)}_at")
    writer.label("hidden_runs", "map, bytes, column, page before the first, sum, lines, next record if no bit is set")
    for first, nbytes, column, block, line, lines, skip in layout.records():
        before = f"{_block(block)} / {PAGE} - 1"
        writer.op(f"defb {first}, {nbytes}, {column}, {before}, {form.share * line}, {lines}, {skip}")
    writer.data([0] * RECORD_NBYTES, "the end")
    writer.label("hidden_bias", "of each unit, or of each pair: the first unit's, and both packed as weights are")
    biases = _parts(part)[0].bias[None].astype(np.int64)
    sums = [split_pairs(biases)[0], form.pack(biases)] if form.packed else [biases]
    writer.data(np.stack(sums, axis=-1).ravel())
    return writer.text()


def _block(number: int) -> str:
    """Return the label of a block of pages."""
    return f"hidden_weight_{number}_page"


def _weights(form: Form, part: Part, block: int) -> str:
    writer = AsmWriter()
    writer.label(_block(block))
    for number, page in enumerate(_layout(form, part).place(form.pack(_bit_weights(part)))[block]):
        writer.comment(f"page {number}")
        writer.data(page)
    return writer.text()


def _bits() -> str:
    writer = AsmWriter()
    writer.label("hidden_bit_page", "the row, in a page of weights, of the lowest set bit of each byte")
    writer.data([0] + [((byte & -byte).bit_length() - 1) * STRETCH_NBYTES for byte in range(1, PAGE)])
    return writer.text()


def _sums(nbytes: int) -> str:
    writer = AsmWriter()
    writer.label("hidden_sum_page", "of each unit, or of each pair: the first unit's, and that of the bytes")
    writer.op(f"defs {nbytes}")
    return writer.text()


def _sections(form: Form, part: Part) -> tuple[Section, ...]:
    assert part.before is not None
    _, requant = _parts(part)
    layout, units = _layout(form, part), _units(part)
    sums = layout.lines * form.share
    generated = {"hidden_scan": partial(_scan, form), "hidden_line": partial(_line, form, part)}
    levels = partial(level_page, "hidden_level_page", requant, units, FIRST_INDEX)
    sections = (
        bits_section(part.before.name, part.shape),
        Section("kernel/hidden_bits", _code_nbytes(form, part), Place.FAST, generated=generated),
        table("hidden_runs", RECORD_NBYTES * (len(layout.records()) + 1) + sums, partial(_runs, form, part), align=1),
        *(table(_block(n), PAGE * pages, partial(_weights, form, part, n)) for n, pages in enumerate(layout.blocks)),
        table("hidden_bit_page", PAGE, _bits),
        table("hidden_level_page", LEVEL_PAGE_NBYTES, levels),
        table("hidden_sum_page", sums, partial(_sums, sums), Place.FAST),
    )
    return (*sections, nibble_section()) if form.packed else sections


def _read(memory: bytes, symbols: Symbols, part: Part) -> Values:
    return read_levels(memory, symbols, _units(part))


def hidden_bits(name: str, batch: int) -> Kernel:
    """Return the kernel of a form, by its name, that leaves its active units in batches of this many."""
    form = FORMS[name]
    return Kernel(
        name=f"{name}_{batch}",
        kinds=(Dense, Requant),
        takes="bits",
        gives=f"line of batches of {batch}",
        calls=call("hidden_bits"),
        fits=partial(_fits, form),
        cost=partial(_cost, form, batch),
        count=partial(_count, form, batch),
        constants=partial(_constants, form),
        sections=partial(_sections, form),
        read=_read,
        prefix="hidden",
    )
