"""Two lookouts on a topic of two partitions: both take work, and nothing is recorded twice.

A delivery may be published twice: the copy of an alert that comes to the other lookout before the
first has marked its deliveries is taken for one that a crash has left over. Its claim drops it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.contracts import topics
from services.contracts.records import Alert
from services.machine.supervision.child import Child
from tests.broker import OwnBroker
from tests.integration.lookout.conftest import CHANNELS
from tests.integration.lookout.findings import findings, wait_until_recorded, wanted
from tests.integration.lookout.processes import Lookouts, Reader, eventually, page
from tests.topic import until_listed

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

PARTITIONS = 2
NEW = re.compile(r'aldebaran_lookout_alerts_total\{result="new"\} (\d+)')


@pytest.fixture
def kafka(own_broker: OwnBroker) -> ProducerSettings:
    """A broker whose topic of alerts began with one partition, and has grown."""
    settings = ProducerSettings(kafka_bootstrap_servers=own_broker.node.bootstrap)
    admin = TopicAdmin(settings, "test")
    admin.declare(topics.core_topics(CHANNELS))
    until_listed(admin, topics.ALERTS)
    admin.declare(topics.core_topics(CHANNELS, {topics.ALERTS: PARTITIONS}))
    # A consumer that still sees one partition asks again only minutes later.
    eventually(lambda: admin.partitions()[topics.ALERTS] == PARTITIONS, "not grown")
    return settings


@pytest.fixture
def two(kafka: ProducerSettings, ledger_url: str, tmp_path: Path) -> Iterator[Lookouts]:
    lookouts = Lookouts(kafka.kafka_bootstrap_servers, ledger_url, tmp_path)
    for _ in range(PARTITIONS):
        lookouts.start()
    yield lookouts
    lookouts.close()


def raised_by_two(alerts: list[Alert]) -> list[Outgoing]:
    """Return each alert twice, the second under another key: its lookout may be the other one."""
    return [
        Outgoing(topics.ALERTS, alert.alert_id + auditor, alert.encode())
        for auditor in ("a", "b")
        for alert in alerts
    ]


def taken(lookout: Child) -> int:
    """Return how many alerts a lookout was the first to record."""
    found = NEW.search(page(lookout, "/metrics"))
    return int(found[1]) if found else 0


def test_both_take_work_and_each_alert_is_taken_once(
    kafka: ProducerSettings, two: Lookouts, ledger_url: str
) -> None:
    producer = Producer(kafka, "test")
    reader = Reader(
        kafka.kafka_bootstrap_servers, [topics.deliveries(channel) for channel in CHANNELS]
    )
    alerts: list[Alert] = []

    def both_take_work() -> bool:
        alerts.extend(more := findings(300))
        producer.write(raised_by_two(more))
        return all(taken(lookout) for lookout in two.running)

    eventually(both_take_work, "one lookout takes nothing")
    reader.wait_for(wanted(alerts))
    wait_until_recorded(ledger_url, alerts)
    assert sum(map(taken, two.running)) == len(alerts)
    reader.close()
    producer.close()
    assert set(reader.keys()) == wanted(alerts)
