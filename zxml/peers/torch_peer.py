"""PyTorch: a step at a time, or one step captured as a CUDA graph and replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from zxml.gpu.nets.shape import NetShape, initial_params
from zxml.peers.peer import BenchData, Report, Score, time_epochs

WARM_STEPS = 3  # before a capture


def train(shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report) -> Score:
    """Train a step at a time; see `Peer.train`."""
    task = _Task(shape, data, seed, gpu)

    def learn(epoch: int) -> None:
        order = task.shuffle()
        for start in range(0, len(order), shape.batch):
            task.step(order[start : start + shape.batch])
        task.wait()

    return Score(time_epochs(learn, epochs, report), task.measure())


def train_graph(shape: NetShape, data: BenchData, epochs: int, seed: int, gpu: bool, report: Report) -> Score:
    """Train by replaying a CUDA graph of the step; see `Peer.train`."""
    task = _Task(shape, data, seed, gpu)
    order, place = task.shuffle(), torch.zeros(1, dtype=torch.long, device=task.device)
    lanes = torch.arange(shape.batch, device=task.device)

    def step() -> None:
        task.step(order[place + lanes])
        place.add_(shape.batch)

    replay = _capture(step, lambda: task.reset(seed))

    def learn(epoch: int) -> None:
        order.copy_(task.shuffle())
        place.zero_()
        for _ in range(len(order) // shape.batch):
            replay()
        task.wait()

    return Score(time_epochs(learn, epochs, report), task.measure())


class _Task:
    """A net, its optimiser and the pictures, on one device."""

    def __init__(self, shape: NetShape, data: BenchData, seed: int, gpu: bool) -> None:
        torch.set_flush_denormal(True)
        torch.manual_seed(seed)
        self.shape, self.data, self.device = shape, data, torch.device("cuda" if gpu else "cpu")
        self.pixels = torch.tensor(data.pixels).to(self.device).float()
        self.labels = torch.tensor(data.labels).to(self.device).long()
        self.net = _make_net(shape).to(self.device)
        self.optimiser = torch.optim.SGD(self.net.parameters(), lr=shape.rate, momentum=shape.momentum, fused=True)
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Set the parameters to where every engine starts, and their momentum to 0."""
        with torch.no_grad():
            for parameter, start in zip(self.net.parameters(), initial_params(self.shape, seed), strict=True):
                values = torch.tensor(start)
                parameter.copy_(values.T if values.ndim == 2 else values.reshape(parameter.shape))
            for moments in self.optimiser.state.values():
                moments["momentum_buffer"].zero_()

    def shuffle(self) -> Any:
        """Return an epoch's order, whole batches of it."""
        count = len(self.labels) // self.shape.batch * self.shape.batch
        return torch.randperm(len(self.labels), device=self.device)[:count]

    def step(self, chosen: Any) -> None:
        """Run one step."""
        loss = functional.cross_entropy(self.net(self.pixels[chosen]), self.labels[chosen])
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()

    def wait(self) -> None:
        """Wait for the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def measure(self) -> float:
        """Return the part of the test pictures found right."""
        with torch.no_grad():
            found = self.net(torch.tensor(self.data.test_pixels).to(self.device).float()).argmax(1)
        return float((found.cpu() == torch.tensor(self.data.test_labels)).float().mean())


def _make_net(shape: NetShape) -> Any:
    layers: list[Any] = []
    if shape.filters:
        picture = nn.Unflatten(1, (1, shape.rows, shape.cols))
        layers = [picture, nn.Conv2d(1, shape.filters, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()]
    for inputs, outputs in zip(shape.widths, shape.widths[1:], strict=False):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _capture(step: Callable[[], None], reset: Callable[[], None]) -> Callable[[], Any]:
    """Return what replays a step."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(WARM_STEPS):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    reset()
    replay: Callable[[], Any] = graph.replay
    return replay
