"""The gateway sender against a real HTTP server that answers by a script."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import islice

import orjson
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.service import HttpServer
from services.contracts.events import Event, EventReader
from services.contracts.streams import load_streams
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from services.simulator.dials import Shape
from services.simulator.gateway_sender import GatewaySender
from services.simulator.history import Kind, Message, history
from services.simulator.sending import Settled
from services.simulator.tally import Outcome

READER = EventReader(load_streams()["trades"])
KEY = "a-key"


class ScriptedGateway:
    """Takes valid events once; first says busy, then not written, then the truth."""

    def __init__(self) -> None:
        self.taken: Counter[bytes] = Counter()
        self.requests = 0

    async def events(self, request: Request) -> Response:
        self.requests += 1
        lines = (await request.body()).split(b"\n")
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"title": "no_valid_key"}, 401)
        if self.requests == 1:
            return JSONResponse({"title": "busy"}, 429, {"Retry-After": "0"})
        if self.requests == 2:
            return self.half(lines)
        results = self.take(lines)
        return JSONResponse({"results": results}, 207 if results else 200)

    def take(self, lines: list[bytes]) -> list[dict[str, object]]:
        good = [isinstance(READER.read(line), Event) for line in lines]
        self.taken.update(line for line, valid in zip(lines, good, strict=True) if valid)
        return [
            {"index": index, "status": "rejected"} for index, valid in enumerate(good) if not valid
        ]

    def half(self, lines: list[bytes]) -> Response:
        middle = len(lines) // 2
        later = [{"index": n, "status": "retry"} for n in range(middle, len(lines))]
        results = self.take(lines[:middle]) + later
        return JSONResponse({"results": results}, 503, {"Retry-After": "0"})


@pytest.fixture
def gateway() -> Iterator[tuple[ScriptedGateway, str]]:
    script = ScriptedGateway()
    with serving(script.events) as url:
        yield script, url


@contextmanager
def serving(answer: Callable[[Request], Awaitable[Response]]) -> Iterator[str]:
    route = Route("/v1/streams/trades/events", answer, methods=["POST"])
    port = free_ports(1)[0]
    with HttpServer(Starlette(routes=[route]), "127.0.0.1", port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def sender(url: str, key: str | None = KEY) -> Iterator[GatewaySender]:
    made = GatewaySender(url, "trades", key, SystemClock(), workers=4)
    try:
        yield made
    finally:
        made.close()


def all_settled(sender: GatewaySender) -> list[Settled]:
    settled: list[Settled] = []

    def none_waits() -> bool:
        settled.extend(sender.collect())
        return not sender.waiting()

    wait_until(none_waits, 30, "the gateway did not answer")
    return settled


def batches(size: int) -> Iterator[list[Message]]:
    messages = history(Shape(malformed=0.2), "run", 40)
    while batch := list(islice(messages, size)):
        yield batch


def test_every_message_gets_its_outcome_and_is_taken_once(
    gateway: tuple[ScriptedGateway, str],
) -> None:
    script, url = gateway
    settled: list[Settled] = []
    with sender(url) as sending:
        for batch in batches(50):
            assert sending.start(batch)
            settled += all_settled(sending)
        assert sending.retried() == 50 + 25
    outcomes = [pair for each in settled for pair in zip(each.messages, each.outcomes, strict=True)]
    for message, outcome in outcomes:
        bad = message.kind is Kind.MALFORMED
        assert outcome is (Outcome.REJECTED if bad else Outcome.ACCEPTED)
    valid = [message.value for message, outcome in outcomes if outcome is Outcome.ACCEPTED]
    assert len(valid) == 200
    assert script.taken == Counter(valid)


def test_more_than_the_workers_can_carry_is_not_started() -> None:
    with sender(f"http://127.0.0.1:{free_ports(1)[0]}") as sending:
        started = [sending.start(batch) for batch in batches(10)]
        assert started.count(True) == 4
        wait_until(lambda: sending.retried() > 0, 30, "nothing was tried again")
        settled = sending.close()
    assert {outcome for each in settled for outcome in each.outcomes} == {Outcome.UNKNOWN}
    assert sum(len(each.messages) for each in settled) == 40


def test_a_wrong_key_ends_the_run(gateway: tuple[ScriptedGateway, str]) -> None:
    with sender(gateway[1], key="wrong") as sending:
        sending.start(next(batches(5)))
        with pytest.raises(Refused, match="401"):
            all_settled(sending)


def test_what_was_answered_before_the_run_ends_is_counted() -> None:
    first, second = islice(batches(2), 2)

    async def revoked_after_one(request: Request) -> Response:
        is_first = first[0].value in await request.body()
        return JSONResponse({}, 200 if is_first else 401)

    settled: list[Settled] = []
    with serving(revoked_after_one) as url, sender(url) as sending:
        assert sending.start(first)
        assert sending.start(second)
        open_batches = sending._open  # noqa: SLF001 - only the test waits for both
        wait_until(lambda: all(each.done() for each in open_batches), 30, "no answers")
        with pytest.raises(Refused, match="401"):
            settled.extend(sending.collect())
        settled += sending.close()
    outcomes = [outcome for each in settled for outcome in each.outcomes]
    assert outcomes == [Outcome.ACCEPTED] * 2 + [Outcome.UNKNOWN] * 2


def test_lines_are_what_the_history_says(gateway: tuple[ScriptedGateway, str]) -> None:
    script, url = gateway
    with sender(url) as sending:
        sending.start(next(batches(10)))
        all_settled(sending)
    assert all(orjson.loads(line)["order_id"].startswith("run-") for line in script.taken)
