"""Imports run one way, along the path from the pictures to the proof."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import zxml

ROOT = Path(zxml.__file__).parent
BASE = {"errors", "files"}
MAY_IMPORT = {  # of zxml; each part may import itself
    "errors": set[str](),
    "files": {"errors"},
    "ir": BASE,
    "spec": BASE | {"ir"},
    "reference": BASE | {"ir"},
    "data": BASE | {"ir", "spec"},
    "quant": BASE | {"ir", "spec", "reference"},
    "gpu": BASE | {"ir", "spec", "reference", "data", "quant"},
    "z80gen": BASE | {"ir", "reference"},
    "paged": BASE,
    "emulator": BASE | {"paged"},
    "spectrum": BASE | {"paged", "z80gen"},
    "film": BASE,
    "browser": BASE,
    "normalise": BASE | {"ir"},
    "drawings": BASE | {"data", "ir", "reference", "normalise"},
    "learn": BASE | {"ir", "data", "z80gen", "console", "emulator", "spectrum", "player", "film"},
    "console": BASE,
    "classify": BASE | {"reference", "z80gen", "emulator"},
    "cassette": BASE | {"ir", "spec", "data", "reference", "z80gen", "spectrum"},
    "verify": BASE | {"ir", "data", "reference", "z80gen", "emulator", "classify", "spectrum", "cassette"},
    "report": BASE | {"z80gen", "verify"},
    "trials": BASE | {"ir", "spec", "data", "quant", "gpu"},
    "train": BASE | {"ir", "spec", "data", "quant", "gpu", "learn", "console", "trials"},
    "player": BASE | {"spectrum", "z80gen"},
    "published": BASE,
    "bench": BASE | {"ir", "data", "reference", "z80gen", "cassette", "classify", "verify", "published"},
    "lessons": BASE | {"learn", "published"},
    "plots": BASE | {"z80gen", "published", "bench", "lessons"},
    "commands": BASE
    | {"published", "bench", "lessons", "plots"}
    | {"ir", "data", "gpu", "cassette", "console", "verify", "report", "browser", "film", "player", "z80gen"},
    "peers": BASE | {"spec", "reference", "data", "quant", "gpu"},
    "bench_train": BASE | {"data", "gpu", "peers", "__version__"},
    "bench_steps": BASE | {"data", "gpu", "console", "bench_train"},
    "bench_page": BASE | {"bench_train", "bench_steps"},
    "bench_command": BASE | {"data", "gpu", "console", "bench_train", "bench_page"},
    "cli": {"bench_command", "commands", "console", "cassette", "spec", "__version__"},
    "__main__": {"cli"},
}


def imported_parts(path: Path) -> set[str]:
    """Return the parts of zxml that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "zxml":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("zxml."):
            found.add(node.module.split(".")[1])
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_rightwards(path: Path) -> None:
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if part != "__init__":
        assert imported_parts(path) - {part} <= MAY_IMPORT[part]
