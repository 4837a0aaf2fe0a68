"""Which steps of a plan lie in a bank of paged memory, and where another bank must be selected.

A section lies in a bank only if all steps that name it run with that bank selected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from zxml.ir import ArgMax, Exit, Looks
from zxml.z80gen.kernel import Section
from zxml.z80gen.memory import fits_bank
from zxml.z80gen.target import Target

if TYPE_CHECKING:
    from zxml.z80gen.plan import Step

Sections = Sequence[tuple[str, Section]]
HOME_BANK = 0  # the one that BASIC, and whoever calls classify, has selected
PAGING_PORT, BANKM_ADDR = 0x7FFD, 23388
ROM_48K = 16  # the bit that selects the ROM of 48 BASIC, which runs while machine code does
SELECT_TSTATES, SELECT_NBYTES = 42, 10


def select_bank(bank: int) -> tuple[str, ...]:
    """Return the code that selects a bank and tells the system variable that keeps it; clobbers a, b and c.

    Source: the Spectrum 128's ROM 0, which writes BANKM (0x5B5C) before the port, too.
    """
    return f"ld a, {ROM_48K + bank}", f"ld ({BANKM_ADDR}), a", f"ld bc, {PAGING_PORT}", "out (c), a"


def selections(steps: Sequence[Step], looked: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return the bank that must be selected before each step, by the step's number, where another may be selected then.

    A step that may end the classification finds the home bank. looked: of each step of further looks, by its number, the steps
    that these run again.
    """
    found, selected = dict[int, int](), HOME_BANK
    for number in _runs(len(steps), looked):
        wanted = HOME_BANK if steps[number].is_exit or number == len(steps) - 1 else steps[number].bank
        if wanted not in (None, selected):
            found[number] = selected = wanted
    return found


def _runs(count: int, looked: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield the numbers of the steps in the order in which they run, with two of each one's further looks."""
    for number in range(count):
        yield number
        for _ in range(2):  # a second begins with what the first leaves selected, as do all after it
            yield from looked.get(number, ())


def arrangements(steps: tuple[Step, ...], target: Target, sections: Sections) -> Iterator[tuple[Step, ...]]:
    """Yield the steps with more and more of the last of them in banks; sections: all that the steps need."""
    arranged, free = steps, groups(steps) if target.banks else []
    for group in reversed(free):
        trials = {bank: _move(arranged, group, bank) for bank in target.banks}
        fitting = (bank for bank, trial in trials.items() if fits_bank(_held(trial, sections, bank)))
        emptiest = min(target.banks, key=lambda bank: sum(s.nbytes for _, s in _held(arranged, sections, bank)))
        arranged = trials[next(fitting, emptiest)]
        yield arranged


def groups(steps: Sequence[Step]) -> list[list[int]]:
    """Return the numbers of the steps that may lie in banks, together those of which one writes into the next one's code."""
    found: list[list[int]] = []
    for number, step in enumerate(steps):
        if step.kernel.takes_line and found and found[-1][-1] == number - 1:
            found[-1].append(number)
        elif not isinstance(step.part.layers[-1], Exit | Looks | ArgMax):
            found.append([number])
    return found


def banks_of(steps: Sequence[Step]) -> dict[str, int]:
    """Return the banks of the sections that may lie in one, by their sources."""
    users: dict[str, set[int | None]] = {}
    for step in steps:
        for section in step.sections:
            users.setdefault(section.source, set()).add(None if section.is_common else step.bank)
    banks = {source: bank for source, (bank, *others) in users.items() if not others}
    return {source: bank for source, bank in banks.items() if bank is not None}


def _move(steps: tuple[Step, ...], group: Sequence[int], bank: int) -> tuple[Step, ...]:
    return tuple(replace(step, bank=bank) if number in group else step for number, step in enumerate(steps))


def _held(steps: Sequence[Step], sections: Sections, bank: int) -> Sections:
    """Return the sections that may lie in a bank."""
    banks = banks_of(steps)
    return [(owner, section) for owner, section in sections if banks.get(section.source) == bank]
