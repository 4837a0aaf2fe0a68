"""Integer models on an OpenCL device: the same bits as `zxml.reference`, fast enough to validate many nets while they learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml import reference
from zxml.gpu.device import is_cpu
from zxml.gpu.program import build
from zxml.ir import (
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntArray,
    IntegerModel,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
    looked_again,
    sources,
)
from zxml.reference import Answers, Pictures, Values, answer

MOST_VALUES = 1 << 24  # that a layer puts out at a time, which bounds the device's memory
PICTURE_SHAPE = (28, 28)

Shape = tuple[int, ...]
Answering = Callable[[IntegerModel], Answers]
Upload = tuple[str, list[Any]]  # a kernel's name, and its arguments on the device after the input, the output and the count


def answering(queue: Any, pictures: Pictures) -> Answering:
    """Return what answers for models on pictures fastest: the device, or NumPy where the device is the CPU itself."""
    if is_cpu(queue.device):
        return lambda model: reference.run(model, pictures)
    return Inference(queue, pictures).run


@dataclass(frozen=True, eq=False)
class Launch:
    """A layer as a kernel's name, and its arguments after the input, the output and the count."""

    kernel: str
    arguments: tuple[IntArray | int, ...]


class Inference:
    """Pictures on a device, and what models say of them."""

    def __init__(self, queue: Any, pictures: Pictures) -> None:
        """Upload pictures (n, 28, 28) of zeros and ones, and build the kernels; raise DeviceError if the driver does not."""
        self._queue, self._count = queue, len(pictures)
        self._pictures = np.ascontiguousarray(pictures, np.int32)
        self._uploaded: dict[tuple[int, int], Any] = {}
        self._program = build(queue.context, ("inference.cl",), {})
        self._kernels: dict[str, Any] = {}

    def run(self, model: IntegerModel) -> Answers:
        """Return what the model says of the pictures; see `zxml.reference.run`."""
        exits = [number for number, layer in enumerate(model.layers) if isinstance(layer, Exit)]
        wanted = {len(model.layers) - 2, *exits, *(number - 1 for number in exits)}
        return answer(model, self._trace(model, wanted))

    def trace(self, model: IntegerModel) -> dict[str, Values]:
        """Return each layer's output by its name, (n, ...), as if no picture left early; see `zxml.reference.trace`."""
        return self._trace(model, {*range(len(model.layers))})

    def _trace(self, model: IntegerModel, wanted: set[int]) -> dict[str, Values]:
        """Return the outputs of the layers with wanted numbers; the others' are empty."""
        shapes = [row.shape for row in model.ranges()]
        taken = [shapes[source] if source >= 0 else PICTURE_SHAPE for source in sources(model.layers)]
        launches = [self._upload(launch_of(layer, shape)) for layer, shape in zip(model.layers, taken, strict=True)]
        step = max(1, MOST_VALUES // max(int(np.prod(shape)) for shape in (*shapes, PICTURE_SHAPE)))
        found: list[list[NDArray[np.int32]]] = [[] for _ in model.layers]
        for start in range(0, max(1, self._count), step):
            end = min(start + step, self._count)
            values = [self._picture_buffer(start, end)]
            for number, (layer, launch, source) in enumerate(zip(model.layers, launches, sources(model.layers), strict=True)):
                out = np.empty((end - start, *shapes[number]), np.int32)
                if isinstance(layer, Looks):
                    again = [(launches[i], (end - start) * int(np.prod(shapes[i]))) for i in looked_again(model.layers, number)]
                    values.append(self._look(layer, again, values[0], values[source + 1], end - start))
                else:
                    values.append(self._apply(launch, values[source + 1], out.size))
                if number in wanted:
                    cl.enqueue_copy(self._queue, out, values[-1])
                    found[number].append(out)
        empty = np.zeros((0, 1), np.int64)
        return {
            layer.name: np.concatenate(parts).astype(np.int64) if parts else empty
            for layer, parts in zip(model.layers, found, strict=True)
        }

    def _look(self, layer: Looks, again: list[tuple[Upload, int]], pictures: Any, scores: Any, count: int) -> Any:
        """Enqueue further looks and return the buffer of all scores; again: launches, and how many values each gives."""
        for shift in layer.shifts:
            look = self._apply(("move", [np.int32(step) for step in shift]), pictures, count * int(np.prod(PICTURE_SHAPE)))
            for launch, size in again:
                look = self._apply(launch, look, size)
            scores = self._apply(("add", [look]), scores, again[-1][1])
        return scores

    def _picture_buffer(self, start: int, end: int) -> Any:
        if (start, end) not in self._uploaded:
            self._uploaded = {(start, end): self._buffer(self._pictures[start:end])}
        return self._uploaded[start, end]

    def _upload(self, launch: Launch) -> Upload:
        return launch.kernel, [
            self._buffer(value) if isinstance(value, np.ndarray) else np.int32(value) for value in launch.arguments
        ]

    def _buffer(self, values: IntArray) -> Any:
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self._queue.context, flags, hostbuf=np.ascontiguousarray(values, np.int32))

    def _apply(self, launch: Upload, taken: Any, size: int) -> Any:
        """Enqueue a layer's kernel and return the buffer that it fills with `size` values."""
        name, arguments = launch
        out = cl.Buffer(self._queue.context, cl.mem_flags.READ_WRITE, 4 * max(1, size))
        kernel = self._kernels.get(name) or cl.Kernel(self._program, name)
        self._kernels[name] = kernel
        kernel.set_args(taken, out, np.uint32(size), *arguments)
        if size:
            cl.enqueue_nd_range_kernel(self._queue, kernel, (size,), None)
        return out


def launch_of(layer: Layer, taken: Shape) -> Launch:
    """Return the kernel and arguments of a layer that takes values of a shape."""
    match layer:
        case PatchSum():
            return patch_sum(layer)
        case PatchConv():
            return patch_conv(layer)
        case Pool():
            return Launch("pool", taken)
        case Codebook(code=code):
            return Launch("codebook", (code, taken[2]))
        case CodeSum(table=table, bias=bias, sum_bits=bits):
            return Launch("code_sum", (table, bias, *table.shape, bits))
        case Conv(weight=weight, bias=bias, sum_bits=bits, stride=stride):
            return Launch("conv", (weight, bias, *taken, len(bias), stride, bits))
        case Dense(weight=weight, bias=bias, sum_bits=bits):
            return Launch("dense", (weight, bias, *weight.shape, bits))
        case Requant(shift=shift, levels=levels):
            return Launch("requant", (shift, levels))
        case Steps(thresholds=thresholds):
            return Launch("steps", (thresholds, *thresholds.shape))
        case Exit(gap=gap):
            return Launch("leave", (taken[0], gap))
        case Looks():
            return Launch("add", ())
        case ArgMax():
            return Launch("arg_max", (taken[0],))
        case _:
            assert_never(layer)


def patch_sum(layer: PatchSum) -> Launch:
    """Return the kernel and arguments of a PatchSum."""
    window, high, wide = layer.window, layer.patch_rows, layer.patch_cols
    sizes = (window.top, window.left, window.rows // high, window.cols // wide, high, wide, len(layer.bias), layer.sum_bits)
    return Launch("patch_sum", (layer.table, layer.bias, *sizes))


def patch_conv(layer: PatchConv) -> Launch:
    """Return the kernel and arguments of a PatchConv."""
    window, filters = layer.window, layer.table.shape[1]
    return Launch("patch_conv", (layer.table, window.top, window.left, window.rows - 2, window.cols - 2, filters))
