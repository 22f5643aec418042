"""What a stream's topics hold, and senders that remember what they were told."""

import itertools
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import httpx2
import orjson

from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import KafkaSettings
from services.contracts.records import Rejected

PATIENCE_SECONDS = 90

get = partial(httpx2.get, timeout=PATIENCE_SECONDS)
post = partial(httpx2.post, timeout=PATIENCE_SECONDS)


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.02)


def event(number: int | str, **more: object) -> dict[str, object]:
    own = {"kind": "request", "event_id": f"e-{number}", "order_id": f"e-{number}"}
    return own | {"shares": 1, "client": "c", "stock": "s"} | more


@dataclass(frozen=True)
class Stream:
    """The topics of one stream on one broker."""

    name: str
    bootstrap: str

    @property
    def path(self) -> str:
        return f"/v1/streams/{self.name}/events"

    def events_until(self, enough: Callable[[set[str]], bool]) -> list[str]:
        """Read event ids from the start until there are enough."""
        return [
            orjson.loads(value)["event_id"]
            for value in self._read(
                self.name,
                lambda values: enough({orjson.loads(value)["event_id"] for value in values}),
            )
        ]

    def rejected(self, count: int) -> list[Rejected]:
        values = self._read(f"{self.name}.rejected", lambda values: len(values) >= count)
        return [Rejected.decode(value) for value in values]

    def _read(self, topic: str, enough: Callable[[list[bytes]], bool]) -> list[bytes]:
        settings = KafkaSettings(kafka_bootstrap_servers=self.bootstrap)
        consumer = Consumer(settings, "test", group=uuid.uuid4().hex, topics=[topic])
        values: list[bytes] = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        try:
            while not enough(values):
                assert time.monotonic() < deadline, f"{len(values)} records are not all of {topic}"
                values += [each.value for each in consumer.batch(5000, 0.5)]
        finally:
            consumer.close()
        return values


@dataclass
class Senders:
    """Threads that post single events until they are stopped, whatever the answers are."""

    url: str
    statuses: list[int] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def accept_more(self, count: int) -> None:
        """Wait until so many more events are accepted."""
        enough = len(self.accepted) + count
        wait_until(lambda: len(self.accepted) >= enough, f"{enough} accepted events")

    @contextmanager
    def sending(self, threads: int = 4) -> Iterator["Senders"]:
        running = [threading.Thread(target=self._send) for _ in range(threads)]
        for each in running:
            each.start()
        try:
            yield self
        finally:
            self.stop.set()
            for each in running:
                each.join()

    def _send(self) -> None:
        with httpx2.Client(timeout=PATIENCE_SECONDS) as client:
            while not self.stop.is_set():
                number = next(self.numbers)
                try:
                    response = client.post(self.url, content=orjson.dumps(event(number)))
                except httpx2.TransportError:
                    self.stop.wait(0.05)
                    continue
                self.statuses.append(response.status_code)
                if response.is_success:
                    self.accepted.add(f"e-{number}")
                else:
                    self.stop.wait(0.05)
