"""The tape as sound, for a real Spectrum: a .wav file of the pulses that its ROM saves."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from zxml.z80gen.blocks import split_tap
from zxml.z80gen.target import SPECTRUM_48K

SAMPLE_HZ = 44_100
LOW, HIGH = 0x20, 0xE0  # sample values

PILOT_TSTATES = 2168
PILOT_PULSES = {0: 8063}  # of a header, whose flag is 0
DATA_PILOT_PULSES = 3223
SYNC_TSTATES = (667, 735)
BIT_TSTATES = (855, 1710)  # of each of the two pulses of a 0 and of a 1
GAP_TSTATES = SPECTRUM_48K.clock_hz  # a second; its first edge ends the last bit

RIFF_BYTES = 36  # of the header, after the length that it states
FORMAT_BYTES = 16
PCM = 1
CHANNELS, SAMPLE_BYTES = 1, 1


def wav_bytes(tap: bytes) -> bytes:
    """Return a .wav file, 44.1 kHz, mono, 8 bits, that plays a .tap file; raise ZxmlError if that is damaged.

    Source: Logan and O'Hara, The Complete Spectrum ROM Disassembly (1983), SA-BYTES.
    """
    gap = np.array([GAP_TSTATES])
    pulses = np.concatenate([gap, *(_pulses(block) for block in split_tap(tap))])
    return _wav(_samples(pulses))


def _pulses(block: bytes) -> NDArray[np.int64]:
    """Return the T-states of a block's pulses, (2n,): high and low by turns, the last one the gap that follows."""
    pilot = np.full(PILOT_PULSES.get(block[0], DATA_PILOT_PULSES), PILOT_TSTATES)
    bits = np.unpackbits(np.frombuffer(block, np.uint8))
    data = np.repeat(np.take(BIT_TSTATES, bits), 2)
    return np.concatenate([pilot, SYNC_TSTATES, data, [GAP_TSTATES]])


def _samples(pulses: NDArray[np.int64]) -> bytes:
    """Return samples of pulses that are low and high by turns; each edge is rounded by itself, so errors do not add up."""
    edges = (np.cumsum(pulses) * SAMPLE_HZ + SPECTRUM_48K.clock_hz // 2) // SPECTRUM_48K.clock_hz
    levels = np.resize(np.array([LOW, HIGH], np.uint8), len(pulses))
    return np.repeat(levels, np.diff(edges, prepend=0)).tobytes()


def _wav(samples: bytes) -> bytes:
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        RIFF_BYTES + len(samples),
        b"WAVE",
        b"fmt ",
        FORMAT_BYTES,
        PCM,
        CHANNELS,
        SAMPLE_HZ,
        SAMPLE_HZ * SAMPLE_BYTES,  # bytes a second
        SAMPLE_BYTES,  # bytes of one moment
        8 * SAMPLE_BYTES,
        b"data",
        len(samples),
    )
    return header + samples
