"""Writes the plan as a folder of assembly that a person can read and any common assembler can build.

The folder is flat, since assemblers differ in where they look for an included file:

    main.asm      what lies where: the program, then each section at its address
    map.asm       the constants that the hand-written files are built with
    bank_N.asm    what lies in bank N of paged memory, where a machine has that; the others see it from 0xC000 on
    classify.asm  calls the kernels in turn
    *.asm         generated tables and run lines; hand-written routines, copied unchanged from asm/
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from zxml.errors import ZxmlError
from zxml.files import product_folder, write_whole
from zxml.ir import PICTURE
from zxml.z80gen.assemble import Assembly, assemble
from zxml.z80gen.kernel import Section
from zxml.z80gen.kernels.looks import look_label
from zxml.z80gen.memory import Placed
from zxml.z80gen.paging import ROM_48K, select_bank
from zxml.z80gen.plan import Plan, all_looked, all_selections, asks_haste, keeps_picture, shared_looks
from zxml.z80gen.target import BANK_ADDR
from zxml.z80gen.writer import AsmWriter

BANK_LIST = "bank_list"  # a file that a program may name among its own
LICENCE = "SPDX-License-Identifier: 0BSD"
LABEL = re.compile(r"^(\w+):(?!\s*equ\b)", re.MULTILINE)


def emit(plan: Plan, folder: Path) -> Path:
    """Write the folder's .asm files anew and return the path of the main one; raise ZxmlError if that cannot be done."""
    sections = [placed.section for placed in plan.placed]
    generated = {"main": _main(plan), "map": _map(plan), "classify": _classify(plan), **plan.program.generated}
    generated |= {_bank_file(bank): _bank(plan, bank) for bank in plan.banks}
    if BANK_LIST in plan.program.sources:
        generated[BANK_LIST] = _bank_list(plan)
    for section in sections:
        generated |= {name: write() for name, write in section.generated.items()}
    files = {name: f"; {LICENCE}\n{text}" for name, text in generated.items()}
    for source in plan.program.sources:
        if Path(source).name not in generated:
            files[Path(source).name] = _hand_written(source)
    for section in sections:
        if Path(section.source).name not in generated:
            files[Path(section.source).name] = section.rename(_hand_written(section.file or section.source))
    _check_labels(files)
    _clear(folder)
    for name, text in files.items():
        write_whole(folder / f"{name}.asm", text)
    return folder / "main.asm"


def _check_labels(files: Mapping[str, str]) -> None:
    """Raise ZxmlError if a label is there twice; pyz80 would take the later one without a word."""
    known = dict[str, str]()
    for name, text in files.items():
        for label in LABEL.findall(text):
            if label in known:
                raise ZxmlError(f"{name}.asm: label {label} is in {known[label]}.asm already; correct the kernel's names")
            known[label] = name


def _hand_written(source: str) -> str:
    return (product_folder("asm") / f"{source}.asm").read_text(encoding="utf-8")


def build(plan: Plan, folder: Path) -> Assembly:
    """Emit and assemble; raise ZxmlError if a section is not where and as long as planned.

    pyz80 leaves out the zeros that an image ends in. They are part of it here, since the machine's memory need not be clear.
    """
    assembly = assemble(emit(plan, folder))
    for placed in plan.placed:
        start, end = (assembly.symbols[_mark(placed.section, which)] for which in ("start", "end"))
        if (start, end) != (placed.addr, placed.end):
            raise ZxmlError(
                f"{placed.section.source}.asm: planned at {placed.addr:#06x} with {placed.section.nbytes} bytes, "
                f"assembled at {start:#06x} with {end - start}; correct the kernel's size"
            )
    nbytes = plan.end - assembly.org + sum(bank_nbytes(plan, bank) for bank in plan.banks)
    whole = replace(assembly, image=assembly.image.ljust(nbytes, b"\0"))
    return _split(whole, plan) if plan.banks else whole


def _split(assembly: Assembly, plan: Plan) -> Assembly:
    """Return the assembly with the banks, which follow the rest of the image one after another, apart from that."""
    start = plan.end - assembly.org
    banks, after = {}, start
    for bank in plan.banks:
        nbytes = bank_nbytes(plan, bank)
        banks[bank] = assembly.image[after : after + nbytes]
        after += nbytes
    return replace(assembly, image=assembly.image[:start], banks=banks)


def _main(plan: Plan) -> str:
    writer = AsmWriter()
    writer.comment(f"{plan.model.name}: a neural network for the {plan.target.name}")
    writer.comment("call classify with hl = a picture of 28 rows of 4 bytes, bit 7 leftmost; it returns a = the digit")
    writer.comment("and the scores in `scores`, and changes af bc de hl ix")
    writer.op('include "map.asm"')
    start = plan.target.program_addr if plan.program.sources else plan.program_end
    writer.op(f"org {start}")
    for source in plan.program.sources:
        writer.op(f'include "{Path(source).name}.asm"')
    writer.label("program_end", f"must not pass {plan.program_end}")
    _write_sections(writer, [placed for placed in plan.placed if placed.bank is None])
    for bank in plan.banks:
        writer.op(f'include "{_bank_file(bank)}.asm"')
    return writer.text()


def _bank_file(bank: int) -> str:
    return f"bank_{bank}"


def _bank(plan: Plan, bank: int) -> str:
    writer = AsmWriter()
    writer.comment(f"bank {bank}: these bytes follow those of the file before, and are loaded into the bank")
    writer.op(f"org {BANK_ADDR}")
    _write_sections(writer, [placed for placed in plan.placed if placed.bank == bank])
    return writer.text()


def _bank_list(plan: Plan) -> str:
    writer = AsmWriter()
    writer.label("bank_list", "what selects each bank, and how many bytes are loaded into it")
    for bank in plan.banks:
        writer.op(f"defb {ROM_48K + bank}")
        writer.op(f"defw {bank_nbytes(plan, bank)}")
    writer.op("defb 0")
    return writer.text()


def bank_nbytes(plan: Plan, bank: int) -> int:
    """Return how many bytes of a bank are used."""
    return max(placed.end for placed in plan.placed if placed.bank == bank) - BANK_ADDR


def _write_sections(writer: AsmWriter, sections: Sequence[Placed]) -> None:
    for placed in sections:
        writer.op(f"defs {placed.addr} - $")
        writer.label(_mark(placed.section, "start"))
        writer.op(f'include "{Path(placed.section.source).name}.asm"')
        writer.label(_mark(placed.section, "end"))


def _mark(section: Section, which: str) -> str:
    return f"{Path(section.source).name}_section_{which}"


def _map(plan: Plan) -> str:
    writer = AsmWriter()
    for step in plan.steps:
        writer.comment(f"{step.name}: {step.kernel.name}")
        for name, value in step.kernel.constants(step.part).items():
            writer.equ(name, value)
    for placed in plan.placed:
        if placed.section.has_constant:
            writer.equ(f"{placed.section.source}_at", placed.addr)
    writer.comment("\n" + plan.memory_map())
    return writer.text()


def _classify(plan: Plan) -> str:
    writer = AsmWriter()
    writer.comment("classify - read the digit in a picture")
    writer.comment("In         hl = picture: 28 rows of 4 bytes, bit 7 is the leftmost pixel")
    hasty = any(asks_haste(plan.steps, number) for number in range(len(plan.steps)))
    writer.comment(f"Out        a = digit{', or 255 as classify_haste says' if hasty else ''}; scores = one word a digit")
    writer.comment("Clobbers   af bc de hl ix")
    if all_selections(plan.steps):
        writer.comment("Needs      bank 0 selected, as it is again afterwards")
    writer.comment(f"T-states   {plan.tstates_mean:,.0f} on average, at most {plan.tstates_worst:,}")
    writer.label("classify")
    keeps, shared = keeps_picture(plan.steps), shared_looks(plan.steps)
    starts, inside = {again[0] for again in shared}, {number for again in shared for number in again}
    if keeps:
        writer.op("ld   (classify_picture), hl")
    for number, step in enumerate(plan.steps):
        if number in starts or number not in inside:
            _label_step(writer, plan, number)
        if number and step.kernel.takes == PICTURE:
            writer.op("ld   hl, (classify_picture)")
        if number in starts:
            writer.op(f"call {_look_label(plan, number)}")
        elif number not in inside:
            _write_calls(writer, plan, number)
    writer.label(f"classify_{len(plan.steps)}")
    writer.op("ret")
    for again in all_looked(plan.steps):
        _write_look(writer, plan, again, again in shared)
    if keeps:
        writer.label("classify_picture", "address")
        writer.op("defs 2")
    writer.label("classify_haste", "255: a caller in haste, who gets a = 255 where much time may be needed yet; else 0")
    writer.op("defb 0")
    return writer.text()


def _look_label(plan: Plan, first: int) -> str:
    """Return the label of the subroutine whose first step has this number."""
    return next(look_label(step.looks) for step in plan.steps if step.looks and step.looks.again == plan.steps[first].name)


def _write_look(writer: AsmWriter, plan: Plan, again: tuple[int, ...], shared: bool) -> None:
    """Write the subroutine that looks at a picture, hl, with the steps of further looks; shared: of the first look, too."""
    writer.label(_look_label(plan, again[0]), "hl = picture, as it is or moved; its scores are left in scores")
    for number in again:
        if shared and number > again[0]:
            _label_step(writer, plan, number)
        _write_calls(writer, plan, number)
    writer.op("ret")


def _label_step(writer: AsmWriter, plan: Plan, number: int) -> None:
    step = plan.steps[number]
    writer.label(f"classify_{number}", f"{step.name}: {step.kernel.name}")


def _write_calls(writer: AsmWriter, plan: Plan, number: int) -> None:
    """Write the code that runs a step, and what follows it if it is an exit."""
    step, selected = plan.steps[number], all_selections(plan.steps)
    if number in selected:
        for line in select_bank(selected[number]):
            writer.op(line, f"bank {selected[number]}")
    for line in step.kernel.calls(step.part):
        writer.op(line)
    if step.is_exit:
        writer.label(f"classify_{number}_exit", "carry: the answer is given, a = digit")
        writer.op("ret  c")
    if asks_haste(plan.steps, number):
        for op in ("ld   a, (classify_haste)", "or   a", "ret  nz"):
            writer.op(op)


def _clear(folder: Path) -> None:
    """Remove the assembly that an earlier run left; raise ZxmlError if that cannot be."""
    try:
        for path in folder.glob("*.asm"):
            path.unlink()
    except OSError as error:
        raise ZxmlError(f"{folder}: cannot write ({error.strerror}); choose another folder with --out") from error
