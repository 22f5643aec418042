"""The operators' API on a real ledger, called in process, with a writer that remembers."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from services.backbone.clock import SystemClock
from services.backbone.errors import Transient, Trouble
from services.backbone.health import Health
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.database import Pool
from services.backbone.web.keys import ApiKey, Keys, key_hash, new_key
from services.contracts.records import Alert
from services.lookout.api.app import create_app
from services.lookout.api.desk import Office, open_desk
from services.lookout.api.operators import Operators
from services.lookout.routes.holder import RoutesHolder
from services.lookout.routes.reading import Reading
from services.lookout.routes.source import RoutesSource

CHANNELS = ("bus", "email", "webhook")
ROUTES = """
version: 1
people:
  ann: {email: ann@example.com, bus: anns}
routes:
  - name: hot
    match: {watch: over-heat}
    send: [{channel: email, to: desk@example.com}]
default:
  send: [{channel: bus, to: notifications}]
"""


@dataclass
class MemoryWriter:
    """Keeps what is written; with `away`, nothing can be."""

    written: list[Outgoing] = field(default_factory=list)
    away: bool = False

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        done: Future[list[Trouble | None]] = Future()
        done.set_result([None] * len(records))
        self.write(records)
        return done

    def write(self, records: Sequence[Outgoing]) -> None:
        if self.away:
            raise Transient("Kafka: broker kafka-0.secret:9092 is away")
        self.written += records

    def alerts(self) -> list[Alert]:
        return [Alert.decode(each.value) for each in self.written]


@dataclass
class Room:
    """One lookout's API."""

    pool: Pool
    routes_file: Path
    writer: MemoryWriter = field(default_factory=MemoryWriter)
    key: str = field(default_factory=new_key)
    opened: bool = True
    with_keys: bool = True

    def __post_init__(self) -> None:
        self.routes_file.write_text(ROUTES)
        keys = Keys([ApiKey(name="ann", sha256=key_hash(self.key))], SystemClock())
        office = Office()
        if self.opened:
            held = RoutesHolder(
                RoutesSource(self.routes_file), Reading(CHANNELS, {}), SystemClock()
            )
            office.open(open_desk(self.pool, held, self.writer, SystemClock(), CHANNELS))
        operators = Operators(keys if self.with_keys else None)
        self.app = create_app(office, operators, Health())

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        content: bytes | None = None,
        **headers: str,
    ) -> httpx2.Response:
        """Ask as the operator whose key it is."""
        given = {"authorization": f"Bearer {self.key}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://lookout") as client:
            if content is not None:
                given = {"content-type": "application/json"} | given
                return await client.request(method, path, content=content, headers=given)
            return await client.request(method, path, json=body, headers=given)
