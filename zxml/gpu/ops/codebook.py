"""Codes of places and sums of learned rows, one for each code at each place (kernels/ops/codebook.cl)."""

from __future__ import annotations

import numpy as np

from zxml.gpu.ops.sums import add_parts
from zxml.gpu.ops.workspace import GROUP, Buffer, Op, Workspace

BYTES = 256
CHUNKS, PARTS = 128, 8  # of a batch, whose gradients are added up apart
GRAD_GROUP = 256


class CodeSum:
    """The operation and its buffers: code (256,) uint8; scores, score_grad (batch, units)."""

    def __init__(self, space: Workspace, choice: str, name: str, packed: Buffer, map_grad: Buffer, width: int) -> None:
        """Build it for the parameters CHOICE (256, codes), NAME.rows (places, codes, units) and NAME.bias (units,).

        packed: (batch, places) uint32, of which the low eight bits count; map_grad: (batch, places, width), which the backward
        step writes.
        """
        batch = space.batch
        places, codes, units = space.shapes[f"{name}.rows"]
        chunks, parts = min(CHUNKS, batch), min(PARTS, batch)
        row_parts = space.zeros(parts, places, codes, units)
        self.code, chance = space.zeros(BYTES, dtype=np.uint8), space.zeros(BYTES, codes)
        self.scores, self.score_grad = space.zeros(batch, units), space.zeros(batch, units)
        chosen, sums = space.zeros(batch, places, dtype=np.uint8), space.zeros(BYTES, codes, dtype=np.int32)
        make = space.maker(
            "codebook",
            {
                **{"BATCH": batch, "PLACES": places, "CODES": codes, "UNITS": units, "CHUNKS": chunks},
                **{"PARTS": parts, "GROUP": GROUP, "WIDTH": width},
                **{"CHOICE": space.at(choice), "ROWS_AT": space.at(f"{name}.rows"), "BIAS": space.at(f"{name}.bias")},
            },
        )
        group = -(-codes * units // 32) * 32
        backward = (space.params, packed, chance, self.score_grad, map_grad, sums)
        self.op = Op(
            (
                make("codebook_table", (space.params, self.code, chance, sums), (BYTES,)),
                make("code_sum", (space.params, packed, self.code, chosen, self.scores), (batch * GROUP,), (GROUP,)),
            ),
            (
                make("code_sum_grad", (chosen, self.score_grad, row_parts), (places * group, parts), (group, 1)),
                add_parts(space, row_parts, parts, f"{name}.rows"),
                make("codebook_backward", backward, (chunks * GRAD_GROUP,), (GRAD_GROUP,)),
                make("codebook_grad", (sums, chance, space.grads), (BYTES,)),
            ),
        )
