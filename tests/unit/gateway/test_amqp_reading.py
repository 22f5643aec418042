"""Messages are read whatever their properties say; what cannot be read is kept, not dropped."""

import gzip

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.events import EventReader, Invalid
from services.contracts.streams import load_streams
from services.gateway.amqp.reading import read_message
from services.gateway.split import Parts

READER = EventReader(load_streams()["trades"])
PROPERTIES = st.sampled_from([None, "", "utf-8", "gzip", "zstd", "br", "application/json", "x/y"])


def read(body: bytes, kind: str | None = None, encoding: str | None = None) -> Parts:
    return read_message(body, kind, encoding, limit_bytes=1000, limit_events=3)


@given(st.binary(max_size=100), PROPERTIES, PROPERTIES)
def test_no_message_is_dropped(body: bytes, kind: str | None, encoding: str | None) -> None:
    parts = read(body, kind, encoding)
    assert len(parts) > 0
    assert len(parts.originals(range(len(parts)))) == len(parts)


@pytest.mark.parametrize("kind", [None, "application/json", "application/octet-stream", "odd"])
@pytest.mark.parametrize("encoding", [None, "", "utf-8", "UTF-8", "gzip"])
def test_usual_properties_are_understood(kind: str | None, encoding: str | None) -> None:
    body = orjson.dumps([{"id": "r"}, {"id": "s"}])
    sent = gzip.compress(body) if encoding == "gzip" else body
    assert read(sent, kind, encoding).originals([0, 1]) == [b'{"id":"r"}', b'{"id":"s"}']


@pytest.mark.parametrize(
    ("body", "encoding", "reason"),
    [
        (b"", None, "empty"),
        (b"[]", None, "empty"),
        (b"[1,2,3,4]", None, "too_many_events"),
        (b"{}", "br", "content_encoding"),
        (b"{}", "gzip", "bad_encoding"),
        (gzip.compress(bytes(1001)), "gzip", "too_large"),
        (b"{", None, "not_json"),
    ],
)
def test_what_cannot_be_read_says_why_and_keeps_the_message(
    body: bytes, encoding: str | None, reason: str
) -> None:
    parts = read(body, encoding=encoding)
    verdict = parts.read(0, READER)
    assert isinstance(verdict, Invalid)
    assert verdict.reason == reason
    assert parts.originals([0]) == [body]
