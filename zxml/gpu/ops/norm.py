"""Batch normalisation, an activation and 2 x 2 pooling in one (kernels/ops/norm.cl)."""

from __future__ import annotations

from zxml.gpu.ops.workspace import Buffer, Op, Workspace

CHUNKS = 64  # parts of the places over which sums are added up apart
GROUP = 256
MEMORY = 0.02  # of the running averages of mean and variance
STATS = 5  # rows of the statistics
RELU = 0  # as a number of levels


class NormActivation:
    """The operation and its buffers: map, map_grad (batch, rows, cols, units); stats (4, units), see the kernels' header."""

    def __init__(
        self,
        space: Workspace,
        name: str,
        taken: tuple[Buffer, Buffer],
        shape: tuple[int, int, int],
        levels: int,
        pooled: bool,
        safe: float = 0.0,
        push: float = 0.0,
        scale: float = 0.0,
        quantised: bool = True,
    ) -> None:
        """Build it for the parameters NAME.gain (unless scale is given) and NAME.shift (units,).

        taken: the sums (batch, *shape) that come in, and their gradient, which the backward step writes; levels: of the
        activation, RELU for none; safe, push: sums farther from their threshold than safe are pushed back so hard; scale: if it
        is not 0, nothing is normalised, but sums plus shift, which is rounded if quantised, are multiplied with it.
        """
        rows, cols, units = shape
        self.shape = (-(-rows // 2), -(-cols // 2), units) if pooled else shape
        batch, count = space.batch, space.batch * rows * cols * units
        self.map, self.map_grad = space.zeros(batch, *self.shape), space.zeros(batch, *self.shape)
        self.stats = space.zeros(STATS, units)
        sums, means = space.zeros(CHUNKS, 2, units), space.zeros(2, units)
        make = space.maker(
            "norm",
            {
                **{"BATCH": batch, "ROWS": rows, "COLS": cols, "UNITS": units, "CHUNKS": CHUNKS, "POOLED": int(pooled)},
                **{"LEVELS": levels, "SAFE": float(safe), "PUSH": float(push), "MEMORY": MEMORY},
                **{"QUANTISED": int(quantised), "SCALE": float(scale)},
                **{"GAIN": 0 if scale else space.at(f"{name}.gain"), "SHIFT": space.at(f"{name}.shift")},
            },
        )
        (into, grad), out = taken, batch * self.shape[0] * self.shape[1] * units
        parted = ((CHUNKS * GROUP,), (GROUP,))
        seen = (into, space.params, self.stats)
        statistics = (make("norm_sums", (into, sums), *parted), make("norm_stats", (sums, self.stats), (units,)))
        self.op = Op(
            (*(() if scale else statistics), make("norm_forward", (*seen, self.map), (out,))),
            (
                make("norm_slope", (*seen, self.map_grad, grad), (out,)),
                make("norm_grad_sums", (into, self.stats, grad, sums), *parted),
                make("norm_param_grad", (sums, space.params, space.grads, means), (units,)),
                make("norm_backward", (*seen, means, grad), (count,)),
            ),
        )
