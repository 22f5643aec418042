"""A migrated ledger, topics, and lookouts as processes, for the lookout's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Producer, ProducerSettings
from services.backbone.ledger.alerts.intake import Intake
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.database import Pool
from services.contracts.topics import core_topics, deliveries
from tests.integration.lookout.keeping import Desk, open_desk
from tests.integration.lookout.processes import Lookouts, Reader

CHANNELS = ("bus", "webhook", "email")


@pytest.fixture
def intake(pool: Pool) -> Intake:
    return Intake(pool)


@pytest.fixture
def outbox(pool: Pool) -> Outbox:
    return Outbox(pool)


@pytest.fixture
def desk(pool: Pool, ledger_url: str) -> Iterator[Desk]:
    assert not pool.closed, "only a migrated ledger serves"
    with open_desk(ledger_url) as desk:
        yield desk


@pytest.fixture
def producer(kafka_bootstrap: str) -> Iterator[Producer]:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare(core_topics(CHANNELS))
    producer = Producer(settings, "test")
    yield producer
    producer.close()


@pytest.fixture
def reader(kafka_bootstrap: str, producer: Producer) -> Iterator[Reader]:
    reader = Reader(kafka_bootstrap, [deliveries(channel) for channel in CHANNELS])
    yield reader
    reader.close()


@pytest.fixture
def lookouts(
    kafka_bootstrap: str, ledger_url: str, producer: Producer, tmp_path: Path
) -> Iterator[Lookouts]:
    lookouts = Lookouts(kafka_bootstrap, ledger_url, tmp_path)
    yield lookouts
    lookouts.close()
