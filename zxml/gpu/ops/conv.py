"""Convolutions of maps, and dense layers as convolutions of 1 x 1 (kernels/ops/conv.cl, conv_samples.cl, conv_weight.cl)."""

from __future__ import annotations

from zxml.gpu.ops.sums import add_parts
from zxml.gpu.ops.workspace import Buffer, Launch, Macro, Op, Workspace

TALL, SIDE, WIDEST = 64, 16, 32  # of conv.cl
GROUPS = 512  # that share the places when the gradients of the weights are added up
CHUNKS = 16  # on a CPU

Sizes = tuple[tuple[int, ...], tuple[int, ...]]


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
        cut: type[_Tiles | _Samples] = _Samples if space.by_sample else _Tiles
        chunks = cut.chunks(inputs, units)
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
        make = space.maker(cut.file, size | there)
        map_in, map_grad = taken
        to_map: tuple[Launch, ...] = ()
        if map_grad is not None:
            gradient = space.maker(cut.file, size | back)
            to_map = (gradient("conv", (self.sums_grad, turned, map_grad), *cut.over_places(batch, rows * cols, channels)),)
        places = self.shape[0] * self.shape[1]
        self.op = Op(
            (
                weigh("conv_weight", (space.params, weight, turned), (inputs * units,)),
                make("conv", (map_in, weight, self.sums), *cut.over_places(batch, places, units)),
            ),
            (
                make("conv_weight_grad", (map_in, self.sums_grad, parts), *cut.over_weights(inputs, units, chunks)),
                add_parts(space, parts, chunks, f"{name}.weight"),
                *to_map,
            ),
        )


class _Tiles:
    """The work of conv.cl, cut into tiles."""

    file = "conv"

    @staticmethod
    def chunks(inputs: int, units: int) -> int:
        """Return over how many parts of the places the gradients of the weights are added up."""
        tiles = -(-units // _wide(units)) * -(-inputs // TALL)
        return max(16, min(128, GROUPS // tiles))

    @staticmethod
    def over_places(batch: int, places: int, units: int) -> Sizes:
        """Return the work-items, and those of a group, that make the units of so many places a sample."""
        return (_groups(units, _wide(units)), _groups(batch * places, TALL)), (SIDE, SIDE)

    @staticmethod
    def over_weights(inputs: int, units: int, chunks: int) -> Sizes:
        """Return those that add up the gradients of the weights."""
        return (_groups(units, _wide(units)), _groups(inputs, TALL), chunks), (SIDE, SIDE, 1)


class _Samples:
    """The work of conv_samples.cl, a work-item a sample or a part of the places."""

    file = "conv_samples"

    @staticmethod
    def chunks(inputs: int, units: int) -> int:
        return CHUNKS

    @staticmethod
    def over_places(batch: int, places: int, units: int) -> Sizes:
        return (batch,), (1,)

    @staticmethod
    def over_weights(inputs: int, units: int, chunks: int) -> Sizes:
        return (chunks,), (1,)


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
