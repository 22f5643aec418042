"""Bounded bodies: all that an application holds of them together has an end, and is given back."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
import pytest
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from services.backbone.web.bodies import HELD_LIMIT_BYTES, SMALL_BODY_BYTES, BoundedBodies
from services.backbone.web.problems import unauthorized

LIMIT_BYTES = 1024 * 1024
PORTION = b"x" * SMALL_BODY_BYTES
LARGE = [PORTION] * (LIMIT_BYTES // SMALL_BODY_BYTES - 1)
FITTING = -(-HELD_LIMIT_BYTES // (len(LARGE) * SMALL_BODY_BYTES))
DISCONNECT: Message = {"type": "http.disconnect"}


@dataclass
class Caller:
    """Sends portions of a body; then the end of it, a disconnect, or nothing more."""

    portions: Sequence[bytes]
    last: Message | None = None
    answer: list[Message] = field(default_factory=list)
    silent: asyncio.Event = field(default_factory=asyncio.Event)
    portions_sent: int = 0

    async def receive(self) -> Message:
        if self.portions_sent < len(self.portions):
            self.portions_sent += 1
            return _portion(self.portions[self.portions_sent - 1], more=True)
        if self.last is not None:
            return self.last
        self.silent.set()
        await asyncio.Event().wait()
        raise AssertionError("nothing comes any more")

    async def send(self, message: Message) -> None:
        self.answer.append(message)
        self.silent.set()

    @property
    def status(self) -> int | None:
        return self.answer[0]["status"] if self.answer else None

    async def ask(self, app: BoundedBodies, *headers: tuple[bytes, bytes]) -> int | None:
        scope = {"type": "http", "method": "POST", "headers": list(headers)}
        await app(scope, self.receive, self.send)
        return self.status


def _portion(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


END = _portion(b"", more=False)


async def _length(_: Scope, receive: Receive, send: Send) -> None:
    message = await receive()
    if message["type"] == "http.disconnect":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(message["body"])).encode()})


async def _faulty(_: Scope, receive: Receive, send: Send) -> None:
    raise ValueError("a bug")


def _bounded(timeout_seconds: float = 600) -> BoundedBodies:
    return BoundedBodies(_length, LIMIT_BYTES, timeout_seconds)


@asynccontextmanager
async def _unfinished(app: BoundedBodies, count: int) -> AsyncIterator[list[Caller]]:
    """Let so many callers send a large body but for its end, one after the other."""
    callers = [Caller(LARGE) for _ in range(count)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each.ask(app)) for each in callers]
        for each in callers:
            await each.silent.wait()
        yield callers
        for task in tasks:
            task.cancel()


async def test_of_many_unfinished_bodies_only_so_many_are_held_and_small_ones_pass() -> None:
    app = _bounded()
    async with _unfinished(app, 100) as callers:
        waiting = [each for each in callers if each.status is None]
        assert 0 < len(waiting) * len(LARGE) * SMALL_BODY_BYTES <= HELD_LIMIT_BYTES
        assert app.held_bytes <= HELD_LIMIT_BYTES + SMALL_BODY_BYTES
        assert {each.status for each in callers if each not in waiting} == {503}
        small = Caller([PORTION], END)
        assert await small.ask(app) == 200
        assert small.answer[1]["body"] == str(SMALL_BODY_BYTES).encode()
    assert app.held_bytes == 0


async def test_who_is_refused_is_told_when_to_come_again_and_the_connection_ends() -> None:
    async with _unfinished(_bounded(), FITTING) as callers:
        start, body = callers[-1].answer
        headers = Headers(raw=start["headers"])
        assert (headers["retry-after"], headers["connection"]) == ("2", "close")
        assert headers["content-type"] == "application/problem+json"
        problem = orjson.loads(body["body"])
        assert (problem["title"], problem["status"]) == ("busy", 503)


@pytest.mark.parametrize("last", [END, DISCONNECT])
async def test_what_was_held_is_given_back_after_an_answer_and_a_disconnect(last: Message) -> None:
    app = _bounded()
    for _ in range(2 * FITTING):
        assert await Caller(LARGE, last).ask(app) in (200, None)
    assert app.held_bytes == 0


async def test_what_was_held_is_given_back_after_an_exception() -> None:
    app = BoundedBodies(_faulty, LIMIT_BYTES, 600)
    for _ in range(2 * FITTING):
        with pytest.raises(ValueError, match="a bug"):
            await Caller(LARGE, END).ask(app)
    assert app.held_bytes == 0


async def test_what_was_held_is_given_back_after_each_refusal() -> None:
    too_large, too_slow = _bounded(), _bounded(timeout_seconds=0)
    assert await Caller([*LARGE, PORTION, b"x"], END).ask(too_large) == 413
    assert await Caller(LARGE).ask(too_slow) == 408
    assert too_large.held_bytes == too_slow.held_bytes == 0


async def test_a_body_is_held_until_the_application_has_ended_with_it() -> None:
    held: list[int] = []

    async def looking(scope: Scope, receive: Receive, send: Send) -> None:
        await _length(scope, receive, send)
        held.append(app.held_bytes)

    app = BoundedBodies(looking, LIMIT_BYTES, 600)
    await Caller(LARGE, END).ask(app)
    assert held == [len(LARGE) * SMALL_BODY_BYTES]


async def test_a_body_that_comes_byte_by_byte_reaches_the_application_whole() -> None:
    caller = Caller([b"x"] * 1000, END)
    assert await caller.ask(_bounded()) == 200
    assert caller.answer[1]["body"] == b"1000"


async def test_nothing_is_held_for_who_is_not_known_and_the_connection_ends() -> None:
    def known(headers: Headers) -> None:
        if headers.get("x-api-key") is None:
            raise unauthorized("send a key")

    app = BoundedBodies(_length, LIMIT_BYTES, 600, known)
    stranger = Caller(LARGE)
    assert await stranger.ask(app) == 401
    assert stranger.portions_sent == 1
    assert Headers(raw=stranger.answer[0]["headers"])["connection"] == "close"
    assert await Caller([], END).ask(app) == 200
    assert await Caller(LARGE, END).ask(app, (b"x-api-key", b"k")) == 200
