"""Writes assembly that pyz80, pasmo and sjasmplus all read."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby


class AsmWriter:
    """Collects lines of assembly: labels at the margin, operations and comments aligned."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def comment(self, text: str) -> None:
        """Add comment lines."""
        self._lines += [f"; {line}".rstrip() for line in text.split("\n")]

    def label(self, name: str, comment: str = "") -> None:
        """Add a label."""
        self._add(f"{name}:", comment)

    def equ(self, name: str, value: int | str, comment: str = "") -> None:
        """Add a constant."""
        self._add(f"{name}: equ {value}", comment)

    def op(self, text: str, comment: str = "") -> None:
        """Add an operation."""
        name, _, rest = text.partition(" ")
        self._add(f"        {name:<4} {rest}".rstrip(), comment)

    def data(self, values: Iterable[int], comment: str = "", width: int = 16) -> None:
        """Add bytes, taken modulo 256, `width` (at most 16) a line, the comment at the first; lines of zeros become a defs."""
        numbers = [int(value) % 256 for value in values]
        lines = [numbers[start : start + width] for start in range(0, len(numbers), width)]
        for blank, group in groupby(lines, key=lambda line: not any(line)):
            members = list(group)
            texts = [f"defs {sum(map(len, members))}"] if blank else [f"defb {', '.join(map(str, line))}" for line in members]
            for text in texts:
                self._add(f"        {text}", comment)
                comment = ""

    def text(self) -> str:
        """Return everything written so far."""
        return "\n".join(self._lines) + "\n"

    def _add(self, line: str, comment: str) -> None:
        self._lines.append(f"{line:<39} ; {comment}" if comment else line)
