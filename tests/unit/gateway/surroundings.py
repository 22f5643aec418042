"""A gateway without a broker: a writer that remembers, and a client that calls the application."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
from fastapi import FastAPI

from services.backbone.clock import ManualClock
from services.backbone.errors import Trouble
from services.backbone.health import Health
from services.backbone.kafka.producer import Outgoing
from services.contracts.records import Rejected
from services.contracts.streams import load_streams
from services.gateway.admission import Room
from services.gateway.app import create_app
from services.gateway.ingest import Guard, Ingest
from services.gateway.intake import Intake
from services.gateway.senders import Anybody
from services.gateway.settings import GatewaySettings

STREAM = "trades"
EVENTS = f"/v1/streams/{STREAM}/events"
EVENT = {"kind": "request", "event_id": "r", "order_id": "r", "shares": 1, "client": "c"} | {
    "stock": "s"
}


@dataclass
class MemoryWriter:
    """Keeps what is written; `troubles` go to the first records of the next batch."""

    written: list[Outgoing] = field(default_factory=list)
    troubles: list[Trouble | None] = field(default_factory=list)

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        outcomes, self.troubles = self.troubles[: len(records)], self.troubles[len(records) :]
        outcomes += [None] * (len(records) - len(outcomes))
        self.written += [
            record for record, outcome in zip(records, outcomes, strict=True) if outcome is None
        ]
        done: Future[list[Trouble | None]] = Future()
        done.set_result(outcomes)
        return done

    def accepted(self) -> list[bytes]:
        return [record.value for record in self.written if record.topic == STREAM]

    def kept_aside(self) -> list[Rejected]:
        return [
            Rejected.decode(record.value)
            for record in self.written
            if record.topic == f"{STREAM}.rejected"
        ]


@dataclass
class HeldWriter:
    """A broker that does not answer until it is told to."""

    open: list[tuple[int, "Future[list[Trouble | None]]"]] = field(default_factory=list)

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        waiting: Future[list[Trouble | None]] = Future()
        self.open.append((len(records), waiting))
        return waiting

    async def holds(self, requests: int) -> None:
        async with asyncio.timeout(30):
            while len(self.open) < requests:
                await asyncio.sleep(0)

    def answer_all(self) -> None:
        for count, waiting in self.open:
            waiting.set_result([None] * count)


@dataclass(frozen=True)
class Gateway:
    client: httpx2.AsyncClient
    room: Room
    health: Health
    app: FastAPI
    clock: ManualClock

    async def post(self, content: bytes | AsyncIterator[bytes], **headers: str) -> httpx2.Response:
        spelled = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(EVENTS, content=content, headers=spelled)


@contextmanager
def gateway(
    writer: MemoryWriter | HeldWriter,
    settings: GatewaySettings | None = None,
    guard: Guard | None = None,
) -> Iterator[Gateway]:
    settings = settings or GatewaySettings(api_keys="off")
    clock = ManualClock()
    intakes = {name: Intake(each, writer, clock) for name, each in load_streams().items()}
    room = Room(settings.inflight_limit_requests, settings.inflight_limit_bytes)
    numbers = itertools.count(1)
    ingest = Ingest(settings, intakes, guard or Anybody(), room, clock, lambda: f"{next(numbers)}")
    health = Health()
    app = create_app(ingest, health)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://gateway")
    yield Gateway(client, room, health, app, clock)
