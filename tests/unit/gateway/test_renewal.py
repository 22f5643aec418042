"""One answer in so many ends its connection, and says so."""

import random
from collections.abc import Callable

import httpx2
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from services.gateway.renewal import Renewal


def drawn(*numbers: float) -> Callable[[], float]:
    return iter(numbers).__next__


async def closings(app: Renewal, requests: int) -> list[bool]:
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://gateway"
    ) as client:
        answers = [await client.get("/") for _ in range(requests)]
    assert all(answer.text == "taken" for answer in answers)
    return [answer.headers.get("connection") == "close" for answer in answers]


async def test_an_answer_ends_its_connection_where_chance_says_so() -> None:
    app = Renewal(PlainTextResponse("taken"), 4, drawn(0.25, 0.2499, 0.9, 0.0))
    assert await closings(app, 4) == [False, True, False, True]


async def test_none_ends_where_there_is_no_limit() -> None:
    app = Renewal(PlainTextResponse("taken"), 0, drawn(0.0, 0.0))
    assert await closings(app, 2) == [False, False]


async def test_as_many_end_as_were_asked_for() -> None:
    app = Renewal(PlainTextResponse("taken"), 10, random.Random(7).random)
    assert sum(await closings(app, 2000)) == pytest.approx(200, rel=0.2)


async def test_what_is_no_request_passes_unchanged() -> None:
    passed: list[str] = []

    async def app(scope: Message, receive: object, send: object) -> None:
        passed.append(scope["type"])

    await Renewal(app, 1, drawn())({"type": "lifespan"}, not_received, not_sent)
    assert passed == ["lifespan"]


async def not_received() -> Message:
    raise AssertionError


async def not_sent(message: Message) -> None:
    raise AssertionError(message)
