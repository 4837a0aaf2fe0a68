"""Gives every piece of the image its place in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zxml.errors import PlanError
from zxml.z80gen.kernel import Place, Section
from zxml.z80gen.target import Target

PAGE = 256

Region = tuple[int, int]  # from the first address to one past the last
Urgency = Callable[[Section], tuple[int, ...]]


@dataclass(frozen=True)
class Placed:
    """A section at its address."""

    addr: int
    section: Section

    @property
    def end(self) -> int:
        """One past its last byte."""
        return self.addr + self.section.nbytes


def place(sections: Sequence[tuple[str, Section]], target: Target, program_nbytes: int = 0) -> tuple[Placed, ...]:
    """Return each section at an address, in order of address.

    First try: fixed sections, then code, then tables, which lie in contended memory only where there is no other room. If that
    fails, what needs whole pages comes first, tables in contended memory, and what is small fills the smallest gaps.

    sections: pairs of what needs it, for the error, and the section; program_nbytes: kept free at the start of memory.

    Raises PlanError, saying by how many bytes, if one does not fit.
    """
    fast = (target.fast_addr, target.end_addr)
    slow = (target.program_addr + program_nbytes, target.fast_addr)
    try:
        return _fill(sections, (fast, slow), _code_first, _first_gap)
    except PlanError as error:
        try:
            return _fill(sections, (slow, fast), _pages_first, _smallest_gap)
        except PlanError:
            raise error from None


def _fill(
    sections: Sequence[tuple[str, Section]],
    regions: tuple[Region, Region],
    urgency: Urgency,
    find: Callable[[Section, list[Placed], list[Region]], int | None],
) -> tuple[Placed, ...]:
    """Place what is most urgent first; regions: where tables may lie, in order; code lies in the higher one, which is fast."""
    placed: list[Placed] = []
    for owner, section in sorted(sections, key=lambda pair: urgency(pair[1])):
        may = [*regions] if section.place is Place.TABLE else [max(regions)]
        found = find(section, placed, may)
        if found is None:
            over = _shortfall(section, placed, may)
            needs = f"{owner}: {section.source} needs {section.nbytes:,} bytes"
            raise PlanError(f"{needs}, {over:,} more than are left; use fewer units")
        placed.append(Placed(found, section))
    return tuple(sorted(placed, key=lambda p: p.addr))


def _code_first(section: Section) -> tuple[int, ...]:
    return section.at is None, section.place is Place.TABLE, -section.align, -section.nbytes


def _pages_first(section: Section) -> tuple[int, ...]:
    return section.at is None, section.align < PAGE, -section.nbytes


def _first_gap(section: Section, placed: list[Placed], regions: list[Region]) -> int | None:
    """Return the lowest address in the first region that has room; in a second region the highest, below the code above."""
    for number, (start, end) in enumerate(regions):
        ups = [start, *(p.end for p in placed if start <= p.end < end)]
        downs = [end - section.nbytes, *(p.addr - section.nbytes for p in placed if start <= p.addr < end)]
        candidates = sorted(-(-addr // section.align) * section.align for addr in ups)
        if number:
            candidates = sorted((addr // section.align * section.align for addr in downs), reverse=True)
        for addr in [section.at] if section.at is not None else candidates:
            free = all(p.end <= addr or addr + section.nbytes <= p.addr for p in placed)
            if free and start <= addr and addr + section.nbytes <= end:
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
