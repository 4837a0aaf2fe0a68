"""Partial sums of a parameter's gradient, added up in a fixed order (kernels/ops/sums.cl)."""

from __future__ import annotations

import numpy as np

from zxml.gpu.ops.workspace import Buffer, Launch, Workspace


def add_parts(space: Workspace, parts: Buffer, count: int, name: str) -> Launch:
    """Return the launch that writes the sum over `count` parts to the gradient of a parameter."""
    size = int(np.prod(space.shapes[name]))
    make = space.maker("sums", {"PARTS": count, "SIZE": size})
    return make("add_parts", (parts, space.grads, np.int32(space.at(name))), (size,))
