"""The integer model: the contract between quantisation, the reference and the Z80 code.

A model is a tuple of layers from a closed union (`layers`). What a layer means is written in its docstring and computed by
`zxml.reference`; every consumer matches on the union and ends in `assert_never`, so that a new kind of layer shows each place
that has to learn it.

Arithmetic is exact and integer. A sum of `sum_bits` bits is two's complement and wraps: `wrap(s, bits)` is the
representative of s modulo 2**bits in [-2**(bits-1), 2**(bits-1) - 1].
"""

from zxml.ir.file import load, save
from zxml.ir.layers import (
    PATCH_SIDE,
    PICTURE_SIDE,
    SUM_BITS,
    ArgMax,
    Codebook,
    CodeSum,
    Conv,
    Dense,
    Exit,
    IntArray,
    Layer,
    Looks,
    PatchConv,
    PatchSum,
    Pool,
    Requant,
    Steps,
    Window,
    wrap,
)
from zxml.ir.model import PICTURE, IntegerModel, looked_again, sources
from zxml.ir.ranges import LayerRange, Range

__all__ = [
    "PATCH_SIDE",
    "PICTURE",
    "PICTURE_SIDE",
    "SUM_BITS",
    "ArgMax",
    "CodeSum",
    "Codebook",
    "Conv",
    "Dense",
    "Exit",
    "IntArray",
    "IntegerModel",
    "Layer",
    "LayerRange",
    "Looks",
    "PatchConv",
    "PatchSum",
    "Pool",
    "Range",
    "Requant",
    "Steps",
    "Window",
    "load",
    "looked_again",
    "save",
    "sources",
    "wrap",
]
