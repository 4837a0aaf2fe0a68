"""The fused nets on the device: against the float64 oracle, back end against back end, and whole trainings."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from zxml.errors import SpecError
from zxml.gpu.device import choose
from zxml.gpu.nets.engine import NetTrainer
from zxml.gpu.nets.oracle import OracleTrainer, find_gradients, measure_accuracy, run_scores
from zxml.gpu.nets.shape import NetShape, Params, initial_params
from zxml.gpu.nets.train import choose_backend, groups_fit, train_net

Bits = NDArray[np.uint8]
ROOT = Path(__file__).parents[1]
SHAPES = [
    NetShape(28, 28, (128, 64)),
    NetShape(5, 7, (6, 3), classes=4, batch=32),
    NetShape(9, 32, (33, 17), classes=16, batch=96, rate=0.3, momentum=0.5),
    NetShape(3, 1, (2, 19), classes=2, batch=64),
    NetShape(28, 28, filters=12),
    NetShape(7, 9, filters=3, classes=5, batch=32),
    NetShape(4, 32, filters=16, classes=16, batch=64, rate=0.2, momentum=0.0),
]
PERSISTENT = """
from tests.gpu_cases import open_queue
from tests.test_gpu_nets import SHAPES, steps_of
for steps in (1, 4):
    both = [steps_of(open_queue(), SHAPES[{number}], backend, steps, group=64)[0] for backend in ("groups", "persistent")]
    assert all((one == other).all() for one, other in zip(*both)), steps
print("the same bits")
"""


def draw_pictures(shape: NetShape, count: int) -> tuple[Bits, NDArray[np.uint32], Bits]:
    """Return pictures (n, rows, cols), among them empty rows, the same as words (n, rows), and labels."""
    rng = np.random.default_rng(7)
    bits = rng.random((count, shape.rows, shape.cols)) < 0.3
    bits[: count // 2, : shape.rows // 2] = False
    words = (bits << np.arange(shape.cols, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)
    return bits.astype(np.uint8), words, rng.integers(0, shape.classes, count).astype(np.uint8)


def steps_of(queue: Any, shape: NetShape, backend: str, steps: int, group: int = 512) -> tuple[Params, Params]:
    """Return the device's and the oracle's parameters after so many steps."""
    bits, words, labels = draw_pictures(shape, shape.batch * (steps + 1) + 5)
    trainer = NetTrainer(queue, shape, words, labels, 3, backend, group)
    trainer.start_epoch(0)
    trainer.run(steps)
    assert trainer.met()
    oracle = OracleTrainer(shape, initial_params(shape, 3))
    order = np.empty((trainer.batches.steps, shape.batch), np.uint32)
    cl.enqueue_copy(queue, order, trainer.batches.buffers["order"])
    assert len(np.unique(order)) == order.size
    for chosen in order[:steps]:
        oracle.step(bits[chosen].reshape(shape.batch, -1), labels[chosen])
    return trainer.read_params(), oracle.params


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("backend", ["tiles", "groups"])
def test_steps_move_the_parameters_as_the_oracle_does(queue: Any, shape: NetShape, backend: str) -> None:
    got, wanted = steps_of(queue, shape, backend, 3)
    for device, host, start in zip(got, wanted, initial_params(shape, 3), strict=True):
        assert device.shape == host.shape
        moved = np.linalg.norm(host - start)
        assert moved > 0
        assert np.linalg.norm(device - host) <= 1e-4 * moved + 1e-7 * np.linalg.norm(start)  # what f32 can hold


@pytest.mark.parametrize("shape", [SHAPES[1], SHAPES[5]], ids=str)
def test_a_smaller_group_computes_the_same(queue: Any, shape: NetShape) -> None:
    for one, other in zip(*(steps_of(queue, shape, "groups", 2, group)[0] for group in (64, 256)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("number", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_one_launch_of_resident_groups_gives_the_same_bits_as_a_launch_a_phase(number: int) -> None:
    threads = {"POCL_MAX_PTHREAD_COUNT": "40"}  # all groups at once, where the device is a CPU
    command = [sys.executable, "-c", PERSISTENT.format(number=number)]
    run = subprocess.run(command, env=os.environ | threads, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert run.stdout == "the same bits\n", run.stderr


@pytest.mark.parametrize("backend", ["tiles", "groups"])
@pytest.mark.parametrize("shape", [SHAPES[1], SHAPES[5]], ids=str)
def test_epochs_repeat_bit_for_bit_and_go_on_where_they_stopped(queue: Any, shape: NetShape, backend: str) -> None:
    _, words, labels = draw_pictures(shape, shape.batch * 3)
    trainers = [NetTrainer(queue, shape, words, labels, 1, backend, 64) for _ in range(2)]
    for epoch in range(2):
        trainers[0].learn_epoch(epoch)
        trainers[1].start_epoch(epoch)
        for steps in (1, 2):
            trainers[1].run(steps)
    for one, other in zip(*(trainer.read_params() for trainer in trainers), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("backend", ["tiles", "groups"])
@pytest.mark.parametrize("shape", SHAPES[1:3] + SHAPES[5:], ids=str)
def test_parameters_come_back_as_they_were_written(queue: Any, shape: NetShape, backend: str) -> None:
    _, words, labels = draw_pictures(shape, shape.batch)
    trainer = NetTrainer(queue, shape, words, labels, 1, backend)
    trainer.write_params(initial_params(shape, 9))
    for got, wanted in zip(trainer.read_params(), initial_params(shape, 9), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("shape", [SHAPES[1], SHAPES[5]], ids=str)
def test_the_oracles_gradients_are_the_slopes_of_its_loss(shape: NetShape) -> None:
    bits, _, labels = draw_pictures(shape, 32)
    pixels, params = bits.reshape(32, -1).astype(np.float64), [array.astype(np.float64) for array in initial_params(shape, 2)]

    def loss() -> float:
        scores = run_scores(shape, params, pixels)
        scores = scores - scores.max(axis=1, keepdims=True)
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(32), labels]))

    for array, gradient in zip(params, find_gradients(shape, params, pixels, labels), strict=True):
        at = np.unravel_index(np.abs(gradient).argmax(), array.shape)
        ends = []
        for step in (1e-6, -2e-6):
            array[at] += step
            ends.append(loss())
        array[at] += 1e-6
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[at], rel=1e-4)


@pytest.mark.parametrize(
    "shape", [NetShape(6, 6, (16, 16), classes=2, batch=32), NetShape(6, 6, filters=4, classes=2, batch=32)]
)
def test_a_whole_training_learns(shape: NetShape) -> None:
    bits, words, _ = draw_pictures(shape, 1600)
    labels = (bits[:, :, :3].sum(axis=(1, 2)) > bits[:, :, 3:].sum(axis=(1, 2))).astype(np.uint8)
    epochs: list[int] = []
    trained = train_net(shape, words, labels, choose(), 12, 1, report=epochs.append)
    assert epochs == list(range(12))
    assert len(trained.ms) == 12
    assert measure_accuracy(shape, trained.params, bits.reshape(len(bits), -1), labels) > 0.85


def test_a_group_takes_the_local_memory_that_every_gpu_has(queue: Any) -> None:
    for shape in (SHAPES[0], SHAPES[4]):
        _, words, labels = draw_pictures(shape, shape.batch)
        assert 40_000 < NetTrainer(queue, shape, words, labels, 1, "groups").local_nbytes() <= 48 << 10
        assert groups_fit(queue, shape)


def test_a_cpu_takes_tiles(queue: Any) -> None:
    cpu = bool(queue.device.type & cl.device_type.CPU)
    assert (choose_backend(queue, SHAPES[1]) == "tiles") == cpu


@pytest.mark.parametrize("shape", [NetShape(5, 5, (8,)), NetShape(5, 33, (8, 8)), NetShape(6, 6, filters=17)], ids=str)
def test_a_net_without_fused_kernels_is_an_error(shape: NetShape) -> None:
    with pytest.raises(SpecError, match="fused kernels take"):
        train_net(shape, np.zeros((200, shape.rows), np.uint32), np.zeros(200, np.uint8), choose(), 1, 1)


def test_fewer_pictures_than_a_batch_are_an_error() -> None:
    with pytest.raises(SpecError, match=r"needs 128 pictures \(a batch\), got 3"):
        train_net(SHAPES[0], np.zeros((3, 28), np.uint32), np.zeros(3, np.uint8), choose(), 1, 1)
