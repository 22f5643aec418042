"""POST /v1/streams/{stream}/events: admit, read, split, judge, write, answer."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from services.backbone.clock import Clock
from services.backbone.kafka.producer import Outgoing
from services.backbone.log import logger
from services.backbone.seldom import Seldom
from services.backbone.web.keys import bearer
from services.backbone.web.problems import Problem, too_large
from services.contracts.events import EVENT_LIMIT_BYTES, Invalid
from services.gateway import metrics
from services.gateway.admission import Place, Room
from services.gateway.answer import Answer, answer, refusal
from services.gateway.intake import Intake
from services.gateway.media import Encoding, Form, encoding_of, form_of
from services.gateway.problems import Busy, NotOpen, bug, too_many_events
from services.gateway.senders import Caller, check_open
from services.gateway.settings import GatewaySettings
from services.gateway.split import Parts, Unreadable, Verdict, split
from services.gateway.unpack import Corrupt, TooLarge, unpack

log = logger(__name__)

FEW_EVENTS: Final = 256
"""Bodies that may hold more are judged in turn: many tiny ones become 300 times their bytes."""

_TOLD_SELDOM: Final = frozenset({401, 403, 429, 503})
"""What may come at any rate: it costs its sender next to nothing, or the brokers take nothing."""
_READ_AWAY_FACTOR = 4
"""A body up to this many limits is read and dropped, so that its sender sees the answer."""


class Guard(Protocol):
    """Recognises callers."""

    def caller(self, presented: str | None) -> Caller:
        """Return who presents this key."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that may send: to where, from whom, and how its body is written."""

    intake: Intake
    caller: Caller
    form: Form
    encoding: Encoding
    expected_bytes: int


@dataclass(frozen=True, slots=True)
class Ingest:
    """Takes events over HTTP."""

    settings: GatewaySettings
    intakes: Mapping[str, Intake]
    guard: Guard
    room: Room
    clock: Clock
    new_id: Callable[[], str]
    large_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by one large body at a time."""
    turns: dict[str, asyncio.Lock] = field(default_factory=partial(defaultdict, asyncio.Lock))
    """By the key's name, for bodies of many events: one sender's keep no other sender waiting."""

    seldom: Seldom = field(default_factory=Seldom)
    """Of what may be refused at any rate; one kind for each key, and one for who has none."""

    def __post_init__(self) -> None:
        # No other on-ramp counts requests: where none does, no gateway is up, used or not.
        metrics.REQUESTS.labels("200")

    async def __call__(self, request: Request) -> Response:
        """Answer one request; the request's id is in the answer, the log and what is kept aside."""
        began = self.clock.monotonic_seconds()
        request_id = self.new_id()
        try:
            said = await self._answer(request, request_id)
        except Problem as problem:
            self.tell(problem, request_id)
            said = refusal(problem, request_id)
        except Exception as error:
            # One sender's request must not stop the others, so a bug ends the request only.
            log.error("bug", request_id=request_id, exc_info=error)
            said = refusal(bug(), request_id)
        self._count(said.status, began)
        return response(said, request_id)

    def tell(self, problem: Problem, request_id: str) -> None:
        """Log why a request is refused.

        Too many requests, or those of strangers, must not become too many lines.
        """
        facts = {"request_id": request_id, "reason": str(problem)} | _about(problem)
        write = log.warning if isinstance(problem, Busy) else log.info
        kind = f"{problem.reason} {facts.get('caller', '')}"
        self._tell(write, "request_refused", problem.status, kind, facts)

    def _tell_not_all(self, said: Answer, request_id: str, admitted: Admitted, events: int) -> None:
        facts = {
            "request_id": request_id,
            "status": said.status,
            "stream": admitted.intake.stream.stream,
            "caller": admitted.caller.name,
            "events": events,
        }
        kind = f"not all of {admitted.caller.name}"
        self._tell(log.info, "request_not_all_accepted", said.status, kind, facts)

    def _tell(
        self,
        write: Callable[..., object],
        event: str,
        status: int,
        kind: str,
        facts: Mapping[str, object],
    ) -> None:
        if status not in _TOLD_SELDOM:
            write(event, **facts)
            return
        now = self.clock.monotonic_seconds()
        self.seldom.tell(write, event, now, kind=kind, between=log.debug, **facts)

    def _count(self, status: int, began: float) -> None:
        metrics.REQUESTS.labels(str(status)).inc()
        metrics.REQUEST_SECONDS.observe(self.clock.monotonic_seconds() - began)

    async def _answer(self, request: Request, request_id: str) -> Answer:
        admitted = self._admit(request)
        with self.room.enter(admitted.caller.name, admitted.expected_bytes) as place:
            body = await self._read(request, place)
            intake, source = admitted.intake, f"http {admitted.caller.name} {request_id}"
            plain = self._unpacked(body, admitted, place)
            async with self._turn(plain, admitted.caller.name):
                verdicts, records = await self._judge(plain, admitted, source)
            taken = await intake.take(verdicts, records, source)
            said = answer(intake.stream.stream, taken, request_id)
        if said.status != 200:
            self._tell_not_all(said, request_id, admitted, len(taken.verdicts))
        return said

    def _admit(self, request: Request) -> Admitted:
        headers = request.headers
        caller = self.guard.caller(bearer(headers))
        stream = request.path_params["stream"]
        intake = self.intakes.get(stream)
        if intake is None:
            raise unknown_stream(stream, self.intakes)
        check_open(caller, stream)
        form = form_of(headers.get("content-type", ""))
        encoding = encoding_of(headers.get("content-encoding", ""))
        return Admitted(intake, caller, form, encoding, self._announced_bytes(headers))

    def _announced_bytes(self, headers: Mapping[str, str]) -> int:
        announced = headers.get("content-length", "0")
        count = int(announced) if announced.isdecimal() else 0
        limit = self.settings.body_limit_bytes
        if count > limit:
            raise too_large("the body", limit, close=count > limit * _READ_AWAY_FACTOR)
        return count

    async def _read(self, request: Request, place: Place) -> bytes:
        try:
            async with asyncio.timeout(self.settings.body_timeout_seconds):
                return await self._whole(request, place)
        except TimeoutError:
            raise self._not_in_time(place) from None
        except ClientDisconnect:
            raise Problem(400, "body_cut_off", "the sender left before the body's end") from None

    def _not_in_time(self, place: Place) -> Problem:
        if place.dropped_bytes:  # 408 would have its sender try the same body again
            return too_large("the body", self.settings.body_limit_bytes, close=True)
        detail = f"the body did not come within {self.settings.body_timeout_seconds:g} s"
        return Problem(408, "body_too_slow", detail, {"Connection": "close"})

    async def _whole(self, request: Request, place: Place) -> bytes:
        limit, chunks = self.settings.body_limit_bytes, list[bytes]()
        async for chunk in request.stream():
            if place.dropped_bytes or place.held_bytes + len(chunk) > limit:
                chunks.clear()
                place.dropped_bytes += len(chunk)
                if place.held_bytes + place.dropped_bytes > limit * _READ_AWAY_FACTOR:
                    raise too_large("the body", limit, close=True)
            else:
                place.take(len(chunk))
                chunks.append(chunk)
        if place.dropped_bytes:
            raise too_large("the body", limit)
        return b"".join(chunks)

    def _turn(self, plain: bytes | Unreadable, key: str) -> AbstractAsyncContextManager[None]:
        if isinstance(plain, Unreadable):
            return nullcontext()
        if len(plain) > EVENT_LIMIT_BYTES:
            return self.large_turn
        # Events have as many signs between them at least.
        is_crowd = plain.count(b",") + plain.count(b"\n") >= FEW_EVENTS
        return self.turns[key] if is_crowd else nullcontext()

    async def _judge(
        self, plain: bytes | Unreadable, admitted: Admitted, source: str
    ) -> tuple[list[Verdict], list[Outgoing]]:
        """Judge every event; what was parsed is let go before the broker is waited for."""
        parts = self._split(plain, admitted) if isinstance(plain, bytes) else plain
        verdicts = await admitted.intake.judge(parts)
        return verdicts, await admitted.intake.prepare(parts, verdicts, source)

    def _unpacked(self, body: bytes, admitted: Admitted, place: Place) -> bytes | Unreadable:
        limit = self.settings.body_limit_bytes
        try:
            plain = unpack(body, admitted.encoding, limit)
        except TooLarge:
            raise too_large("the decompressed body", limit) from None
        except Corrupt as error:
            return Unreadable(body, Invalid("bad_encoding", str(error)))
        if admitted.encoding is not Encoding.IDENTITY:
            place.take(len(plain))
        return plain

    def _split(self, plain: bytes, admitted: Admitted) -> Parts:
        metrics.BODY_BYTES.inc(len(plain))
        parts = split(plain, admitted.form)
        if len(parts) > self.settings.batch_limit_events:
            raise too_many_events(len(parts), self.settings.batch_limit_events)
        if not len(parts):
            raise Problem(422, "empty", "the body holds no event; nothing was kept")
        return parts


def response(said: Answer, request_id: str) -> Response:
    """Return an answer as it goes out, with the request's id."""
    headers = {"X-Request-Id": request_id, **said.headers}
    return Response(said.body, said.status, headers, said.media_type)


def unknown_stream(name: str, declared: Mapping[str, object]) -> Problem:
    """Return 404 with the streams there are."""
    known = sorted(declared)
    detail = f"no stream {name[:100]} is declared; declared are {', '.join(known)}"
    return Problem(404, "unknown_stream", detail, streams=known)


def _about(problem: Problem) -> dict[str, str]:
    """Return what the log says of who was refused; of strangers there is nothing to say."""
    match problem:
        case Busy():
            return {"caller": problem.key, "most_held_by": problem.fullest}
        case NotOpen():
            return {"caller": problem.key}
        case _:
            return {}
