"""The second shipped watch: another rule, not a line of code more."""

import pytest
from pyspark.sql import SparkSession

from tests.unit.auditor.batches import WATCHES, Event, purchase, records, request, run

pytestmark = pytest.mark.spark

MINUTE_MS = 60_000


def found(spark: SparkSession, *events: Event) -> set[str]:
    alerts = [
        alert for _, _, alert in run(spark, WATCHES["unusual-volume"], records(spark, events))
    ]
    return {alert.key["purchase"] for alert in alerts}


def usual(client: str, count: int, shares: int = 10, at_ms: int = 0) -> list[Event]:
    ids = [f"{client}-{i}" for i in range(count)]
    return [purchase(name, f"o-{name}", shares, at_ms, client=client) for name in ids]


def test_far_more_than_the_average_alerts(spark: SparkSession) -> None:
    events = [
        *usual("above", 5),
        purchase("big", "o1", 101, client="above"),
        *usual("exactly", 5),
        purchase("ten-times", "o2", 100, client="exactly"),
        *usual("few", 4),
        purchase("nothing-to-compare", "o3", 1_000_000, client="few"),
        *usual("asked", 5),
        request("only-a-request", 1_000_000, client="asked"),
        *usual("other-stock", 5),
        purchase("alone", "o4", 1_000_000, client="other-stock", stock="OTHER"),
    ]
    assert found(spark, *events) == {"big"}


def test_only_the_last_ten_minutes_count(spark: SparkSession) -> None:
    start = 6 * 60 * MINUTE_MS
    late = start + 16 * MINUTE_MS
    events = [*usual("slow", 5, at_ms=start), purchase("later", "o1", 9999, late, client="slow")]
    assert found(spark, *events) == set()


def test_heartbeat_is_found(spark: SparkSession) -> None:
    watch = WATCHES["unusual-volume"]
    beats = [Event(at_ms=0, **fields) for _, fields in watch.beat_events("~beat-1")]
    rows = records(spark, [], *(beat.record("trades.heartbeat") for beat in beats))
    assert {topic for _, topic, _ in run(spark, watch, rows)} == {"heartbeats"}
