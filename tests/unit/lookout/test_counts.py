"""What the lookout logs and counts of alerts: each once, whatever happens on their way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.errors import Transient
from services.backbone.ledger.outbox import OutboxEntry
from services.lookout.pipeline import EVENTS_LOGGED, Arrival
from services.lookout.publishing import Publisher
from tests.simulation.memory.tables import Tables
from tests.unit.deliverer.builders import FOUND_AT_MS
from tests.unit.lookout.test_mirrored import BATCH, COUNT, lookout


@dataclass
class Hiccup:
    """Publishes nothing the first time."""

    is_over: bool = False

    def publish(self, entries: Sequence[OutboxEntry]) -> None:
        if not self.is_over:
            self.is_over = True
            raise Transient("deliveries.webhook: Kafka: away")


def counted(name: str, **labels: str) -> float:
    """Return what a metric of the lookout says."""
    return REGISTRY.get_sample_value(f"aldebaran_lookout_{name}", labels) or 0.0


def test_alerts_that_kafka_takes_at_the_second_time_are_logged_and_measured() -> None:
    before = counted("detected_to_published_seconds_count")
    tables = Tables(lambda: FOUND_AT_MS / 1000)
    one = replace(lookout(tables), publisher=cast(Publisher, Hiccup()))
    with capture_logs() as lines:
        with pytest.raises(Transient):
            one(BATCH)
        one(BATCH)
    told = {each["alert_id"]: each["delivery_ids"] for each in lines}
    assert {each["event"] for each in lines} == {"alert_recorded"}
    assert len(lines) == len(told) == COUNT
    assert all(told.values())
    assert counted("detected_to_published_seconds_count") - before == COUNT


def test_an_alert_is_logged_with_the_first_of_its_events() -> None:
    events = [f"e-{number}" for number in range(EVENTS_LOGGED + 1)]
    alert = BATCH[0].alert.model_copy(update={"event_ids": events})
    with capture_logs() as lines:
        lookout(Tables(lambda: FOUND_AT_MS / 1000))([Arrival(alert, alert.encode())])
    assert [each["event_ids"] for each in lines] == [events[:EVENTS_LOGGED]]
