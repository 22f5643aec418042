"""What the lookout logs and counts of alerts: each once, whatever happens on their way."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.errors import Transient
from services.backbone.ledger.alerts.outbox import OutboxEntry
from services.lookout.intake.counting import Repeats
from services.lookout.intake.mirror import mirrored
from services.lookout.intake.pipeline import EVENTS_LOGGED, Arrival
from services.lookout.outbox.publishing import Publisher
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.tables import Tables
from tests.unit.deliverer.builders import FOUND_AT_MS
from tests.unit.lookout.test_counting import OneBook
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


@pytest.mark.parametrize("is_mirror_first", [False, True])
def test_of_two_lookouts_one_counts_a_copy(is_mirror_first: bool) -> None:
    tables = Tables(lambda: FOUND_AT_MS / 1000)
    whole = replace(lookout(tables), dropped=Repeats(OneBook()).dropped)
    other = replace(lookout(tables), dropped=whole.dropped)
    mirror = mirrored(other, MemoryIntake(tables).recorded)
    before = results()
    for each in (mirror, whole) if is_mirror_first else (whole, mirror):
        each([*BATCH, *BATCH])
    assert [now - then for now, then in zip(results(), before, strict=True)] == [COUNT] * 3


def results() -> list[float]:
    """Return how many alerts were new, copies, and recorded by the other."""
    return [counted("alerts_total", result=each) for each in ("new", "repeat", "mirrored")]


def test_an_alert_is_logged_with_the_first_of_its_events() -> None:
    events = [f"e-{number}" for number in range(EVENTS_LOGGED + 1)]
    alert = BATCH[0].alert.model_copy(update={"event_ids": events})
    with capture_logs() as lines:
        lookout(Tables(lambda: FOUND_AT_MS / 1000))([Arrival(alert, alert.encode())])
    assert [each["event_ids"] for each in lines] == [events[:EVENTS_LOGGED]]
