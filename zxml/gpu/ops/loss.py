"""Losses: softmax cross-entropy or squared error (kernels/ops/loss.cl)."""

from __future__ import annotations

from zxml.gpu.ops.workspace import Buffer, Op, Workspace

GROUP = 64


def loss(
    space: Workspace,
    name: str,
    scores: tuple[Buffer, Buffer],
    labels: Buffer,
    scale: float = 1.0,
    squared: bool = False,
) -> Op:
    """Return the operation: its forward step writes the gradient of the scores, (batch, units), its backward step the sums.

    It serves the parameters NAME.bias (units,) and, for cross-entropy, NAME.temperature (1,). labels: (n,) uint8; scale: what a
    score is worth in real numbers.
    """
    units = space.shapes[f"{name}.bias"][0]
    parts = space.zeros(space.batch, 2)
    make = space.maker(
        "loss",
        {
            **{"BATCH": space.batch, "UNITS": units, "SQUARED": int(squared), "SCALE": float(scale)},
            **{"GROUP": GROUP, "BIAS": space.at(f"{name}.bias")},
            "TEMPERATURE": 0 if squared else space.at(f"{name}.temperature"),
        },
    )
    values, grad = scores
    arguments = (values, labels, space.order, space.state, space.params, grad, parts)
    sums = (grad, parts, space.grads, space.losses)
    return Op(
        (make("loss", arguments, (space.batch,)),),
        (make("loss_sums", sums, ((units + 1) * GROUP,), (GROUP,)),),
    )
