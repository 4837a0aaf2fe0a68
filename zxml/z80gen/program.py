"""The program on the tape: which files of asm/ it is made of, and what is generated for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.ir import IntegerModel, PatchSum
from zxml.z80gen.kernel import Place, Section
from zxml.z80gen.picture import pack_pictures
from zxml.z80gen.plan import Program
from zxml.z80gen.writer import AsmWriter

GALLERY_PICTURES = 20
TIMING_NBYTES = 101

SOURCES = (
    *(f"app/{name}" for name in ("system", "gallery", "screen", "picture", "verdict", "bars", "numbers", "text")),
    *(f"lib/{name}" for name in ("line_address", "mul_u16_u16", "div_u16_u8")),
    "gallery_data",
)


def gallery(model: IntegerModel, pictures: NDArray[np.uint8], labels: NDArray[np.uint8]) -> Program:
    """Return the program that shows the first of the pictures (n, 28, 28) and what the net reads in them."""
    timing = Section("app/timing", TIMING_NBYTES, Place.FAST)
    return Program(
        SOURCES, {"gallery_data": _gallery_data(model, pictures[:GALLERY_PICTURES], labels[:GALLERY_PICTURES])}, (timing,)
    )


def _gallery_data(model: IntegerModel, pictures: NDArray[np.uint8], labels: NDArray[np.uint8]) -> str:
    writer = AsmWriter()
    writer.equ("GALLERY_COUNT", len(pictures))
    writer.label("gallery_labels", "the true digits")
    writer.data(labels)
    writer.label("gallery_pictures", "28 rows of 4 bytes each")
    for number, packed in enumerate(pack_pictures(pictures)):
        writer.data(packed, f"test picture {number}")
    writer.label("text_net", describe(model))
    writer.data([*describe(model).encode("ascii"), 0])
    return writer.text()


def describe(model: IntegerModel) -> str:
    """Return the net in at most 32 characters, for example "20x20 pixels-60-10"."""
    sizes = [str(row.shape[0]) for layer, row in zip(model.layers, model.ranges(), strict=True) if hasattr(layer, "bias")]
    first = model.layers[0]
    assert isinstance(first, PatchSum)
    return "-".join([f"{first.window.rows}x{first.window.cols} pixels", *sizes])[:32]
