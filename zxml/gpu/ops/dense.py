"""Dense layers to a few units (kernels/ops/dense.cl, dense_samples.cl)."""

from __future__ import annotations

from zxml.gpu.ops.sums import add_parts
from zxml.gpu.ops.workspace import Buffer, Launch, Op, Workspace

GROUP = 64
CHUNKS = 16  # parts of a batch over which the gradients of the weights are added up apart


class Dense:
    """The operation and its buffers: scores, score_grad (batch, units)."""

    def __init__(self, space: Workspace, name: str, taken: tuple[Buffer, Buffer], quantised: bool = True) -> None:
        """Build it for the parameters NAME.weight (inputs, units) and NAME.bias (units,), rounded if quantised.

        taken: what comes in, (batch, inputs), and its gradient, which the backward step writes. The loss makes the gradient of
        the bias.
        """
        batch, (inputs, units) = space.batch, space.shapes[f"{name}.weight"]
        chunks = min(CHUNKS, batch)
        self.scores, self.score_grad = space.zeros(batch, units), space.zeros(batch, units)
        parts = space.zeros(chunks, inputs, units)
        sizes = {
            **{"BATCH": batch, "INPUTS": inputs, "UNITS": units, "CHUNKS": chunks, "QUANTISED": int(quantised)},
            **{"WEIGHT": space.at(f"{name}.weight"), "BIAS": space.at(f"{name}.bias")},
        }
        make = space.maker("dense", sizes)
        into, grad = taken
        back: tuple[Launch, ...]
        if space.by_sample:
            alone, turned = space.maker("dense_samples", sizes), space.zeros(units, inputs)
            forward = alone("dense_forward", (into, space.params, self.scores), (batch,), (1,))
            turn = alone("dense_turn", (space.params, turned), (units,), (1,))
            back = (turn, alone("dense_backward", (turned, self.score_grad, grad), (batch,), (1,)))
        else:
            forward = make("dense_forward", (into, space.params, self.scores), (batch * GROUP,), (GROUP,))
            back = (make("dense_backward", (space.params, self.score_grad, grad), (batch * inputs,)),)
        self.op = Op(
            (forward,),
            (
                make("dense_weight_grad", (into, self.score_grad, parts), (inputs, chunks)),
                add_parts(space, parts, chunks, f"{name}.weight"),
                *back,
            ),
        )
