"""Codes of places, as maps of one channel a code (kernels/ops/codebook.cl)."""

from __future__ import annotations

import numpy as np

from zxml.gpu.ops.workspace import Buffer, Op, Workspace

BYTES = 256
CHUNKS = 128  # of a batch, whose gradients are added up apart
GRAD_GROUP = 256


class Codes:
    """The operation and its buffers: code (256,) uint8; map, map_grad (batch, rows, cols, codes)."""

    def __init__(self, space: Workspace, name: str, packed: Buffer, bits_grad: Buffer, shape: tuple[int, int, int]) -> None:
        """Build it for the parameter NAME.choice (256, codes).

        packed: (batch, rows, cols) uint32, of which the low eight bits count; bits_grad: (batch, *shape), which the backward
        step writes; shape: rows, cols, bits of a place.
        """
        batch, (rows, cols, width) = space.batch, shape
        codes = space.shapes[f"{name}.choice"][1]
        places, chunks = rows * cols, min(CHUNKS, batch)
        self.shape = (rows, cols, codes)
        self.map, self.map_grad = space.zeros(batch, *self.shape), space.zeros(batch, *self.shape)
        self.code, chance = space.zeros(BYTES, dtype=np.uint8), space.zeros(BYTES, codes)
        sums = space.zeros(BYTES, codes, dtype=np.int32)
        make = space.maker(
            "codebook",
            {
                **{"BATCH": batch, "PLACES": places, "CODES": codes, "CHUNKS": chunks, "WIDTH": width},
                "CHOICE": space.at(f"{name}.choice"),
            },
        )
        seen = (packed, chance, self.map_grad, bits_grad, sums)
        self.op = Op(
            (
                make("codebook_table", (space.params, self.code, chance, sums), (BYTES,)),
                make("code_map", (packed, self.code, self.map), (batch * places,)),
            ),
            (
                make("codebook_backward", seen, (chunks * GRAD_GROUP,), (GRAD_GROUP,)),
                make("codebook_grad", (sums, chance, space.grads), (BYTES,)),
            ),
        )
