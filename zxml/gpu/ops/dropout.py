"""Dropout: values left out of a step at random (kernels/ops/dropout.cl)."""

from __future__ import annotations

from zxml.gpu.ops.workspace import Buffer, Op, Workspace

WORDS = 1 << 32


class Dropout:
    """The operation and its buffers: map, map_grad (batch, inputs)."""

    def __init__(self, space: Workspace, taken: tuple[Buffer, Buffer], inputs: int, part: float) -> None:
        """Build it.

        taken: what comes in, (batch, inputs), and its gradient, which the backward step writes; part: of the values that a step
        leaves out, below 1. Source: Srivastava et al., Dropout, JMLR 15 (2014).
        """
        self.map, self.map_grad = space.zeros(space.batch, inputs), space.zeros(space.batch, inputs)
        make = space.maker(
            "dropout",
            {
                **{"UINTS": "uint", "BATCH": space.batch, "INPUTS": inputs},
                **{"LEAST": f"{round(part * WORDS)}U", "SCALE": 1 / (1 - part)},
            },
            "hash.cl",
        )
        (into, grad), size, drawn = taken, (space.batch * inputs,), (space.order, space.state)
        self.op = Op(
            (make("dropout", (into, *drawn, self.map), size),),
            (make("dropout", (self.map_grad, *drawn, grad), size),),
        )
