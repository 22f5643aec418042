"""The only broker stands still, again and again: every named member of a group comes back.

librdkafka has two ways of not coming back by itself: it is fenced by its own earlier wish to join
(the program ends and is started again), or it drops its only broker for good (its client is
replaced). Each happens to one member of some dozens, so there are many.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import pytest

from services.backbone.errors import Ended
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until
from tests.broker import OwnBroker
from tests.integration import conftest as integration

own_broker = integration.own_broker

pytestmark = [pytest.mark.chaos, pytest.mark.kafka, pytest.mark.timeout(1200)]
MEMBERS: Final = 12
ROUNDS: Final = 8
STILL_SECONDS: Final = 20.0
"""Beyond a member's session (6 s) and a broker's (2 s)."""
BACK_SECONDS: Final = 60.0
PACE_SECONDS: Final = 0.02


@dataclass
class Member:
    """One program that reads a topic of its own; ended, it is started again."""

    name: str
    bootstrap: str
    stop: threading.Event
    given: int = 0
    serves: bool = False
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, name=self.name)
        self.thread.start()

    def _run(self) -> None:
        while not self.stop.is_set():
            with suppress(Ended):
                self._read()

    def _read(self) -> None:
        settings = ProducerSettings(
            kafka_bootstrap_servers=self.bootstrap, kafka_group_instance_id=self.name
        )
        consumer = Consumer(settings, self.name, group=self.name, topics=[self.name])
        try:
            while not self.stop.is_set():
                batch = consumer.batch(100, 0.2)
                self.given += len(batch)
                consumer.commit(batch)
                self.serves = consumer.is_member() and consumer.assigned() > 0
        finally:
            self.serves = False
            consumer.close()


@contextmanager
def load(producer: Producer, topics: list[str]) -> Iterator[None]:
    """Write to all topics, over and over."""
    stop = threading.Event()

    def write() -> None:
        while not stop.wait(PACE_SECONDS):
            producer.send([Outgoing(each, "k", b"x") for each in topics])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def stand_still(broker: OwnBroker) -> None:
    os.killpg(broker.running.group, signal.SIGSTOP)
    try:
        threading.Event().wait(STILL_SECONDS)
    finally:
        os.killpg(broker.running.group, signal.SIGCONT)


def given_more(members: list[Member]) -> Callable[[], bool]:
    """Return what tells whether each has been given something from now on."""
    before = {each.name: each.given for each in members}
    return lambda: all(each.given > before[each.name] for each in members)


def test_every_named_member_comes_back(own_broker: OwnBroker) -> None:
    bootstrap, stop = own_broker.node.bootstrap, threading.Event()
    names = [f"member-{number}" for number in range(MEMBERS)]
    settings = ProducerSettings(kafka_bootstrap_servers=bootstrap)
    TopicAdmin(settings, "test").declare([Topic(each, partitions=1) for each in names])
    producer = Producer(settings, "test")
    members = [Member(each, bootstrap, stop) for each in names]
    try:
        with load(producer, names):
            for _ in range(ROUNDS):
                wait_until(lambda: all(each.serves for each in members), BACK_SECONDS, "all serve")
                stand_still(own_broker)
                wait_until(given_more(members), BACK_SECONDS, "all are given records again")
    finally:
        stop.set()
        for each in members:
            each.thread.join()
        producer.close()
