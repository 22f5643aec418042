"""Bounded decompression: whole, or refused; never more than the limit."""

import gzip
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.media import Encoding
from services.gateway.unpack import FRAMES_MAX, Corrupt, TooLarge, unpack

LIMIT = 100_000
COMPRESSED = [Encoding.GZIP, Encoding.ZSTD]


def packed(body: bytes, encoding: Encoding) -> bytes:
    return gzip.compress(body) if encoding is Encoding.GZIP else zstandard.compress(body)


def without_size(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(body)


@given(st.binary(max_size=2000), st.sampled_from(Encoding))
def test_what_was_packed_comes_out(body: bytes, encoding: Encoding) -> None:
    sent = body if encoding is Encoding.IDENTITY else packed(body, encoding)
    assert unpack(sent, encoding, LIMIT) == body


@given(st.binary(max_size=2000))
def test_zstd_without_a_size_in_its_head_comes_out(body: bytes) -> None:
    assert unpack(without_size(body), Encoding.ZSTD, LIMIT) == body


@given(st.lists(st.binary(max_size=100), min_size=1, max_size=5), st.sampled_from(COMPRESSED))
def test_parts_that_were_joined_come_out_whole(parts: list[bytes], encoding: Encoding) -> None:
    joined = b"".join(packed(part, encoding) for part in parts)
    assert unpack(joined, encoding, LIMIT) == b"".join(parts)


@given(st.binary(min_size=1, max_size=2000), st.sampled_from(COMPRESSED), st.data())
def test_a_cut_is_never_taken_for_the_end(
    body: bytes, encoding: Encoding, data: st.DataObject
) -> None:
    whole = packed(body, encoding)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(Corrupt):
        unpack(cut, encoding, LIMIT)


def test_a_cut_zstd_without_a_size_is_never_taken_for_the_end() -> None:
    whole = without_size(bytes(range(256)) * 40)
    for end in range(len(whole)):
        with pytest.raises(Corrupt):
            unpack(whole[:end], Encoding.ZSTD, LIMIT)


@pytest.mark.parametrize("encoding", COMPRESSED)
@pytest.mark.parametrize("size", [LIMIT + 1, 300_000_000])
def test_a_bomb_is_too_large(encoding: Encoding, size: int) -> None:
    with pytest.raises(TooLarge):
        unpack(packed(bytes(size), encoding), encoding, LIMIT)


@pytest.mark.parametrize("encoding", COMPRESSED)
def test_the_limit_itself_is_taken(encoding: Encoding) -> None:
    assert len(unpack(packed(bytes(LIMIT), encoding), encoding, LIMIT)) == LIMIT


@pytest.mark.parametrize("encoding", COMPRESSED)
def test_a_bomb_in_parts_is_too_large(encoding: Encoding) -> None:
    part = packed(bytes(LIMIT // 2 + 1), encoding)
    with pytest.raises(TooLarge):
        unpack(part * 2, encoding, LIMIT)


@pytest.mark.parametrize("encoding", COMPRESSED)
def test_too_many_parts_are_refused(encoding: Encoding) -> None:
    with pytest.raises(Corrupt, match="parts"):
        unpack(packed(b"x", encoding) * (FRAMES_MAX + 1), encoding, LIMIT)


@given(st.binary(max_size=300), st.sampled_from(COMPRESSED), st.binary(max_size=20))
def test_any_bytes_come_out_or_are_refused(body: bytes, encoding: Encoding, after: bytes) -> None:
    for sent in (body, packed(body, encoding) + after, zlib.compress(body)):
        try:
            assert len(unpack(sent, encoding, LIMIT)) <= LIMIT
        except (Corrupt, TooLarge):
            continue
