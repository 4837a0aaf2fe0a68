"""The product's own files of pictures, as they were when they were packed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from zxml.errors import DataError


def read_unaltered(path: Path, sha256: str, what: str, cure: str) -> bytes:
    """Return a file's bytes; raise DataError, saying what was wanted and the cure, if it is missing, truncated or altered."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: wanted {what}, got no file ({error.strerror}); {cure}") from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise DataError(f"{path}: wanted SHA-256 {sha256}, got {digest} on {len(content)} bytes; {cure}")
    return content
