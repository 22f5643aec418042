"""The room is held to a simple model, and no key shuts the others out of it."""

import asyncio
import gzip
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from services.backbone.seldom import EVERY_SECONDS
from services.gateway.admission import Place, Room
from services.gateway.problems import Busy
from services.gateway.senders import Caller
from services.gateway.settings import MIB, GatewaySettings
from tests.unit.gateway.surroundings import EVENT, Gateway, HeldWriter, MemoryWriter, gateway

GOOD = orjson.dumps(EVENT)
LARGE = orjson.dumps([EVENT | {"note": "x" * 50_000}] * 6)
"""More than a quarter of a mebibyte, and less than a half."""
LIMIT_REQUESTS, LIMIT_BYTES = 6, 100

Key = st.sampled_from(["a", "b", "c"])
Size = st.integers(0, 70)
Step = st.one_of(
    st.tuples(st.just("enter"), Key, Size),
    st.tuples(st.just("take"), st.integers(0, 9), Size),
    st.tuples(st.just("leave"), st.integers(0, 9), st.just(0)),
)


@dataclass
class Open:
    """A request of the model: what came, and what the room has to count for it."""

    key: str
    place: Place
    leaving: ExitStack
    kept: int
    came: int = 0


@dataclass
class Model:
    """Requests in work and the keys that have come; nothing is counted along."""

    work: list[Open]
    known: set[str]

    def has_room(self, key: str, more: int, beside: list[Open]) -> bool:
        """Say whether bytes of one more request of a key, `beside` its others, fit."""
        own = sum(each.kept for each in self.work if each.key == key)
        if len(self.known) > 1 and beside and own + more > LIMIT_BYTES // 2:
            return False
        return sum(each.kept for each in self.work) + more <= LIMIT_BYTES

    def lets_in(self, key: str, size: int) -> bool:
        own = [each for each in self.work if each.key == key]
        if len(self.known) > 1 and len(own) >= LIMIT_REQUESTS // 2:
            return False
        return len(self.work) < LIMIT_REQUESTS and self.has_room(key, size, own)


def enter(room: Room, model: Model, key: str, size: int) -> None:
    model.known.add(key)
    if not model.lets_in(key, size):
        with pytest.raises(Busy) as refused:
            room.enter(key, size)
        assert refused.value.key == key
        return
    leaving = ExitStack()
    model.work.append(Open(key, leaving.enter_context(room.enter(key, size)), leaving, size))


def take(model: Model, one: Open, size: int) -> None:
    more = max(0, one.came + size - one.kept)
    beside = [each for each in model.work if each.key == one.key and each is not one]
    if not model.has_room(one.key, more, beside):
        with pytest.raises(Busy):
            one.place.take(size)
        return
    one.place.take(size)
    one.came, one.kept = one.came + size, one.kept + more


@given(st.lists(Step, max_size=40))
def test_the_room_is_that_of_the_model(steps: list[tuple[str, Any, int]]) -> None:
    room, model = Room(LIMIT_REQUESTS, LIMIT_BYTES), Model([], set())
    for what, which, size in steps:
        if what == "enter":
            enter(room, model, which, size)
        elif model.work and what == "take":
            take(model, model.work[which % len(model.work)], size)
        elif model.work:
            model.work.pop(which % len(model.work)).leaving.close()
        assert room.requests == len(model.work)
        assert room.bytes == sum(each.kept for each in model.work)


@given(st.lists(Size, max_size=40), Size)
def test_whatever_one_key_does_another_gets_in(sizes: list[int], size: int) -> None:
    room = Room(LIMIT_REQUESTS, LIMIT_BYTES)
    with ExitStack() as held:
        with room.enter("other"):
            pass
        for each in sizes:
            with suppress(Busy):
                held.enter_context(room.enter("greedy", min(each, LIMIT_BYTES // 2)))
        with room.enter("other", min(size, LIMIT_BYTES // 2)):
            pass


def test_the_only_key_has_all_the_room() -> None:
    room = Room(LIMIT_REQUESTS, LIMIT_BYTES)
    with ExitStack() as held:
        for _ in range(LIMIT_REQUESTS):
            held.enter_context(room.enter("one", LIMIT_BYTES // LIMIT_REQUESTS))
        with pytest.raises(Busy, match="6 requests are being worked on"):
            room.enter("one")


@pytest.mark.parametrize("limit_requests", [1, 2, 3])
def test_a_small_room_takes_a_request_of_each_size_still(limit_requests: int) -> None:
    room = Room(limit_requests, LIMIT_BYTES)
    for key in ("a", "b", "a"):
        with room.enter(key, LIMIT_BYTES):
            pass


class ByName:
    """Takes a key for its name."""

    def caller(self, presented: str | None) -> Caller:
        return Caller(presented or "nobody")


def opened(writer: HeldWriter | MemoryWriter, **more: Any) -> Any:
    return gateway(writer, GatewaySettings(**more), guard=ByName())


async def post(it: Gateway, key: str, content: bytes, **more: str) -> Any:
    return await it.post(content, x_api_key=key, **more)


async def test_a_key_with_its_share_of_requests_is_told_so_and_the_others_go_on() -> None:
    writer = HeldWriter()
    with opened(writer, inflight_limit_requests=4) as it:
        waiting = [asyncio.ensure_future(post(it, key, GOOD)) for key in ("desk", "feed", "feed")]
        await writer.holds(3)
        refused = await post(it, "feed", GOOD)
        waiting.append(asyncio.ensure_future(post(it, "desk", GOOD)))
        await writer.holds(4)
        writer.answer_all()
        assert {each.status_code for each in await asyncio.gather(*waiting)} == {200}
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.json()["title"] == "busy"
    assert refused.json()["detail"] == "the key feed has its share, 2 requests, in work"


@pytest.mark.parametrize("packed", [False, True])
async def test_a_key_with_its_share_of_bytes_is_told_so_and_the_others_go_on(packed: bool) -> None:
    writer = HeldWriter()
    body = gzip.compress(LARGE) if packed else LARGE
    more = {"content_encoding": "gzip"} if packed else {}
    with opened(writer, inflight_limit_bytes=MIB, body_limit_bytes=MIB // 2) as it:
        waiting = [asyncio.ensure_future(post(it, key, GOOD)) for key in ("desk", "feed")]
        waiting.append(asyncio.ensure_future(post(it, "feed", body, **more)))
        await writer.holds(3)
        refused = await post(it, "feed", body, **more)
        waiting.append(asyncio.ensure_future(post(it, "desk", body, **more)))
        await writer.holds(4)
        writer.answer_all()
        assert {each.status_code for each in await asyncio.gather(*waiting)} == {200}
    assert refused.status_code == 429
    assert "bodies of the key feed hold" in refused.json()["detail"]
    assert it.room.requests == it.room.bytes == 0


async def test_the_log_names_the_key_that_was_refused_and_the_fullest_once_a_minute() -> None:
    writer = HeldWriter()
    with opened(writer, inflight_limit_requests=2) as it, capture_logs() as lines:
        waiting = [asyncio.ensure_future(post(it, "feed", GOOD)) for _ in range(2)]
        await writer.holds(2)
        for key in ("desk", "feed", "desk", "feed"):
            assert (await post(it, key, GOOD)).status_code == 429
        it.clock.move(EVERY_SECONDS)
        assert (await post(it, "desk", GOOD)).status_code == 429
        writer.answer_all()
        await asyncio.gather(*waiting)
    told = [each for each in lines if each["log_level"] == "warning"]
    assert [(each["caller"], each["most_held_by"], each["left_out"]) for each in told] == [
        ("desk", "feed", 0),
        ("feed", "feed", 0),
        ("desk", "feed", 1),
    ]
    assert {each["event"] for each in told} == {"request_refused"}
