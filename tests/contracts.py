"""The contracts in the headers of routines: what they clobber, and how long they take."""

from __future__ import annotations

import re
from collections.abc import Mapping

from zxml.files import product_folder

Contract = Mapping[str, str]


def read_contracts(pattern: str, folder: str = "learn") -> dict[str, Contract]:
    """Return the fields of the headers in the files of a folder of asm/ that match, by routine."""
    return {
        match[1]: dict(re.findall(r"^; ([A-Z][\w-]+) +(.*(?:\n;  .*)*)$", match[0], re.MULTILINE))
        for path in sorted((product_folder("asm") / folder).glob(pattern))
        for match in re.finditer(r"^; (\w+) - .*\n(?:;.*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def numbers_of(contract: Contract) -> list[int]:
    """Return the numbers of the T-states."""
    return [int(number) for number in re.findall(r"\d+", contract["T-states"].replace(",", ""))]


def by_letter(registers: Mapping[str, int]) -> dict[str, int]:
    """Return the registers that routines use by themselves, and all others in pairs."""
    singles = {
        letter: registers[pair] >> 8 * (1 - i) & 255 for pair in ("af", "bc", "de", "hl") for i, letter in enumerate(pair)
    }
    return singles | {pair: value for pair, value in registers.items() if pair not in ("af", "bc", "de", "hl")}


def assert_kept(contract: Contract, before: Mapping[str, int], after: Mapping[str, int]) -> None:
    """Fail if a routine changed a register that its contract does not name."""
    was, now = by_letter(before), by_letter(after)
    kept = set(was) - set(re.findall(r"ix|[a-z]", contract["Clobbers"]))
    assert {letter: now[letter] for letter in kept} == {letter: was[letter] for letter in kept}
