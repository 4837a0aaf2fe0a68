"""Learned 3 x 3 tables on one-bit pictures with 2 x 2 pooling (kernels/ops/patch_conv.cl)."""

from __future__ import annotations

import numpy as np

from zxml.gpu.ops.workspace import GROUP, Buffer, Op, Workspace
from zxml.ir import PATCH_SIDE, Window

PATTERNS = 1 << PATCH_SIDE**2
CHUNKS = 128  # groups that add up the gradients of their part of the batch
LANES = 8  # filters of a group of the gradient's kernel
GRAD_GROUP = 256


class PatchConv:
    """The operation and its buffers: packed (batch, places) uint32; map, map_grad (batch, rows, cols, filters)."""

    def __init__(
        self, space: Workspace, name: str, window: Window, pictures: Buffer, spare: float = 0.0, levels: int = 1
    ) -> None:
        """Build it for the parameters NAME.linear (9, filters), NAME.bias and NAME.free (512, filters).

        pictures: a buffer of (n, 28) uint32, a bit a pixel, bit 0 leftmost; spare: what a feature adds to the loss a level;
        levels: the greatest that a feature can be, filters * levels at most 32.
        """
        filters = space.shapes[f"{name}.bias"][0]
        rows, cols = window.rows - PATCH_SIDE + 1, window.cols - PATCH_SIDE + 1
        self.shape = (-(-rows // 2), -(-cols // 2), filters)
        places, batch = self.shape[0] * self.shape[1], space.batch
        chunks = min(CHUNKS, batch)
        self.packed = space.zeros(batch, places, dtype=np.uint32)
        self.map, self.map_grad = space.zeros(batch, *self.shape), space.zeros(batch, *self.shape)
        bits, real = space.zeros(PATTERNS, dtype=np.uint32), space.zeros(PATTERNS, filters)
        sums = space.zeros(PATTERNS, filters, dtype=np.int32)
        make = space.maker(
            "patch_conv",
            {
                **{"BATCH": batch, "TOP": window.top, "LEFT": window.left, "ROWS": rows, "COLS": cols},
                **{"FILTERS": filters, "LEVELS": levels, "CHUNKS": chunks, "SPARE": float(spare)},
                **{part.upper(): space.at(f"{name}.{part}") for part in ("linear", "bias", "free")},
            },
        )
        seen = (pictures, space.order, space.state, bits)
        groups = (chunks * GRAD_GROUP, filters // LANES)
        self.op = Op(
            (
                make("patch_table", (space.params, real, bits, sums), (PATTERNS,)),
                make("patch_forward", (*seen, self.packed, self.map), (batch * places,)),
            ),
            (
                make("patch_backward", (*seen, self.packed, self.map_grad, sums), groups, (GRAD_GROUP, 1)),
                make("patch_free_grad", (sums, real, space.grads), (PATTERNS * filters,)),
                make("patch_linear_grad", (space.grads,), (10 * filters * GROUP,), (GROUP,)),
            ),
        )
