"""The other assembler, which CI installs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def pasmo_bytes(main: Path) -> bytes:
    """Return what pasmo makes of a main file."""
    pasmo = shutil.which("pasmo")
    assert pasmo, "pasmo is missing; on Debian: apt install pasmo"
    subprocess.run([pasmo, "--bin", main.name, "pasmo.bin"], cwd=main.parent, check=True, capture_output=True)
    return (main.parent / "pasmo.bin").read_bytes()
