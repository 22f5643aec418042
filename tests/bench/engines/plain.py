"""Engines without an engine: confluent-kafka consumers in Python, one process a partition.

`rule` applies the shipped rule and keeps its books in memory only: a restart forgets them.
`pass_through` counts, and finds the probes' crossings by name.
"""

import argparse
import os
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

import psutil
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from services.contracts.records import Alert
from services.contracts.topics import ALERTS
from services.machine.supervision import child
from services.machine.supervision.programs import Program
from services.machine.waiting import wait_until
from tests.bench.engine import ROOT, Engine, Kill, Scene, Usage, usage_of
from tests.bench.rule import Books, alert_of
from tests.bench.traffic import is_crossing

STREAM = "trades"
READY = b"reading\n"
START_TIMEOUT_SECONDS = 60
FETCHED_AT_ONCE = 10_000

Judge = Callable[[bytes, int], Alert | None]


@dataclass(frozen=True)
class Processes:
    """Running consumers."""

    processes: Sequence[psutil.Process]

    def usage(self) -> Usage:
        """Return what they have used."""
        return usage_of(self.processes)

    def boundaries_ns(self) -> list[int]:
        """Return nothing: they keep no checkpoints."""
        return []

    def killing(self, seconds: float) -> AbstractContextManager[Sequence[Kill]]:
        """Kill none."""
        return nullcontext(())


@contextmanager
def rule(scene: Scene) -> Iterator[Engine]:
    """Run the rule in plain consumers."""
    with _consumers(scene, "rule") as found:
        yield found


@contextmanager
def pass_through(scene: Scene) -> Iterator[Engine]:
    """Run consumers that only count."""
    with _consumers(scene, "count") as found:
        yield found


@contextmanager
def _consumers(scene: Scene, what: str) -> Iterator[Processes]:
    with ExitStack() as closing:
        started = []
        for partition in range(scene.partitions):
            command = (sys.executable, "-m", "tests.bench.engines.plain", scene.bootstrap, what)
            program = Program("plain", (*command, str(partition)), {"PYTHONPATH": str(ROOT)})
            log_file = scene.home / "log" / f"{what}-{partition}.log"
            running = child.start(program, log_file, os.environ)
            closing.callback(running.stop)
            started.append((log_file, psutil.Process(running.process.pid)))
        for log_file, _ in started:
            wait_until(
                lambda file=log_file: READY in file.read_bytes(),  # type: ignore[misc] # bound now
                START_TIMEOUT_SECONDS,
                f"a plain consumer to be ready; see {log_file}",
            )
        yield Processes([process for _, process in started])


def judge_crossings(value: bytes, at_ms: int) -> Alert | None:
    """Return an alert for a probe's crossing; look at nothing else."""
    return alert_of(value, at_ms) if is_crossing(value) else None


def run(consumer: Consumer, producer: Producer, judge: Judge, stop: threading.Event) -> None:
    """Judge message by message until told to stop."""
    while not stop.is_set():
        message = consumer.poll(0.1)
        if message is not None:
            _take(message, producer, judge)
        producer.poll(0)


def run_counting(consumer: Consumer, producer: Producer, stop: threading.Event) -> None:
    """Take many messages at once; the first waits up to 20 ms for others."""
    while not stop.is_set():
        for message in consumer.consume(FETCHED_AT_ONCE, 0.02):
            value = message.value()
            if value is not None and is_crossing(value):
                _take(message, producer, judge_crossings)
        producer.poll(0)


def _take(message: Message, producer: Producer, judge: Judge) -> None:
    value = message.value()
    if message.error() is not None or value is None:
        return
    alert = judge(value, message.timestamp()[1])
    if alert is not None:
        producer.produce(ALERTS, alert.encode(), alert.alert_id)


def _consumer(bootstrap: str, partition: int) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"bench-{uuid.uuid4().hex}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 100,
            "socket.nagle.disable": True,
        }
    )
    consumer.assign([TopicPartition(STREAM, partition, 0)])
    return consumer


def _producer(bootstrap: str) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": 0,
            "socket.nagle.disable": True,
        }
    )


def main() -> None:
    """Consume the partition that the arguments name until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("bootstrap")
    parser.add_argument("what", choices=("rule", "count"))
    parser.add_argument("partition", type=int)
    told = parser.parse_args()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    consumer, producer = _consumer(told.bootstrap, told.partition), _producer(told.bootstrap)
    sys.stdout.buffer.write(READY)
    sys.stdout.flush()
    if told.what == "rule":
        run(consumer, producer, Books().take, stop)
    else:
        run_counting(consumer, producer, stop)
    producer.flush(10)
    consumer.close()


if __name__ == "__main__":
    main()
