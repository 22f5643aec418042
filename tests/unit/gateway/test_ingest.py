"""Every request gets the answer that the table in docs/gateway.md promises; nothing is lost."""

import asyncio
import gc
import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.errors import QueueFull, Refused, Transient
from services.contracts.events import EVENT_LIMIT_BYTES
from services.contracts.examples import Example, examples
from services.gateway import metrics
from services.gateway.settings import MIB, GatewaySettings
from services.gateway.split import Elements
from tests.unit.gateway.surroundings import (
    EVENT,
    EVENTS,
    STREAM,
    HeldWriter,
    MemoryWriter,
    gateway,
)

GOOD = orjson.dumps(EVENT)
BAD = b'{"kind": "request",  "shares": -1}'
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TYPES = ["application/json", "application/x-ndjson", "text/plain", ""]
LEAF = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXT
FIELDS = st.sampled_from([*EVENT, "id", "#shares", "initial order id", "~beat-"])
EVENTISH = st.just(EVENT) | st.dictionaries(FIELDS, LEAF | st.lists(LEAF, max_size=3), max_size=8)
PIECES = st.binary(max_size=60) | EVENTISH.map(orjson.dumps)


def settings(**more: Any) -> GatewaySettings:
    return GatewaySettings(**({"api_keys": "off"} | more))


SMALL = settings(inflight_limit_bytes=MIB, body_limit_bytes=MIB // 2)
THIRD = orjson.dumps([EVENT | {"note": "x" * 50_000}] * 8)
"""More than a third of that room, and less than a half."""


def test_requests_are_counted_from_nought_so_that_none_tells_of_no_gateway() -> None:
    metrics.REQUESTS.clear()
    with gateway(MemoryWriter()):
        assert REGISTRY.get_sample_value("aldebaran_gateway_requests_total", {"status": "200"}) == 0


@given(st.lists(PIECES, max_size=5), st.sampled_from([b"\n", b",", b""]), st.sampled_from(TYPES))
async def test_any_body_is_accounted_for(pieces: list[bytes], glue: bytes, kind: str) -> None:
    writer = MemoryWriter()
    body = glue.join(pieces)
    with gateway(writer) as it:
        for content in (body, b"[" + body + b"]"):
            writer.written.clear()
            response = await it.post(content, content_type=kind)
            assert response.status_code in {200, 207, 422}
            told = response.json()
            assert told.get("accepted", 0) == len(writer.accepted())
            assert told.get("rejected", 0) == len(writer.kept_aside())
            assert told.get("events", 0) == len(writer.written)
    assert it.room.requests == it.room.bytes == 0


@given(st.lists(st.sampled_from([GOOD, BAD]), min_size=1, max_size=20), st.booleans())
async def test_each_event_is_judged_by_itself(events: list[bytes], lines: bool) -> None:
    writer = MemoryWriter()
    body = b"\n".join(events) if lines else b" [" + b" , ".join(events) + b"]"
    kind = "application/x-ndjson" if lines else "application/json"
    with gateway(writer) as it:
        response = await it.post(body, content_type=kind)
    bad = [index for index, event in enumerate(events) if event == BAD]
    told = response.json()
    assert response.status_code == (422 if len(bad) == len(events) else 207 if bad else 200)
    assert [each["index"] for each in told.get("results", [])] == bad
    assert {each["status"] for each in told.get("results", [])} <= {"rejected"}
    assert writer.accepted() == [GOOD] * (len(events) - len(bad))
    assert [each.original for each in writer.kept_aside()] == [BAD] * len(bad)


@pytest.mark.parametrize("example", list(examples(STREAM, "valid")), ids=str)
async def test_valid_examples_are_accepted(example: Example) -> None:
    writer = MemoryWriter()
    with gateway(writer) as it:
        response = await it.post(example.content, content_type="application/json")
    assert response.status_code == 200, response.text
    assert [orjson.loads(each) for each in writer.accepted()] == [orjson.loads(example.content)]


@pytest.mark.parametrize(
    "example",
    [*examples(STREAM, "invalid"), *examples(STREAM, "invalid_at_the_gateway")],
    ids=str,
)
async def test_invalid_examples_are_kept_aside_exactly(example: Example) -> None:
    writer = MemoryWriter()
    with gateway(writer) as it:
        response = await it.post(example.content, content_type="application/x-ndjson")
    assert response.status_code == 422, response.text
    assert writer.accepted() == []
    kept = [each.original for each in writer.kept_aside()]
    assert kept == [line for line in example.content.split(b"\n") if line]


@pytest.mark.parametrize("example", list(examples(STREAM, "spellings")), ids=str)
async def test_publishers_spellings_become_the_streams_own(example: Example) -> None:
    pair, writer = orjson.loads(example.content), MemoryWriter()
    with gateway(writer) as it:
        response = await it.post(orjson.dumps(pair["published"]))
    assert response.status_code == 200, response.text
    assert [orjson.loads(each) for each in writer.accepted()] == [pair["event"]]


async def test_a_broken_body_is_kept_whole_and_the_place_of_the_mistake_told() -> None:
    writer = MemoryWriter()
    with gateway(writer) as it:
        response = await it.post(b'[{"a": 1},\n{"a" 2}]', content_type="application/json")
    assert response.status_code == 422
    assert "line 2 column 6" in response.json()["results"][0]["detail"]
    (kept,) = writer.kept_aside()
    assert (kept.original, kept.reason) == (b'[{"a": 1},\n{"a" 2}]', "not_json")
    assert response.headers["x-request-id"] in kept.source


async def test_a_broken_gzip_is_kept_as_it_was_sent_and_counted() -> None:
    writer, before = MemoryWriter(), kept_aside("bad_encoding")
    cut = gzip.compress(GOOD)[:-4]
    with gateway(writer) as it:
        response = await it.post(cut, content_encoding="gzip")
    assert response.status_code == 422
    assert [(each.original, each.reason) for each in writer.kept_aside()] == [(cut, "bad_encoding")]
    assert kept_aside("bad_encoding") == before + 1


def kept_aside(reason: str) -> float:
    labels = {"stream": STREAM, "reason": reason}
    return REGISTRY.get_sample_value("aldebaran_gateway_rejected_total", labels) or 0.0


@pytest.mark.parametrize("body", [b"", b"  \n", b"[]", b" [ ] "])
async def test_nothing_sent_is_said_so(body: bytes) -> None:
    writer = MemoryWriter()
    with gateway(writer) as it:
        response = await it.post(body)
    assert (response.status_code, response.json()["title"]) == (422, "empty")
    assert writer.written == []


async def test_a_deep_event_is_rejected_and_the_rest_taken() -> None:
    writer = MemoryWriter()
    deep = GOOD[:-1] + b',"x":' + b"[" * 400 + b"]" * 400 + b"}"
    with gateway(writer) as it:
        response = await it.post(b"[" + deep + b"," + GOOD + b"]")
    assert response.status_code == 207
    assert [(each.original, each.reason) for each in writer.kept_aside()] == [(deep, "too_deep")]


async def test_an_event_over_its_limit_is_kept_aside_whole() -> None:
    writer = MemoryWriter()
    large = orjson.dumps(EVENT | {"note": "x" * EVENT_LIMIT_BYTES})
    with gateway(writer) as it:
        response = await it.post(large)
    assert response.status_code == 422
    assert [(each.original, each.reason) for each in writer.kept_aside()] == [(large, "too_large")]


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_a_body_over_the_limit_is_413_and_nothing_is_kept(encoding: str) -> None:
    writer = MemoryWriter()
    body = orjson.dumps(EVENT | {"note": "x" * 10 * MIB})
    sent = gzip.compress(body) if encoding == "gzip" else body
    with gateway(writer) as it:
        response = await it.post(sent, content_encoding=encoding)
    assert response.status_code == 413
    assert "nothing of it was kept" in response.json()["detail"]
    assert response.json()["limit_bytes"] == 4 * MIB
    assert writer.written == []


async def test_too_many_events_are_413() -> None:
    writer = MemoryWriter()
    with gateway(writer, settings(batch_limit_events=3)) as it:
        assert (await it.post(b"[1,2,3]")).status_code == 422
        response = await it.post(b"[1,2,3,4]")
    assert (response.status_code, response.json()["limit_events"]) == (413, 3)


async def test_a_body_that_never_ends_is_408() -> None:
    async def stalled() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    with gateway(MemoryWriter(), settings(body_timeout_seconds=0.01)) as it:
        response = await it.post(stalled())
    assert (response.status_code, response.headers["connection"]) == (408, "close")


@pytest.mark.parametrize(
    ("headers", "status", "told"),
    [
        ({"content_type": "application/xml"}, 415, "accept-post"),
        ({"content_type": "application/json; charset=utf-16"}, 415, "accept-post"),
        ({"content_encoding": "br"}, 415, "accept-encoding"),
        ({"content_encoding": "gzip, gzip"}, 415, "accept-encoding"),
    ],
)
async def test_forms_that_are_not_read_are_415(
    headers: dict[str, str], status: int, told: str
) -> None:
    with gateway(MemoryWriter()) as it:
        response = await it.post(GOOD, **headers)
    assert response.status_code == status
    assert told in response.headers


async def test_an_unknown_stream_is_404_and_lists_the_declared_ones() -> None:
    with gateway(MemoryWriter()) as it:
        response = await it.client.post("/v1/streams/nothing/events", content=GOOD)
    assert (response.status_code, response.json()["streams"]) == (404, [STREAM])


@pytest.mark.parametrize(("path", "status"), [(EVENTS, 405), ("/v2", 404)])
async def test_wrong_methods_and_pages_are_problems(path: str, status: int) -> None:
    with gateway(MemoryWriter()) as it, capture_logs() as lines:
        response = await it.client.get(path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert ids_of(response) == {each["request_id"] for each in lines}


async def test_a_slash_too_many_is_a_problem_and_leads_nowhere() -> None:
    with gateway(MemoryWriter()) as it, capture_logs() as lines:
        response = await it.client.post(f"{EVENTS}/", content=GOOD)
    assert (response.status_code, response.json()["title"]) == (404, "no_such_page")
    assert ids_of(response) == {each["request_id"] for each in lines}
    assert "location" not in response.headers


async def test_more_requests_than_there_is_room_for_are_429_unread() -> None:
    writer = HeldWriter()
    with gateway(writer, settings(inflight_limit_requests=2)) as it:
        waiting = [asyncio.ensure_future(it.post(GOOD)) for _ in range(2)]
        await writer.holds(2)
        response = await it.post(GOOD)
        writer.answer_all()
        assert [each.status_code for each in await asyncio.gather(*waiting)] == [200, 200]
        assert (await it.client.get("/healthz/live")).status_code == 200
    assert (response.status_code, response.headers["retry-after"]) == (429, "1")
    assert it.room.requests == it.room.bytes == 0


async def test_more_bytes_than_there_is_room_for_are_429() -> None:
    writer = HeldWriter()
    with gateway(writer, SMALL) as it:
        waiting = [asyncio.ensure_future(it.post(THIRD)) for _ in range(2)]
        await writer.holds(2)
        packed = gzip.compress(THIRD)
        refused = [await it.post(THIRD), await it.post(packed, content_encoding="gzip")]
        writer.answer_all()
        assert [each.status_code for each in await asyncio.gather(*waiting)] == [200, 200]
    assert [each.status_code for each in refused] == [429, 429]
    assert it.room.bytes == 0


async def test_announced_bytes_have_their_room_before_they_come() -> None:
    begun, may_end, read = asyncio.Barrier(3), asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        await begun.wait()
        await may_end.wait()
        yield THIRD

    async def unread() -> AsyncIterator[bytes]:
        read.set()
        yield THIRD

    announced = {"content_length": str(len(THIRD))}
    with gateway(MemoryWriter(), SMALL) as it:
        waiting = [asyncio.ensure_future(it.post(slowly(), **announced)) for _ in range(2)]
        await begun.wait()
        refused = await it.post(unread(), **announced)
        may_end.set()
        assert [each.status_code for each in await asyncio.gather(*waiting)] == [200, 200]
    assert (refused.status_code, read.is_set()) == (429, False)
    assert it.room.bytes == 0


async def test_what_was_parsed_is_let_go_before_the_broker_is_waited_for() -> None:
    writer = HeldWriter()
    with gateway(writer) as it:
        waiting = asyncio.ensure_future(it.post(b"[" + GOOD + b"]"))
        await writer.holds(1)
        held = [each for each in gc.get_objects() if type(each) is Elements]
        writer.answer_all()
        assert (await waiting).status_code == 200
    assert held == []


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Transient("kafka-7.inside"), "broker_away"),
        (QueueFull("kafka-7.inside"), "queue_full"),
        (Refused("kafka-7.inside"), "broker_refused"),
    ],
)
async def test_what_the_broker_did_not_take_is_503_with_what_to_repeat(
    trouble: Transient | Refused, reason: str
) -> None:
    writer = MemoryWriter(troubles=[None, trouble, trouble])
    with gateway(writer) as it, capture_logs() as lines:
        response = await it.post(b"[" + GOOD + b"," + GOOD + b"," + BAD + b"," + BAD + b"]")
    told = response.json()
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert (told["accepted"], told["rejected"], told["retry"]) == (1, 1, 2)
    assert [(each["index"], each["status"]) for each in told["results"]] == [
        (1, "retry"),
        (2, "retry"),
        (3, "rejected"),
    ]
    assert told["results"][0]["reason"] == reason
    assert "send it again" in told["results"][0]["detail"]
    assert "kafka-7.inside" not in response.text
    told_of = [each["reason"] for each in lines if each["event"] == "not_written"]
    assert told_of == ["kafka-7.inside"]


async def test_long_lists_of_results_carry_few_sentences() -> None:
    with gateway(MemoryWriter()) as it:
        response = await it.post(orjson.dumps([1] * 10_000))
    results = response.json()["results"]
    assert [each["index"] for each in results] == list(range(10_000))
    assert sum("detail" in each for each in results) == 100
    assert len(response.content) < MIB


async def test_a_bug_ends_the_request_and_not_the_gateway() -> None:
    class Broken(MemoryWriter):
        def send(self, records: Any) -> Any:
            raise KeyError("bug")

    counted = metrics.REQUESTS.labels("500")
    before = next(iter(counted.collect())).samples[0].value
    with gateway(Broken()) as it, capture_logs() as lines:
        response = await it.post(GOOD)
    assert (response.status_code, response.json()["title"]) == (500, "bug")
    assert isinstance(lines[0]["exc_info"], KeyError)
    assert ids_of(response) == {each["request_id"] for each in lines if each["event"] == "bug"}
    assert it.room.requests == 0
    assert next(iter(counted.collect())).samples[0].value == before + 1


async def test_a_bug_of_a_page_is_found_in_the_log_by_its_id() -> None:
    class Broken:
        def caller(self, presented: str | None) -> Any:
            raise KeyError("bug")

    with gateway(MemoryWriter(), guard=Broken()) as it, capture_logs() as lines:
        transport = httpx2.ASGITransport(it.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as client:
            response = await client.get("/v1/streams")
    assert response.status_code == 500
    assert ids_of(response) == {each["request_id"] for each in lines if each["event"] == "bug"}


def ids_of(response: httpx2.Response) -> set[str]:
    """Return the request's id, or both where header and body name another."""
    return {response.headers["x-request-id"], response.json()["request_id"]}
