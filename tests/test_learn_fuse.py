"""The learning tape in Fuse, on two machines: it learns the same in about the same time, and ends at BREAK."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulators import Fuse
from tests.learning import counted, loaded, made

pytestmark = pytest.mark.slow

SHARE_ROW, TIME_ROW = 5, 6


def after_a_pass() -> tuple[str, float]:
    """Return what SkoolKit's Spectrum shows of the share read right in the first pass, and the time it took so far."""
    pupil, _ = loaded()
    pupil.restore(counted())
    pupil.run_to("lesson_corrected")
    pupil.run_to("lesson_pass")
    return share(pupil.text()[SHARE_ROW]), float(pupil.text()[TIME_ROW][10:17])


def share(row: str) -> str:
    return row[10:19].strip()


@pytest.mark.parametrize("machine", ["48", "128"])
def test_fuse_learns_what_skoolkit_learns(tmp_path: Path, machine: str) -> None:
    wanted, seconds = after_a_pass()
    with Fuse(tmp_path, made().tap, machine) as fuse:
        fuse.wait_text(20, "It has learned nothing so far.")
        fuse.hold("l")
        fuse.wait_text(1, "correcting: pass  2 of", 2 * seconds + 60)
        text = fuse.text()
        assert share(text[SHARE_ROW]) == wanted
        assert float(text[TIME_ROW][10:17]) == pytest.approx(seconds, rel=0.1)
        fuse.hold("r")
        fuse.wait_text(22, "SPACE next")
        fuse.hold("Shift_L", "space", seconds=1)
        fuse.wait_text(23, "0 OK, 50:4")
