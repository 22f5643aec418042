"""A deliverer whose producer has ended for good ends too, when it has recorded what it sent."""

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.service import EXIT_DEPENDENCY
from services.backbone.settings import KafkaSettings
from services.contracts.topics import core_topics
from services.deliverer.wiring import channel_names
from tests.broker import OwnBroker, bar_writers
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_a_deliverer_ends_with_its_producer(
    start: Start, ledger: Ledger, guarded_broker: OwnBroker
) -> None:
    settings = KafkaSettings(kafka_bootstrap_servers=guarded_broker.node.bootstrap)
    TopicAdmin(settings, "test").declare(core_topics(channel_names()))
    bar_writers(settings.kafka_bootstrap_servers)
    bootstrap = settings.kafka_bootstrap_servers
    deliverer = start("webhook", ready=False, kafka_bootstrap_servers=bootstrap)
    until(lambda: not deliverer.runs, "goes on without a producer")
    assert deliverer.process is not None
    assert deliverer.process.wait(10) == EXIT_DEPENDENCY
    assert deliverer.logged("drained")
    assert deliverer.logged("client_ended")
