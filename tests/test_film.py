"""Films and strips of screens, checked chunk by chunk and pixel by pixel."""

from __future__ import annotations

import struct
import zlib

import pytest

from zxml.errors import ZxmlError
from zxml.film import film_png, strip_png
from zxml.spectrum import png


def memory(paper: int) -> bytes:
    """Return a memory whose screen has one colour, but for its first pixel."""
    return bytes(0x4000) + b"\x80" + bytes(6143) + bytes([8 * paper + 7]) * 768 + bytes(0x10000 - 0x5B00)


MEMORIES = [memory(paper) for paper in range(3)]


def chunks(image: bytes) -> list[tuple[bytes, bytes]]:
    """Return a PNG's chunks as name and content; every checksum must be right."""
    found, position = [], 8
    while position < len(image):
        length = int.from_bytes(image[position : position + 4], "big")
        name, content = image[position + 4 : position + 8], image[position + 8 : position + 8 + length]
        assert zlib.crc32(name + content) == int.from_bytes(image[position + 8 + length : position + 12 + length], "big")
        found.append((name, content))
        position += 12 + length
    return found


def size(image: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", dict(chunks(image))[b"IHDR"][:8])
    return width, height


def test_a_film_shows_every_screen_for_its_time_and_never_ends() -> None:
    parts = chunks(film_png(MEMORIES, delay_ms=1140))
    assert dict(parts)[b"acTL"] == struct.pack(">II", 3, 0)
    delays = [struct.unpack(">HH", content[20:24]) for name, content in parts if name == b"fcTL"]
    assert delays == [(114, 100)] * 3


def test_a_film_and_a_strip_have_the_size_of_their_screens() -> None:
    assert size(film_png(MEMORIES, scale=2)) == (512, 384)
    assert size(strip_png(MEMORIES)) == (768, 192)


def test_one_screen_is_the_same_picture_as_anywhere_else() -> None:
    assert strip_png(MEMORIES[:1], 2) == film_png(MEMORIES[:1]) == png(MEMORIES[0], 2)


def test_the_same_screens_give_the_same_files() -> None:
    assert film_png(MEMORIES) == film_png([bytearray(memory) for memory in MEMORIES])
    assert strip_png(MEMORIES) == strip_png(MEMORIES)


def test_no_screen_is_refused() -> None:
    with pytest.raises(ZxmlError, match="no screen to show"):
        strip_png([])


def test_a_memory_of_another_size_is_refused() -> None:
    with pytest.raises(ZxmlError, match="65536 bytes of memory, ROM included, got 6912"):
        film_png([bytes(6912)])


@pytest.mark.parametrize("delay_ms", [0, -10, 15, 655_360])
def test_a_delay_that_a_png_cannot_hold_is_refused(delay_ms: int) -> None:
    with pytest.raises(ZxmlError, match=f"got {delay_ms} ms"):
        film_png(MEMORIES, delay_ms)
