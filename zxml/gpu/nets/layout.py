"""How the parameters of each net lie in the buffers of each shape of kernels, and which launches make a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zxml.gpu.nets.shape import NetShape, Params

GROUP, CONV_GROUP = 512, 256  # work-items of a work-group on a GPU: what is fastest on an NVIDIA H200
LANES = 16

State = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Launch:
    """A kernel, the buffers that are its arguments, and how many groups of how many work-items run it."""

    kernel: str
    groups: int
    group: int


@dataclass(frozen=True)
class Layout:
    """One net in one shape of kernels.

    arguments: buffers, in the order of every kernel's arguments; scratch: floats of those that need not be kept; opening: what
    runs once before an epoch's steps; step: what runs each step; persistent: what runs many steps in one launch; halves: the
    buffer that odd steps leave in its second part, and the floats of a part.
    """

    files: tuple[str, ...]
    macros: dict[str, int | float | str]
    arguments: tuple[str, ...]
    scratch: dict[str, int]
    pack: Callable[[Params], State]
    unpack: Callable[[State], Params]
    step: tuple[Launch, ...]
    opening: tuple[Launch, ...] = ()
    persistent: Launch | None = None
    halves: dict[str, int] = field(default_factory=dict)


def layout_of(shape: NetShape, kind: str, group: int | None = None) -> Layout:
    """Return a net's layout; kind: tiles or groups; group: work-items of a group, if not the net's own number."""
    makers = {
        ("tiles", True): _conv_tiles,
        ("tiles", False): _mlp_tiles,
        ("groups", True): _conv_groups,
        ("groups", False): _mlp_groups,
    }
    return makers[kind, shape.filters > 0](shape, group or (CONV_GROUP if shape.filters else GROUP))


def _mlp_groups(shape: NetShape, group: int) -> Layout:
    _, first, second, classes = shape.widths
    third = (second + 1) * classes
    shares = next(n for n in range(max(1, first // second), 0, -1) if shape.batch % n == 0)
    group = max(group, second, shape.batch // shares)

    def pack(params: Params) -> State:
        w1, b1, w2, b2, w3, b3 = params
        flat = np.concatenate([w3.ravel(), b3])
        return {
            "first": _with_momentum(np.vstack([w1, b1]).T, axis=1),
            "second": _with_momentum(np.vstack([w2, b2]), axis=1),
            "third": np.concatenate([flat, flat, np.zeros_like(flat)]).astype(np.float32),
        }

    def unpack(state: State) -> Params:
        one, two = state["first"][:, 0].T, state["second"][:, 0]
        three = state["third"][:third].reshape(second + 1, classes)
        return [one[:-1], one[-1], two[:-1], two[-1], three[:-1], three[-1]]

    return Layout(
        files=("batches.cl", "spread.cl", "fused_groups.cl", "meet.cl", "mlp_groups.cl", "mlp_launches.cl"),
        macros={"FIRST": first, "SECOND": second, "CLASSES": classes, "SHARES": shares, "GROUP": group},
        arguments=(
            *("samples", "masks", "batch_labels", "first", "second", "third"),
            *("active_first", "active_second", "state"),
        ),
        scratch={"active_first": first * shape.batch, "active_second": second * shape.batch},
        pack=pack,
        unpack=unpack,
        opening=(Launch("mlp_first", first, group),),
        step=(Launch("mlp_second", first, group), Launch("mlp_learn", first, group)),
        persistent=Launch("mlp_persistent", first, group),
        halves={"third": third},
    )


def _mlp_tiles(shape: NetShape, _: int) -> Layout:
    pixels, first, second, classes = shape.widths
    one, two = padded(first), padded(second)
    batch = shape.batch

    def pack(params: Params) -> State:
        w1, b1, w2, b2, w3, b3 = params
        rows = {
            "first": np.vstack([_filled(w1, pixels, one), _filled(b1[None], 1, one)]),
            "second": np.vstack([_filled(w2, one, two), _filled(b2[None], 1, two)]),
            "third": np.vstack([_filled(w3, two, LANES), _filled(b3[None], 1, LANES)]),
        }
        turned = {"second_turned": rows["second"][:-1].T.copy(), "third_turned": rows["third"][:-1, :classes].T.copy()}
        return {name: _with_momentum(values, axis=1) for name, values in rows.items()} | turned

    def unpack(state: State) -> Params:
        w1, w2, w3 = (state[name][:, 0] for name in ("first", "second", "third"))
        params = [w1[:-1, :first], w1[-1, :first], w2[:first, :second], w2[-1, :second]]
        return [*params, w3[:second, :classes], w3[-1, :classes]]

    items = -(-pixels // 10) + one // 4 + two // 4 + 1
    return Layout(
        files=("batches.cl", "float16.cl", "vectors.cl", "mlp_tiles.cl"),
        macros={"FIRST_BLOCKS": one // LANES, "SECOND_BLOCKS": two // LANES, "CLASSES": classes},
        arguments=(
            *("samples", "masks", "batch_labels", "first", "second", "third", "second_turned", "third_turned"),
            *("active_first", "deltas_first", "active_second", "deltas_second", "score_deltas", "state"),
        ),
        scratch={
            **{"active_first": batch * one, "deltas_first": batch * one},
            **{"active_second": batch * two, "deltas_second": batch * two, "score_deltas": batch * LANES},
        },
        pack=pack,
        unpack=unpack,
        step=(Launch("mlp_tile_forward", batch // 8, 1), Launch("mlp_tile_update", items, 1)),
    )


def _conv_groups(shape: NetShape, group: int) -> Layout:
    lanes, batch = -(-shape.filters // 4) * 4, shape.batch
    group = max(group, 16 * shape.classes, 10 * lanes)
    conv = _ConvParams(shape, lanes)

    def pack(params: Params) -> State:
        dense = conv.dense(params[2]).transpose(2, 0, 1).reshape(shape.classes, -1)  # (classes, positions * lanes)
        return {
            "filters": _with_momentum(conv.filters(params), axis=0),
            "dense": _with_momentum(dense, axis=0),
            "biases": _with_momentum(params[3], axis=0),
        }

    def unpack(state: State) -> Params:
        dense = state["dense"][0].reshape(shape.classes, shape.positions, lanes).transpose(1, 2, 0)
        return conv.params(state["filters"][0], dense, state["biases"][0])

    return Layout(
        files=("batches.cl", "spread.cl", "fused_groups.cl", "meet.cl", "conv_groups.cl"),
        macros={"FILTERS": shape.filters, "CLASSES": shape.classes, "GROUP": group},
        arguments=(
            *("samples", "batch_labels", "filters", "dense", "biases"),
            *("active", "score_deltas", "filter_parts", "state"),
        ),
        scratch={
            "active": batch * shape.positions * lanes,
            "score_deltas": batch * shape.classes,
            "filter_parts": batch * 10 * lanes,
        },
        pack=pack,
        unpack=unpack,
        step=(Launch("conv_pass", batch, group), Launch("conv_learn", batch, group)),
        persistent=Launch("conv_persistent", batch, group),
    )


def _conv_tiles(shape: NetShape, _: int) -> Layout:
    batch, conv = shape.batch, _ConvParams(shape, LANES)

    def pack(params: Params) -> State:
        biases = _filled(params[3][None], 1, LANES)[0]
        return {
            "filters": _with_momentum(conv.filters(params), axis=1),
            "dense": _with_momentum(conv.dense(params[2]).transpose(0, 2, 1), axis=0),  # (2, positions, classes, lanes)
            "biases": _with_momentum(biases, axis=0),
        }

    def unpack(state: State) -> Params:
        return conv.params(state["filters"][:, 0], state["dense"][0].transpose(0, 2, 1), state["biases"][0, : shape.classes])

    return Layout(
        files=("batches.cl", "float16.cl", "vectors.cl", "conv_tiles.cl"),
        macros={"FILTERS": shape.filters, "CLASSES": shape.classes},
        arguments=(
            *("samples", "batch_labels", "filters", "dense", "biases"),
            *("active", "score_deltas", "filter_parts", "state"),
        ),
        scratch={
            "active": batch * shape.positions * LANES,
            "score_deltas": batch * LANES,
            "filter_parts": batch // 8 * 10 * LANES,
        },
        pack=pack,
        unpack=unpack,
        step=(Launch("conv_tile_forward", batch // 8, 1), Launch("conv_tile_update", -(-shape.positions // 6) + 1, 1)),
    )


@dataclass(frozen=True)
class _ConvParams:
    """The parameters of a convolutional net with their filters filled up to lanes."""

    shape: NetShape
    lanes: int

    def filters(self, params: Params) -> NDArray[Any]:
        """Return (10, lanes): nine weights, then the bias."""
        return _filled(np.vstack([params[0].reshape(-1, 9).T, params[1]]), 10, self.lanes)

    def dense(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return (positions, lanes, classes)."""
        apart = weights.reshape(self.shape.filters, self.shape.positions, -1).transpose(1, 0, 2)
        return np.pad(apart, ((0, 0), (0, self.lanes - self.shape.filters), (0, 0)))

    def params(self, filters: NDArray[Any], dense: NDArray[Any], biases: NDArray[Any]) -> Params:
        """Return the parameters from filters (10, lanes), dense (positions, lanes, classes) and biases (classes,)."""
        count = self.shape.filters
        weights = dense[:, :count].transpose(1, 0, 2).reshape(count * self.shape.positions, -1)
        return [filters[:9, :count].T.reshape(count, 3, 3), filters[9, :count], weights, biases]


def padded(units: int) -> int:
    """Return the lanes that units need: the next multiple of 16."""
    return -(-units // LANES) * LANES


def _filled(values: NDArray[Any], rows: int, lanes: int) -> NDArray[Any]:
    return np.pad(values, ((0, rows - values.shape[0]), (0, lanes - values.shape[1])))


def _with_momentum(values: NDArray[Any], axis: int) -> NDArray[np.float32]:
    """Return the values and a momentum of 0, side by side on a new axis."""
    return np.stack([values, np.zeros_like(values)], axis=axis).astype(np.float32)
