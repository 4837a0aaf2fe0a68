"""Orders of pictures, made on the device: nothing to upload where an epoch takes milliseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.program import build

GPU_GROUP = 64  # work-items of a group; on a CPU one, where PoCL would run a group's items in step
ROUNDS = 6


class Shuffler:
    """Fills a buffer with the order of an epoch for each of some nets: (models, places) uint32 of numbers below pictures."""

    def __init__(self, queue: Any, pictures: int, places: int, seeds: list[int]) -> None:
        """Build the kernel; places: how many pictures an epoch uses, at most all."""
        self._queue, self._seeds = queue, seeds
        self._group = 1 if queue.device.type & cl.device_type.CPU else GPU_GROUP
        self._size = -(-len(seeds) * places // self._group) * self._group
        self._keys = cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, 4 * len(seeds))
        sizes = {"PICTURES": pictures, "PLACES": places, "MODELS": len(seeds), "HALF_BITS": half_bits(pictures)}
        self._kernel = cl.Kernel(build(queue.context, ("shuffle_pictures.cl",), dict(sizes)), "shuffle_pictures")

    def fill(self, epoch: int, order: Any) -> None:
        """Enqueue the writing of an epoch's orders to the buffer `order`."""
        keys = np.array([epoch_key(seed, epoch) for seed in self._seeds], np.uint32)
        cl.enqueue_copy(self._queue, self._keys, keys)
        self._kernel.set_args(self._keys, order)
        cl.enqueue_nd_range_kernel(self._queue, self._kernel, (self._size,), (self._group,))


def epoch_key(seed: int, epoch: int) -> int:
    """Return the key of a seed's epoch."""
    return int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])


def half_bits(pictures: int) -> int:
    """Return the bits of half a number: 4**half_bits is pictures or more."""
    return max(1, -(-(pictures - 1).bit_length() // 2))


def permutation(pictures: int, places: int, key: int) -> NDArray[np.uint32]:
    """Return what the kernel writes for one net, (places,)."""
    half, mask = half_bits(pictures), np.uint32((1 << half_bits(pictures)) - 1)
    numbers = np.arange(places, dtype=np.uint32)
    wrong = np.full(places, True)
    while wrong.any():
        numbers[wrong] = _permute(numbers[wrong], key, half, mask)
        wrong = numbers >= pictures
    return numbers


def _permute(numbers: NDArray[np.uint32], key: int, half: int, mask: np.uint32) -> NDArray[np.uint32]:
    left: NDArray[np.uint32] = numbers >> np.uint32(half)
    right: NDArray[np.uint32] = numbers & mask
    for k in range(ROUNDS):
        mixed = right * np.uint32(0x9E3779B1) ^ np.uint32((key + k * 0x85EBCA6B) & 0xFFFFFFFF)
        mixed = (mixed ^ mixed >> np.uint32(15)) * np.uint32(0x2C1B3C6D)
        left, right = right, left ^ (mixed ^ mixed >> np.uint32(12)) & mask
    return np.asarray(left << np.uint32(half) | right, np.uint32)
