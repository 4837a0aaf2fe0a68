"""Output files: written whole or not at all; and the folders the product's own files lie in."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from zxml.errors import ZxmlError


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file so that nobody ever sees half of it; raise ZxmlError, naming the cure, if it cannot be written."""
    data = content.encode() if isinstance(content, str) else content
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise ZxmlError(f"{path}: cannot write ({error.strerror}); choose another folder with --out") from error


def check_writable(folder: Path) -> None:
    """Raise ZxmlError if nothing can be written to the folder, before work is done whose result would be lost."""
    probe = folder / ".zxml"
    write_whole(probe, b"")
    probe.unlink()


def product_folder(name: str) -> Path:
    """Return the folder `asm` or `models`: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name
