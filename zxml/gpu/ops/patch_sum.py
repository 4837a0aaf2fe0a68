"""Sums of learned rows, one for each pattern of each patch of one-bit pictures (kernels/ops/patch_sum.cl)."""

from __future__ import annotations

import numpy as np

from zxml.gpu.ops.sums import add_parts
from zxml.gpu.ops.workspace import GROUP, Buffer, Op, Workspace
from zxml.ir import Window

PARTS = 8  # of a batch, whose gradients are added up apart
LANES = 32  # units of a group of the gradient's kernel


class PatchSum:
    """The operation and its buffers: sums, sums_grad (batch, 1, 1, units), a map of one place."""

    def __init__(
        self, space: Workspace, name: str, window: Window, patch: tuple[int, int], pictures: Buffer, quantised: bool = True
    ) -> None:
        """Build it for the parameter NAME.rows (patches, patterns - 1, units), rounded in the forward step if quantised.

        If there is a parameter NAME.bias (units,), sums start from it, and the loss makes its gradient. patch: rows and cols of
        a patch, at most 8 pixels, of which a whole number fills the window; pictures: a buffer of (n, 28) uint32, a bit a
        pixel, bit 0 leftmost.
        """
        (high, wide), batch = patch, space.batch
        patches, patterns, units = space.shapes[f"{name}.rows"]
        parts = min(PARTS, batch)
        self.shape = (1, 1, units)
        self.sums, self.sums_grad = space.zeros(batch, *self.shape), space.zeros(batch, *self.shape)
        seen, sums = space.zeros(batch, patches, dtype=np.uint8), space.zeros(parts, patches, patterns, units)
        biased = f"{name}.bias" in space.shapes
        make = space.maker(
            "patch_sum",
            {
                **{"BATCH": batch, "TOP": window.top, "LEFT": window.left, "PATCH_ROWS": high, "PATCH_COLS": wide},
                **{"DOWN": window.rows // high, "ACROSS": window.cols // wide, "UNITS": units, "PARTS": parts},
                **{"QUANTISED": int(quantised), "BIASED": int(biased), "ROWS_AT": space.at(f"{name}.rows")},
                "BIAS": space.at(f"{name}.bias") if biased else 0,
            },
        )
        forward = (pictures, space.order, space.state, space.params, seen, self.sums)
        grid = (patches * LANES, -(-units // LANES), parts)
        self.op = Op(
            (make("patch_sum", forward, (batch * GROUP,), (GROUP,)),),
            (
                make("patch_sum_grad", (seen, self.sums_grad, sums), grid, (LANES, 1, 1)),
                add_parts(space, sums, parts, f"{name}.rows"),
            ),
        )
