"""Convolutions of maps, and dense layers as convolutions of 1 x 1 (kernels/ops/conv.cl, conv_weight.cl)."""

from __future__ import annotations

from zxml.gpu.ops.sums import add_parts
from zxml.gpu.ops.workspace import Buffer, Launch, Macro, Op, Workspace

TALL, SIDE, WIDEST = 64, 16, 32  # of conv.cl
GROUPS = 512  # that share the places when the gradients of the weights are added up


class Conv:
    """The operation and its buffers: sums, sums_grad (batch, rows, cols, units) of the places of its window."""

    def __init__(
        self,
        space: Workspace,
        name: str,
        taken: tuple[Buffer, Buffer | None],
        shape: tuple[int, int, int],
        quantised: bool = True,
        stride: int = 1,
    ) -> None:
        """Build it for the parameter NAME.weight (side, side, channels, units), rounded in the forward step if quantised.

        taken: the map (batch, *shape) that comes in, and its gradient, which the backward step writes, or None if nobody wants
        it; shape: rows, cols, channels; stride: of the window over the map.
        """
        batch, (rows, cols, channels) = space.batch, shape
        side, _, _, units = space.shapes[f"{name}.weight"]
        inputs, edge = side * side * channels, side - 1
        self.shape = ((rows - side) // stride + 1, (cols - side) // stride + 1, units)
        self.sums, self.sums_grad = space.zeros(batch, *self.shape), space.zeros(batch, *self.shape)
        weight, turned = space.zeros(inputs, units), space.zeros(inputs, units)
        tiles = -(-units // _wide(units)) * -(-inputs // TALL)
        chunks = max(16, min(128, GROUPS // tiles))
        parts = space.zeros(chunks, inputs, units)
        weigh = space.maker(
            "conv_weight",
            {
                **{"CHANNELS": channels, "UNITS": units, "WINDOW": side, "WEIGHT": space.at(f"{name}.weight")},
                "QUANTISED": int(quantised),
            },
        )
        size: dict[str, Macro] = {"BATCH": batch, "CHUNKS": chunks, "WINDOW": side}
        there = _macros(shape, self.shape) | {"PAD": 0, "STRIDE": stride, "SPREAD": 1}
        back = _macros(self.shape, shape) | {"PAD": edge, "STRIDE": 1, "SPREAD": stride}
        make = space.maker("conv", size | there)
        places, group = batch * self.shape[0] * self.shape[1], (SIDE, SIDE)
        map_in, map_grad = taken
        grid = (_groups(units, _wide(units)), _groups(inputs, TALL), chunks)
        to_map: tuple[Launch, ...] = ()
        if map_grad is not None:
            count = (_groups(channels, _wide(channels)), _groups(batch * rows * cols, TALL))
            to_map = (space.maker("conv", size | back)("conv", (self.sums_grad, turned, map_grad), count, group),)
        self.op = Op(
            (
                weigh("conv_weight", (space.params, weight, turned), (inputs * units,)),
                make("conv", (map_in, weight, self.sums), (_groups(units, _wide(units)), _groups(places, TALL)), group),
            ),
            (
                make("conv_weight_grad", (map_in, self.sums_grad, parts), grid, (*group, 1)),
                add_parts(space, parts, chunks, f"{name}.weight"),
                *to_map,
            ),
        )


def _macros(taken: tuple[int, int, int], given: tuple[int, int, int]) -> dict[str, Macro]:
    """Return the sizes of conv.cl for a map of one shape to one of another."""
    names = ("IN_ROWS", "IN_COLS", "CHANNELS", "OUT_ROWS", "OUT_COLS", "UNITS")
    return {**dict(zip(names, (*taken, *given), strict=True)), "WIDE": _wide(given[2])}


def _wide(units: int) -> int:
    """Return how many units wide a tile is."""
    return min(WIDEST, -(-units // SIDE) * SIDE)


def _groups(count: int, tile: int) -> int:
    """Return the work-items in one dimension that make tiles over count."""
    return -(-count // tile) * SIDE
