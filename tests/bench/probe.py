"""Probes: crossing purchases and echoes at intended times, read back by a plain consumer.

The latency of a probe is the reader's clock when the record is in its hands, less the intended
send time (not the actual one), both on the machine's monotonic clock: no coordinated omission.
"""

import json
import threading
import time
import uuid
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Message, Producer

from tests.bench.traffic import crossing, opening, probe_index, probe_order, probe_run

OPEN_BEFORE_SECONDS = 2.0
READ_AFTER_SECONDS = 15.0


@dataclass
class Found:
    """First readings by probe, in nanoseconds of the monotonic clock.

    `raised_ns` has them by who raised the alert, too.
    """

    intended_ns: dict[int, int] = field(default_factory=dict)
    alert_ns: dict[int, int] = field(default_factory=dict)
    echo_ns: dict[int, int] = field(default_factory=dict)
    raised_ns: dict[str, dict[int, int]] = field(default_factory=dict)
    again: int = 0
    strange: int = 0

    def note_alert(self, value: bytes, run: str, now_ns: int) -> None:
        """Note an alert; who was started again raises what it did in earlier runs, too."""
        alert = json.loads(value)
        order = alert["key"]["order_id"]
        if probe_run(order) == run:
            index = probe_index(order)
            self.raised_ns.setdefault(alert["auditor"], {}).setdefault(index, now_ns)
            self.again += self.alert_ns.setdefault(index, now_ns) != now_ns
        elif probe_run(order):
            self.again += 1
        else:
            self.strange += 1

    def complete(self) -> bool:
        """Tell whether every probe has come back."""
        return len(self.alert_ns) == len(self.echo_ns) == len(self.intended_ns) > 0

    def alert_latencies(self) -> dict[int, int]:
        """Return nanoseconds from intended send to alert, by probe."""
        return {n: at - self.intended_ns[n] for n, at in self.alert_ns.items()}

    def echo_latencies(self) -> dict[int, int]:
        """Return nanoseconds from intended send to echo, by probe."""
        return {n: at - self.intended_ns[n] for n, at in self.echo_ns.items()}


@dataclass(frozen=True)
class Prober:
    """Sends `rate` probes a second for `seconds` and reads them back."""

    bootstrap: str
    topic: str
    alerts: str
    echo: str
    run: str
    rate: float
    seconds: float

    def measure(self) -> Found:
        """Send and read; return after the last answer, or some time after the last probe."""
        found, done = Found(), threading.Event()
        ready = threading.Event()
        reader = threading.Thread(target=self._read, args=(found, ready, done), daemon=True)
        reader.start()
        if not ready.wait(60):
            raise TimeoutError("the reader was given no partitions within 60 s")
        self._send(found)
        deadline = time.monotonic() + READ_AFTER_SECONDS
        while not found.complete() and time.monotonic() < deadline:
            time.sleep(0.05)
        done.set()
        reader.join()
        return found

    def _send(self, found: Found) -> None:
        producer = _producer(self.bootstrap)
        count = int(self.rate * self.seconds)
        ahead = int(self.rate * OPEN_BEFORE_SECONDS)
        started = time.monotonic_ns() + int((OPEN_BEFORE_SECONDS + 0.5) * 1e9)
        for index in range(min(ahead, count)):
            self._open(producer, index)
        for index in range(count):
            intended = started + int(index / self.rate * 1e9)
            time.sleep(max(0.0, (intended - time.monotonic_ns()) / 1e9))
            found.intended_ns[index] = intended
            order = probe_order(self.run, index)
            producer.produce(self.topic, crossing(order), order)
            producer.produce(self.echo, str(index).encode(), order)
            producer.poll(0)
            if index + ahead < count:
                self._open(producer, index + ahead)
        producer.flush(30)

    def _open(self, producer: Producer, index: int) -> None:
        order = probe_order(self.run, index)
        for event in opening(order):
            producer.produce(self.topic, event, order)

    def _read(self, found: Found, ready: threading.Event, done: threading.Event) -> None:
        consumer = tail_reader(self.bootstrap)
        consumer.subscribe([self.alerts, self.echo], on_assign=lambda *_: ready.set())
        while not done.is_set():
            message = consumer.poll(0.1)
            now = time.monotonic_ns()
            if message is not None and message.error() is None:
                self._note(found, message, now)
        consumer.close()

    def _note(self, found: Found, message: Message, now_ns: int) -> None:
        value = message.value() or b""
        if message.topic() == self.echo:
            found.echo_ns.setdefault(int(value), now_ns)
        else:
            found.note_alert(value, self.run, now_ns)


def _producer(bootstrap: str) -> Producer:
    # Not idempotent, as the load; and a probe does not wait until the one before is written.
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "linger.ms": 0,
            "log_level": 3,
            "socket.nagle.disable": True,
        }
    )


def tail_reader(bootstrap: str) -> Consumer:
    """Return a consumer that reads what comes from now on, and commits nothing."""
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"bench-{uuid.uuid4().hex}",
            "auto.offset.reset": "latest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 100,
            "socket.nagle.disable": True,
        }
    )
