"""A lookout whose producer has ended for good ends too, so that a new one goes on."""

from pathlib import Path

import pytest

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.service import EXIT_DEPENDENCY
from services.backbone.settings import KafkaSettings
from services.contracts.topics import core_topics
from tests.broker import OwnBroker, bar_writers
from tests.integration.lookout.conftest import CHANNELS
from tests.integration.lookout.processes import Lookouts, eventually

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_a_lookout_ends_with_its_producer(
    guarded_broker: OwnBroker, ledger_url: str, tmp_path: Path
) -> None:
    settings = KafkaSettings(kafka_bootstrap_servers=guarded_broker.node.bootstrap)
    TopicAdmin(settings, "test").declare(core_topics(CHANNELS))
    bar_writers(settings.kafka_bootstrap_servers)
    lookouts = Lookouts(settings.kafka_bootstrap_servers, ledger_url, tmp_path)
    running = lookouts.start(ready=False)
    try:
        eventually(lambda: running.exit_code is not None, "goes on without a producer")
    finally:
        running.end(0)
    assert running.exit_code == EXIT_DEPENDENCY
    assert "client_ended" in lookouts.log()
