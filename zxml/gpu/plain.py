"""Pictures of plain nets on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from zxml.gpu.net import FloatSpec


def upload(queue: Any, spec: FloatSpec, images: NDArray[np.uint8]) -> tuple[Any, Any]:
    """Return buffers of pictures (n, rows, cols): words (n, rows) with a bit for each pixel above 0, and bytes where grey."""
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    words = np.zeros(images.shape[:2], np.uint32)
    for col in range(spec.cols):
        words |= (images[:, :, col] > 0).astype(np.uint32) << np.uint32(col)
    greys = cl.Buffer(queue.context, flags, hostbuf=np.ascontiguousarray(images)) if spec.grey else None
    return cl.Buffer(queue.context, flags, hostbuf=words), greys
