"""Pictures as maps of zeros and ones, for operations on real numbers (kernels/ops/pixels.cl)."""

from __future__ import annotations

from zxml.gpu.ops.workspace import Buffer, Op, Workspace
from zxml.ir import Window


class Pixels:
    """The operation and its buffer: map (batch, rows, cols, 1); it has no gradient."""

    def __init__(self, space: Workspace, window: Window, pictures: Buffer) -> None:
        """Build it; pictures: a buffer of (n, 28) uint32, a bit a pixel, bit 0 leftmost."""
        self.shape = (window.rows, window.cols, 1)
        self.map = space.zeros(space.batch, *self.shape)
        make = space.maker(
            "pixels",
            {"BATCH": space.batch, "TOP": window.top, "LEFT": window.left, "ROWS": window.rows, "COLS": window.cols},
        )
        arguments = (pictures, space.order, space.state, self.map)
        self.op = Op((make("pixels", arguments, (space.batch * window.rows * window.cols,)),))
