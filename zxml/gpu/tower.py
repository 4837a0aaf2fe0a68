"""A tower (`zxml.spec.TowerSpec`) in training on a device: its operations in order, and its parameters in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.ops.codebook import Codes
from zxml.gpu.ops.conv import Conv
from zxml.gpu.ops.dense import Dense
from zxml.gpu.ops.dropout import Dropout
from zxml.gpu.ops.loss import loss
from zxml.gpu.ops.norm import STATS, NormActivation
from zxml.gpu.ops.optimiser import update
from zxml.gpu.ops.patch_conv import PatchConv
from zxml.gpu.ops.workspace import Buffer, Op, Workspace
from zxml.ir import Layer, Window
from zxml.quant.fake import SAFE_PART
from zxml.quant.tower import CLASSES, HALF_RANGE, Param, Reals, Statistics, export_tower, initial_tower
from zxml.spec import ModelSpec, TowerSpec

SHARED = ("front.", "codes.")  # what the names of the parameters start with that a shared tower takes from the one before


class Tower:
    """One tower in training."""

    def __init__(
        self,
        queue: Any,
        spec: ModelSpec,
        number: int,
        pictures: Buffer,
        labels: NDArray[np.uint8],
        steps: int,
        before: Mapping[str, Reals] | None = None,
    ) -> None:
        """Build tower `number` of a spec.

        pictures: a buffer of (n, 28) uint32; labels: (n,); steps: the most an epoch has; before: the parameters of the tower
        before, whose codes a shared one takes.
        """
        self.tower: TowerSpec = spec.towers[number]
        params = initial_tower(self.tower, np.random.default_rng([spec.seed, 2, number]))
        if self.tower.shared:
            assert before is not None
            params |= {name: Param(before[name]) for name in params if name.startswith(SHARED)}
        self.space = Workspace(queue, spec.training.batch, steps, params)
        self.pictures, self._labels = pictures, self.space.buffer(labels, np.uint8)
        self.norms: list[NormActivation] = []
        ops = self._ops(spec)
        learn = update(self.space, spec.training.optimiser, spec.training.momentum).forward
        self._scoring = [*(launch for op in ops[:-1] for launch in op.forward), learn[-1]]  # no loss; on to the next batch
        forward = [launch for op in ops for launch in op.forward]
        backward = [launch for op in reversed(ops) for launch in op.backward]
        self.launches = (*forward, *backward, *learn)

    def start_epoch(self, order: NDArray[np.uint32], rates: NDArray[np.float64]) -> None:
        """Set the pictures (steps, batch) and the rates (steps, 4) of the next steps, and the loss to 0."""
        space = self.space
        space.write(space.order, order, np.uint32)
        space.write(space.rates, rates)
        space.write(space.state, np.zeros(1), np.uint32)
        space.write(space.losses, np.zeros(1))

    def run(self, steps: int) -> None:
        """Run so many steps and wait for them."""
        for _ in range(steps):
            self.space.run(self.launches)
        self.space.queue.finish()

    def score(self, order: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the scores, whole numbers, of pictures as they are on the device, (steps * batch, 10).

        order: the pictures' numbers, (steps, batch).
        """
        space, nbytes = self.space, 4 * self.space.batch * CLASSES
        found = cl.Buffer(space.queue.context, cl.mem_flags.READ_WRITE, len(order) * nbytes)
        space.write(space.order, order, np.uint32)
        space.write(space.state, np.zeros(1), np.uint32)
        for step in range(len(order)):
            space.run(self._scoring)
            cl.enqueue_copy(space.queue, found, self._scores, byte_count=nbytes, dst_offset=step * nbytes)
        return np.asarray(np.rint(space.read(found, order.size, CLASSES)), np.int64)

    def loss_sum(self) -> float:
        """Return the sum of the losses of the steps since the epoch's start, each the mean over its batch."""
        return float(self.space.read(self.space.losses, 1)[0]) / self.space.batch

    def layers(self, prefix: str = "") -> tuple[Layer, ...]:
        """Return the tower as it is now, as integer layers whose names start with the prefix."""
        return export_tower(self.tower, self.values(), self.statistics(), prefix)

    def values(self) -> dict[str, Reals]:
        """Return the parameters by name."""
        return self.space.named(self.space.params)

    def statistics(self) -> list[Statistics]:
        """Return the running mean and variance of each convolution's sums."""
        tables = [self.space.read(norm.stats, STATS, norm.shape[2]).astype(np.float64) for norm in self.norms]
        return [Statistics(table[2], table[3]) for table in tables]

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Return all that the next step depends on: parameters, moments, averages, and the convolutions' statistics."""
        space = self.space
        flat = {name: space.read(buffer, space.count) for name, buffer in self._flat().items()}
        return flat | {f"stats{i}": space.read(norm.stats, STATS, norm.shape[2]) for i, norm in enumerate(self.norms)}

    def restore(self, state: dict[str, NDArray[np.float32]]) -> None:
        """Go on from what `state` returned."""
        for name, buffer in self._flat().items():
            self.space.write(buffer, state[name])
        for i, norm in enumerate(self.norms):
            self.space.write(norm.stats, state[f"stats{i}"])

    def _flat(self) -> dict[str, Buffer]:
        space = self.space
        return {"params": space.params, "first": space.first, "second": space.second, "average": space.average}

    def _ops(self, spec: ModelSpec) -> list[Op]:
        space, tower = self.space, self.tower
        ops, taken, shape = self._front()
        for number, conv in enumerate(tower.convs, 1):
            sums = Conv(space, f"conv{number}", taken, shape, stride=conv.stride)
            norm = self._activation(spec, f"conv{number}", sums, conv.levels, conv.pool)
            self.norms.append(norm)
            ops, taken, shape = [*ops, sums.op, norm.op], (norm.map, norm.map_grad), norm.shape
        if tower.hidden.units:
            hidden = Conv(space, "hidden", taken, (1, 1, int(np.prod(shape))))
            levels = self._activation(spec, "hidden", hidden, tower.hidden.levels, scale=2.0**-tower.hidden.shift)
            ops, taken = [*ops, hidden.op, levels.op], (levels.map, levels.map_grad)
        if tower.dropout:
            dropout = Dropout(space, taken, space.shapes["scores.weight"][0], tower.dropout)
            ops, taken = [*ops, dropout.op], (dropout.map, dropout.map_grad)
        dense = Dense(space, "scores", taken)
        self._scores = dense.scores
        return [*ops, dense.op, self._loss(dense.scores, dense.score_grad)]

    def _front(self) -> tuple[list[Op], tuple[Buffer, Buffer | None], tuple[int, int, int]]:
        """Return the operations of features and codes, the map with its gradient that they put out, and its shape."""
        space, tower, window = self.space, self.tower, self.tower.window
        seen = Window(window.top, window.left, window.rows, window.cols)
        front = PatchConv(space, "front", seen, self.pictures, tower.spare, tower.levels)
        if not tower.codes:
            return [front.op], (front.map, front.map_grad), front.shape
        codes = Codes(space, "codes", front.packed, front.map_grad, front.shape)
        if tower.shared:  # nothing before the codes learns
            return [Op(front.op.forward, ()), Op(codes.op.forward, ())], (codes.map, None), codes.shape
        return [front.op, codes.op], (codes.map, codes.map_grad), codes.shape

    def _activation(
        self, spec: ModelSpec, name: str, sums: Conv, levels: int, pooled: bool = False, scale: float = 0.0
    ) -> NormActivation:
        pair, push = (sums.sums, sums.sums_grad), spec.training.range_penalty
        return NormActivation(self.space, name, pair, sums.shape, levels, pooled, SAFE_PART * HALF_RANGE, push, scale)

    def _loss(self, scores: Buffer, score_grad: Buffer) -> Op:
        return loss(self.space, "scores", (scores, score_grad), self._labels, self.tower.weight_step)
