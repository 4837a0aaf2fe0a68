"""Gives every piece of the image its place in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from zxml.errors import PlanError
from zxml.z80gen.kernel import Place, Section
from zxml.z80gen.target import BANK_ADDR, BANK_END_ADDR, Target

PAGE = 256
APART = 0x10000  # how far apart banks are thought of while they are filled, so that an address tells its bank

Region = tuple[int, int]  # from the first address to one past the last
Urgency = Callable[[Section], tuple[int, ...]]


@dataclass(frozen=True)
class Placed:
    """A section at its address, and in its bank if it lies in one."""

    addr: int
    section: Section
    bank: int | None = None

    @property
    def end(self) -> int:
        """One past its last byte."""
        return self.addr + self.section.nbytes


def place(
    sections: Sequence[tuple[str, Section]], target: Target, program_nbytes: int = 0, banks: Mapping[str, int] | None = None
) -> tuple[Placed, ...]:
    """Return each section at an address, in order of address, those in banks last.

    First try: fixed sections, then code, then tables, which lie in contended memory only where there is no other room. If that
    fails, what needs whole pages comes first, tables in contended memory, and what is small fills the smallest gaps.

    sections: pairs of what needs it, for the error, and the section; program_nbytes: kept free at the start of memory;
    banks: by their sources, the banks that sections may lie in, where there is room in them.

    Raises PlanError, saying by how many bytes, if one does not fit.
    """
    fast = (target.fast_addr, target.end_addr)
    slow = (target.program_addr + program_nbytes, target.fast_addr)
    try:
        return _fill(sections, (fast, slow), _code_first, _first_gap, banks or {})
    except PlanError as error:
        try:
            return _fill(sections, (slow, fast), _pages_first, _smallest_gap, banks or {})
        except PlanError:
            raise error from None


def fits_bank(sections: Sequence[tuple[str, Section]]) -> bool:
    """Tell whether all sections find room in one bank."""
    bank = _bank_region(0)
    try:
        _fill(sections, (bank, bank), _code_first, _first_gap, {})
    except PlanError:
        return False
    return True


def _bank_region(bank: int) -> Region:
    return APART * (bank + 1) + BANK_ADDR, APART * (bank + 1) + BANK_END_ADDR


def _fill(
    sections: Sequence[tuple[str, Section]],
    regions: tuple[Region, Region],
    urgency: Urgency,
    find: Callable[[Section, list[Placed], list[Region]], int | None],
    banks: Mapping[str, int],
) -> tuple[Placed, ...]:
    """Place what is most urgent first; regions: where tables may lie, in order; code lies in the higher one, which is fast."""
    placed: list[Placed] = []
    for owner, section in sorted(sections, key=lambda pair: urgency(pair[1])):
        may = [*regions] if section.place is Place.TABLE else [max(regions)]
        if section.source in banks:
            may.insert(0, _bank_region(banks[section.source]))
        found = find(section, placed, may)
        if found is None:
            over = _shortfall(section, placed, may)
            needs = f"{owner}: {section.source} needs {section.nbytes:,} bytes"
            raise PlanError(f"{needs}, {over:,} more than are left; use fewer units")
        placed.append(Placed(found, section))
    return tuple(_in_its_bank(p) for p in sorted(placed, key=lambda p: p.addr))


def _in_its_bank(placed: Placed) -> Placed:
    return replace(placed, addr=placed.addr % APART, bank=placed.addr // APART - 1) if placed.addr >= APART else placed


def _code_first(section: Section) -> tuple[int, ...]:
    return section.at is None, section.place is Place.TABLE, -section.align, -section.nbytes


def _pages_first(section: Section) -> tuple[int, ...]:
    return section.at is None, section.align < PAGE, -section.nbytes


def _first_gap(section: Section, placed: list[Placed], regions: list[Region]) -> int | None:
    """Return the lowest address in the first region that has room; in a second region the highest, below the code above."""
    for number, (start, end) in enumerate(regions):
        taken = [(p.addr, p.end) for p in placed if p.addr < end and start <= p.end]
        ups = [start, *(up for _, up in taken if up < end)]
        downs = [end - section.nbytes, *(addr - section.nbytes for addr, _ in taken if start <= addr)]
        candidates = sorted(-(-addr // section.align) * section.align for addr in ups)
        if number:
            candidates = sorted((addr // section.align * section.align for addr in downs), reverse=True)
        for addr in [section.at] if section.at is not None else candidates:
            last = addr + section.nbytes
            if start <= addr and last <= end and all(up <= addr or last <= down for down, up in taken):
                return addr
    return None


def _smallest_gap(section: Section, placed: list[Placed], regions: list[Region]) -> int | None:
    """Return the highest address in the smallest gap that has room, of the first region that has one."""
    for region in regions:
        fitting = []
        for start, end in _gaps(placed, region):
            addr = section.at if section.at is not None else (end - section.nbytes) // section.align * section.align
            if start <= addr and addr + section.nbytes <= end:
                fitting.append((end - start, addr))
        if fitting:
            return min(fitting)[1]
    return None


def _shortfall(section: Section, placed: list[Placed], regions: list[Region]) -> int:
    """Return how many bytes longer the section is than the longest gap that is left for it."""
    starts = [(-(-start // section.align) * section.align, end) for region in regions for start, end in _gaps(placed, region)]
    return section.nbytes - max((end - start for start, end in starts), default=0)


def _gaps(placed: list[Placed], region: Region) -> list[Region]:
    """Return what is free in a region, in order."""
    start, end = region
    inside = sorted((p for p in placed if start <= p.addr < end), key=lambda p: p.addr)
    return list(zip([start, *(p.end for p in inside)], [*(p.addr for p in inside), end], strict=True))
