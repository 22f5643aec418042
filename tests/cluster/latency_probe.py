"""Runs in a pod: orders that cross at intended moments, and when each auditor's alert was read.

`latency_probe.py EVENTS_PER_SECOND PROBES_PER_SECOND SECONDS` writes JSON: for each probe the
moment it was meant to leave (milliseconds since 1970) and, by auditor, milliseconds from there
until its alert was in the reader's hands; as `echo`, those of a record that went straight through
the broker at the same moment.
"""

import json
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from services.backbone.settings import KafkaSettings, read_settings
from services.contracts.topics import ALERTS

OPEN_BEFORE_SECONDS = 2.0
READ_AFTER_SECONDS = 20.0
STREAM = "trades"
ECHO = "latency-echo"
TOPIC_TIMEOUT_SECONDS = 30


@dataclass
class Run:
    """What was sent and what came back."""

    name: str
    intended_ns: dict[int, int] = field(default_factory=dict)
    read_ns: dict[int, dict[str, int]] = field(default_factory=dict)

    def order(self, probe: int) -> str:
        """Name a probe's order."""
        return f"{self.name}-{probe}"


def event(kind: str, ident: str, order: str, shares: int) -> bytes:
    """Return one event."""
    about = {"order_id": order, "client": "probe", "stock": "ACME"}
    return json.dumps({"kind": kind, "event_id": ident, "shares": shares, **about}).encode()


def read(run: Run, servers: str, ready: threading.Event, done: threading.Event) -> None:
    """Note when each auditor's alert about one of our orders is in our hands."""
    settings = {"bootstrap.servers": servers, "group.id": run.name, "fetch.wait.max.ms": 10}
    consumer = Consumer({**settings, "auto.offset.reset": "latest", "enable.auto.commit": False})
    consumer.subscribe([ALERTS, ECHO], on_assign=lambda *_: ready.set())
    while not done.is_set():
        message = consumer.poll(0.1)
        now_ns = time.monotonic_ns()
        if message is None or message.error() is not None:
            continue
        source, order = told(message.topic() or "", message.value() or b"")
        name, _, number = order.rpartition("-")
        if name == run.name:
            run.read_ns.setdefault(int(number), {}).setdefault(source, now_ns)
    consumer.close()


def told(topic: str, value: bytes) -> tuple[str, str]:
    """Return which auditor tells of which order, or that it is the order's echo."""
    if topic == ECHO:
        return "echo", value.decode()
    alert = json.loads(value)
    return alert["auditor"], alert["key"].get("order_id", "")


def declare_echo(servers: str) -> None:
    """Make the topic of echoes, if it is not there."""
    admin = AdminClient({"bootstrap.servers": servers})
    if ECHO not in admin.list_topics(timeout=TOPIC_TIMEOUT_SECONDS).topics:
        admin.create_topics([NewTopic(ECHO, 1, 1)])[ECHO].result(TOPIC_TIMEOUT_SECONDS)


def send(run: Run, servers: str, rate: float, probes: float, seconds: float) -> None:
    """Send background events, and probes whose requests went out some time before."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0, "acks": "all"})
    step_ns = int(1e9 / rate)
    every = max(1, round(rate / probes))
    ahead = round(probes * OPEN_BEFORE_SECONDS)
    begun_ns = time.monotonic_ns() + int(1e9)
    for number in range(int(rate * seconds)):
        due_ns = begun_ns + number * step_ns
        time.sleep(max(0.0, (due_ns - time.monotonic_ns()) / 1e9))
        probe, part = divmod(number, every)
        if part == 0 and probe >= ahead:
            order = run.order(probe)
            run.intended_ns[probe] = due_ns
            producer.produce(STREAM, event("purchase", f"{order}-p", order, 11), order)
            producer.produce(ECHO, order)
        elif part == 1:
            order = run.order(probe + ahead)
            producer.produce(STREAM, event("request", order, order, 10), order)
        else:
            order = f"{run.name}-b{number // 5}"
            kind, shares = ("request", 100) if number % 5 == 0 else ("purchase", 1)
            producer.produce(STREAM, event(kind, f"{order}-{number}", order, shares), order)
        producer.poll(0)
    producer.flush(30)


def main(rate: float, probes: float, seconds: float) -> None:
    """Measure, and write what came of it."""
    servers = read_settings(KafkaSettings).kafka_bootstrap_servers
    run, ready, done = Run(f"lat{uuid.uuid4().hex[:8]}"), threading.Event(), threading.Event()
    declare_echo(servers)
    reader = threading.Thread(target=read, args=(run, servers, ready, done))
    reader.start()
    ready.wait(60)
    wall_ns = time.time_ns() - time.monotonic_ns()
    send(run, servers, rate, probes, seconds)
    time.sleep(READ_AFTER_SECONDS)
    done.set()
    reader.join()
    found = [
        {
            "at_ms": (intended + wall_ns) / 1e6,
            "ms": {
                auditor: (at - intended) / 1e6 for auditor, at in run.read_ns.get(probe, {}).items()
            },
        }
        for probe, intended in run.intended_ns.items()
    ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*(float(each) for each in sys.argv[1:4]))
