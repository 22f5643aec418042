"""What goes around every answer, also around one to a bug."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI
from starlette.responses import Response, StreamingResponse
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.web.answers import add_problems, as_json
from services.console.envelope import SAFE_HEADERS, Envelope
from services.console.metrics import REQUESTS


def built() -> FastAPI:
    app = FastAPI()

    @app.get("/fine")
    async def fine() -> Response:
        return Response("fine")

    @app.get("/broken")
    async def broken() -> Response:
        raise KeyError("bug")

    @app.get("/cut")
    async def cut() -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"so far"
            raise KeyError("bug")

        return StreamingResponse(chunks())

    app.add_middleware(Envelope, clock=ManualClock(), answer=as_json)
    add_problems(app)
    return app


async def ask(path: str) -> httpx2.Response:
    transport = httpx2.ASGITransport(built())
    async with httpx2.AsyncClient(transport=transport, base_url="http://console") as client:
        return await client.get(path)


def answered(route: str, status: str) -> float:
    (metric,) = REQUESTS.labels(route=route, status=status).collect()
    return next(each.value for each in metric.samples if each.name.endswith("_count"))


@pytest.mark.parametrize(("path", "status"), [("/fine", 200), ("/broken", 500), ("/nowhere", 404)])
async def test_every_answer_has_the_headers_and_is_counted(path: str, status: int) -> None:
    route = path if status != 404 else "other"
    before = answered(route, str(status))
    answer = await ask(path)
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in SAFE_HEADERS} == SAFE_HEADERS
    assert answer.headers["cache-control"] == "no-store"
    assert answered(route, str(status)) == before + 1


async def test_a_bug_is_told_and_logged() -> None:
    with capture_logs() as logs:
        assert (await ask("/broken")).json()["title"] == "bug"
    (line,) = (each for each in logs if each["event"] == "bug")
    assert isinstance(line["exc_info"], KeyError)


async def test_an_answer_that_breaks_off_is_not_ended_as_if_it_were_whole() -> None:
    with pytest.raises(KeyError):
        await ask("/cut")
