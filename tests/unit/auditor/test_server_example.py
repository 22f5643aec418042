"""The watch of docs/streams.md finds what the page says, over a stream that is not shipped."""

import json

import pytest
from pyspark.sql import DataFrame, SparkSession

from auditor.queries.declared import read_watch
from auditor.queries.query import messages_of
from services.contracts.events import Event, EventReader
from services.contracts.records import Alert
from services.contracts.topics import ALERTS, HEARTBEATS, heartbeat
from tests.unit.auditor.batches import EPOCH, RECORDS
from tests.unit.rows import laid
from tests.unit.servers import PAGE, SENT, STREAMS, WATCH_FILE

pytestmark = pytest.mark.spark

STREAM = "server_metrics"
WATCH = read_watch(WATCH_FILE, STREAMS)


def taken(*sent: bytes) -> list[bytes]:
    """Return what the gateway writes for these bodies."""
    reader = EventReader(STREAMS[STREAM])
    events = [reader.read(each) for each in sent]
    return [each.value for each in events if isinstance(each, Event)]


def reading(number: int, **more: object) -> bytes:
    return json.dumps({"id": f"r-{number}", "hostname": "db-1", "cpu.percent": 99} | more).encode()


def rows(spark: SparkSession, values: list[bytes], topic: str = STREAM) -> DataFrame:
    return laid(spark, [(value, EPOCH, topic, 0) for value in values], RECORDS)


def found(spark: SparkSession, records: DataFrame) -> list[tuple[str, Alert]]:
    messages = messages_of(spark, WATCH, lambda _: records, "a").collect()
    return [(row["topic"], Alert.decode(bytes(row["value"]))) for row in messages]


def test_what_the_page_sends_alerts_as_the_page_shows(spark: SparkSession) -> None:
    ((topic, alert),) = found(spark, rows(spark, taken(*SENT)))
    assert topic == ALERTS
    assert f" {alert.severity} {alert.watch}: {alert.summary} [" in PAGE
    assert set(alert.event_ids) == {"r-1", "r-2", "r-3"}
    assert alert.labels == {"host": "web-1", "region": "eu"}


def test_what_is_less_does_not_alert(spark: SparkSession) -> None:
    repeated = [reading(1), reading(2), reading(2)]
    low = [reading(3, **{"cpu.percent": 90}), reading(4, maintenance=True)]
    other = [reading(5, hostname="db-2")]
    assert found(spark, rows(spark, taken(*repeated, *low, *other))) == []


def test_heartbeat_is_found(spark: SparkSession) -> None:
    beats = [json.dumps(event).encode() for _, event in WATCH.watch.beat_events("~beat-1")]
    ((topic, alert),) = found(spark, rows(spark, beats, heartbeat(STREAM)))
    assert (topic, alert.key["host"]) == (HEARTBEATS, "~beat-1")
