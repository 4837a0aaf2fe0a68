"""The byte `digit`: the answer, which all kernels that give one share."""

from __future__ import annotations

from zxml.z80gen.kernel import Place, Section

DIGIT_NBYTES = 1


def digit_section() -> Section:
    """Return the byte that keeps the answer."""
    return Section("kernel/digit", DIGIT_NBYTES, Place.FAST)
