"""NumPy in float32: the matrix products are BLAS's."""

from __future__ import annotations

import numpy as np

from zxml.gpu.nets.oracle import OracleTrainer, measure_accuracy
from zxml.gpu.nets.shape import NetShape, initial_params
from zxml.peers.peer import BenchData, Report, Score, time_epochs


def train(shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report) -> Score:
    """Train on the CPU; see `Peer.train`."""
    trainer = OracleTrainer(shape, initial_params(shape, seed), np.float32)
    pixels = data.pixels.astype(np.float32)
    rng = np.random.default_rng([seed, 1])

    def learn(epoch: int) -> None:
        order = rng.permutation(len(pixels))
        for start in range(0, len(order) - shape.batch + 1, shape.batch):
            chosen = order[start : start + shape.batch]
            trainer.step(pixels[chosen], data.labels[chosen])

    ms = time_epochs(learn, epochs, report)
    return Score(ms, measure_accuracy(shape, trainer.params, data.test_pixels, data.test_labels))
