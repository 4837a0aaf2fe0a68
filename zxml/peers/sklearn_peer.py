"""scikit-learn's MLPClassifier."""

from __future__ import annotations

import numpy as np
from sklearn.neural_network import MLPClassifier

from zxml.gpu.nets.shape import NetShape
from zxml.peers.peer import BenchData, Report, Score, time_epochs


def train(shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report) -> Score:
    """Train on the CPU; its own start, and batches whose last is short; see `Peer.train`."""
    net = MLPClassifier(
        shape.hidden,
        solver="sgd",
        alpha=0.0,
        batch_size=shape.batch,
        learning_rate_init=shape.rate,
        momentum=shape.momentum,
        nesterovs_momentum=False,
        random_state=seed,
    )
    pixels, classes = data.pixels.astype(np.float32), np.arange(shape.classes)
    ms = time_epochs(lambda epoch: net.partial_fit(pixels, data.labels, classes=classes), epochs, report)
    return Score(ms, float(net.score(data.test_pixels.astype(np.float32), data.test_labels)))
