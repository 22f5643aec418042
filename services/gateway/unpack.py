"""Bounded decompression: a small body must not become a large one."""

import zlib
from collections.abc import Callable
from typing import Final

import zstandard

from services.gateway.media import Encoding

FRAMES_MAX: Final = 64
"""Compressed bodies may be concatenated; each part costs a copy of the rest."""

_ZSTD_WINDOW_BYTES: Final = 8 * 1024 * 1024
_GZIP_FORMAT: Final = 31


class TooLarge(Exception):
    """The body decompresses to more than the limit."""


class Corrupt(Exception):
    """The body is not what its encoding says; the message says how."""


Frame = tuple[bytes, bytes]
"""What one part decompresses to, and what follows it."""


def unpack(body: bytes, encoding: Encoding, limit_bytes: int) -> bytes:
    """Decompress a whole body.

    Raises:
        TooLarge: it would have more than `limit_bytes`.
        Corrupt: it is cut off, damaged, or of too many parts.
    """
    if encoding is Encoding.IDENTITY:
        return body
    read: Callable[[bytes, int], Frame] = _gzip if encoding is Encoding.GZIP else _zstd
    parts: list[bytes] = []
    room = limit_bytes
    for _ in range(FRAMES_MAX):
        part, body = read(body, room)
        room -= len(part)
        if room < 0:
            raise TooLarge
        parts.append(part)
        if not body:
            return b"".join(parts)
    raise Corrupt(f"more than {FRAMES_MAX} compressed parts in one body")


def _gzip(body: bytes, room: int) -> Frame:
    reader = zlib.decompressobj(wbits=_GZIP_FORMAT)
    try:
        part = reader.decompress(body, room + 1)
        if len(part) <= room and not reader.eof:
            part += reader.decompress(reader.unconsumed_tail, room + 1 - len(part))
    except zlib.error as error:
        raise Corrupt(f"not gzip: {error}") from None
    if len(part) <= room and not reader.eof:
        raise Corrupt("gzip: the body is cut off")
    return part, reader.unused_data


def _zstd(body: bytes, room: int) -> Frame:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    try:
        part = decompressor.stream_reader(body).read(room + 1)
        if len(part) > room:
            return part, b""
        # The bounded reader is silent about a cut, so a second pass looks for the frame's end.
        whole = decompressor.decompressobj()
        part = whole.decompress(body)
    except zstandard.ZstdError as error:
        raise Corrupt(f"not zstd: {error}") from None
    if not whole.eof:
        raise Corrupt("zstd: the body is cut off")
    return part, whole.unused_data
