"""The wheel holds everything that the product needs at run time."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_holds_code_assembly_models_kernels_and_data(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True)
    names = set(zipfile.ZipFile(next(tmp_path.glob("zxml-*.whl"))).namelist())
    wanted = {f"zxml/{path.relative_to(ROOT)}" for folder in ("asm", "models") for path in ROOT.joinpath(folder).rglob("*.*")}
    wanted |= {
        str(path.relative_to(ROOT))
        for path in ROOT.joinpath("zxml").rglob("*")
        if path.suffix in {".py", ".cl", ".xz", ".toml"}
    }
    assert wanted <= names
