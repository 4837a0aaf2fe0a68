"""JAX: a whole epoch compiled, a scan over its steps; and many models at once, mapped."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other engines need the memory too

import jax
import jax.numpy as jnp
import numpy as np

from zxml.gpu.nets.oracle import measure_accuracy
from zxml.gpu.nets.shape import NetShape, initial_params
from zxml.peers.peer import BenchData, Report, Score, time_epochs

UNROLL = 4  # steps of the scan

Arrays = Any


def train(shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report) -> Score:
    """Train one model with products in full float32; see `Peer.train`."""
    with jax.default_matmul_precision("highest"):
        return _train(shape, data, epochs, seed, gpu, report, models=0)


def train_many(models: int, shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report) -> Score:
    """Train so many models at once at the default precision; the time is a model's, the accuracy the first's."""
    return _train(shape, data, epochs, seed, gpu, report, models)


def _train(shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report, models: int) -> Score:
    with jax.default_device(jax.devices("gpu" if gpu else "cpu")[0]):
        pixels, labels = jnp.asarray(data.pixels, jnp.float32), jnp.asarray(data.labels, jnp.int32)
        epoch_of = _make_epoch(shape, pixels, labels, 1 if models else UNROLL)
        starts = [initial_params(shape, seed + model) for model in range(max(1, models))]
        params = [jnp.asarray(np.stack(arrays) if models else arrays[0]) for arrays in zip(*starts, strict=True)]
        state = (params, [jnp.zeros_like(array) for array in params])
        run = jax.jit(jax.vmap(epoch_of) if models else epoch_of)

        def learn(epoch: int) -> None:
            nonlocal state
            key = jax.random.fold_in(jax.random.key(seed), epoch)
            state = jax.block_until_ready(run(state, jax.random.split(key, models) if models else key))

        ms = time_epochs(learn, epochs, report) / max(1, models)
        final = [np.asarray(array[0] if models else array) for array in state[0]]
    return Score(ms, measure_accuracy(shape, final, data.test_pixels, data.test_labels))


def _make_epoch(shape: NetShape, pixels: Arrays, labels: Arrays, unroll: int) -> Any:
    steps = len(labels) // shape.batch

    def loss(params: Arrays, x: Arrays, y: Arrays) -> Arrays:
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(_run_scores(shape, params, x)), y[:, None], 1))

    def step(state: Arrays, chosen: Arrays) -> tuple[Arrays, None]:
        params, moments = state
        gradients = jax.grad(loss)(params, pixels[chosen], labels[chosen])
        moments = [shape.momentum * moment + gradient for moment, gradient in zip(moments, gradients, strict=True)]
        return ([array - shape.rate * moment for array, moment in zip(params, moments, strict=True)], moments), None

    def epoch(state: Arrays, key: Arrays) -> Arrays:
        order = jax.random.permutation(key, len(labels))[: steps * shape.batch].reshape(steps, shape.batch)
        return jax.lax.scan(step, state, order, unroll=unroll)[0]

    return epoch


def _run_scores(shape: NetShape, params: Arrays, x: Arrays) -> Arrays:
    if shape.filters:
        kernel = params[0].reshape(shape.filters, 1, 3, 3)
        sums = jax.lax.conv_general_dilated(x.reshape(-1, 1, shape.rows, shape.cols), kernel, (1, 1), "VALID")
        sums += params[1][None, :, None, None]
        most = jax.lax.reduce_window(sums, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x, params = jax.nn.relu(most).reshape(len(x), -1), params[2:]
    for layer in range(0, len(params), 2):
        x = x @ params[layer] + params[layer + 1]
        x = jax.nn.relu(x) if layer + 2 < len(params) else x
    return x
