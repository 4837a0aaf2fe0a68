"""Assembles a folder's main file with pyz80."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from zxml.errors import ZxmlError


@dataclass(frozen=True)
class Assembly:
    """Machine code that starts at `org`, the value of every label and constant, and what lies in banks of paged memory."""

    org: int
    image: bytes
    symbols: dict[str, int]
    banks: dict[int, bytes] = field(default_factory=dict)


def assemble(main: Path) -> Assembly:
    """Assemble a file; raise ZxmlError with the assembler's own message, file and line, if it will not.

    The first `org` in the main file gives the address of the image's first byte.
    """
    with tempfile.TemporaryDirectory() as scratch:
        image, symbols = Path(scratch, "image"), Path(scratch, "symbols")
        options = ["--intdiv", "--case", f"--obj={image}", f"--exportfile={symbols}"]
        command = [sys.executable, "-m", "pyz80.pyz80", *options, main.name]
        result = subprocess.run(command, cwd=main.parent, capture_output=True, text=True, check=False)
        if result.returncode:
            raise ZxmlError(f"{main}: pyz80: " + " ".join(result.stderr.split()))
        found: dict[str, int] = pickle.loads(symbols.read_bytes())
        return Assembly(_org(main), image.read_bytes(), found)


def _org(main: Path) -> int:
    for line in main.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[:1] == ["org"]:
            return int(words[1], 0)
    raise ZxmlError(f"{main}: no `org NUMBER` line, so where the code belongs is unknown")
