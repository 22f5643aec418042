"""Readers of the accountant that live, poll, and fetch nothing, on a real broker and ledger."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from confluent_kafka import TopicPartition

from services.accountant.accounts import MISSING_ALERT
from services.accountant.aside import REJECTED, Aside
from services.accountant.comparing import Comparison
from services.accountant.reader import Reader
from services.backbone.clock import SystemClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.accounting.findings import Findings
from services.backbone.ledger.database import Pool
from services.contracts import topics
from tests.integration.accountant.conftest import CHANNELS
from tests.integration.backbone.test_starving import only_in
from tests.integration.deliverer.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

LIMIT_SECONDS = 1.0
BEHIND_SECONDS = 0.5
HELD, FLOWS = (only_in(partition, 2) for partition in range(2))
"""Keys of the partition that stands still, and of the one that goes on."""


@dataclass
class Scene:
    """A comparison of two partitions of alerts, turned by the test."""

    comparison: Comparison
    findings: Findings
    producer: Producer
    flows: bool = False
    compared: int = 0
    told: set[str] = field(default_factory=set)

    def write(self, topic: str, key: str) -> None:
        self.producer.write([Outgoing(topic, key, b"{")])

    def turn(self) -> None:
        if self.flows:
            self.write(topics.ALERTS, FLOWS)
        self.compared += self.comparison.step(0.1)
        self.told |= {(self.comparison.trouble() or "").partition(" for ")[0]}

    def until(self, condition: Callable[[], object], name: str) -> None:
        def turned() -> object:
            self.turn()
            return condition()

        until(turned, name)

    def missing(self) -> set[str]:
        return {each.subject for each in self.findings.open_findings(MISSING_ALERT)}


@pytest.fixture
def scene(own_bootstrap: str, pool: Pool) -> Iterator[Scene]:
    """A scene whose readers have read, and committed, what was there."""
    settings = ProducerSettings(kafka_bootstrap_servers=own_bootstrap)
    admin, clock = TopicAdmin(settings, "test"), SystemClock()
    completeness, findings = Completeness(pool), Findings(pool)
    admin.declare(topics.core_topics(CHANNELS, {topics.ALERTS: 2}))
    with ExitStack() as closing:
        producer = Producer(settings, "test")
        closing.callback(producer.close)

        def reader(topic: str) -> Reader:
            consumer = Consumer(settings, "test", group=f"accountant-{topic}", topics=[topic])
            closing.callback(consumer.close)
            return Reader(consumer, clock, LIMIT_SECONDS)

        aside = Aside(completeness, reader(REJECTED), admin)
        comparison = Comparison(
            completeness, findings, reader(topics.ALERTS), aside, clock, BEHIND_SECONDS
        )
        scene = Scene(comparison, findings, producer)
        for key in (HELD, FLOWS):
            scene.write(topics.ALERTS, key)
        scene.until(lambda: scene.compared == 2, "both are compared")
        scene.told.clear()
        yield scene


def hold(reader: Reader, topic: str) -> None:
    """Let nothing come of a topic's first partition."""
    reader.consumer._client.pause([TopicPartition(topic, 0)])  # noqa: SLF001 - no other way


def test_a_missing_alert_is_found_in_a_partition_that_stood_still_while_others_flow(
    scene: Scene,
) -> None:
    hold(scene.comparison.alerts, topics.ALERTS)
    scene.write(topics.ALERTS, HELD)
    scene.flows = True
    lost = f"{topics.ALERTS}/0/1"
    scene.until(lambda: lost in scene.missing(), "it is found, by a new client")
    assert scene.told >= {"reads nothing", ""}
    assert scene.comparison.alerts.consumer.times_assigned() > 1


def test_what_was_set_aside_is_never_missing_while_its_reader_starves(scene: Scene) -> None:
    scene.write(REJECTED, "first")
    aside = scene.comparison.aside.reader.consumer
    scene.until(lambda: aside.given() == 1, "what was set aside is read")
    hold(scene.comparison.aside.reader, REJECTED)
    refused, compared = f"{topics.ALERTS}/0/1", scene.compared
    scene.write(topics.ALERTS, HELD)
    scene.write(REJECTED, refused)
    scene.until(lambda: aside.given() > 1, "it is read, by a new client")
    assert refused not in scene.missing()
    scene.until(lambda: scene.compared > compared, "it is compared then")
    assert refused not in scene.missing()
    assert aside.times_assigned() > 1
    assert "reads nothing" in scene.told
