"""Only declared events reach a watch; the rest is counted. Expired state is freed."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from auditor.batches.progress import read
from auditor.queries.logic import valid_events
from services.contracts.events import Event, EventReader
from services.contracts.examples import examples
from services.contracts.streams import StreamDeclaration
from tests.unit.auditor.batches import (
    EPOCH,
    HOUR_MS,
    TRADES,
    WATCHES,
    Stepwise,
    purchase,
    records,
    request,
)

pytestmark = pytest.mark.spark

BAD_VALUES: list[bytes | None] = [
    b"malformed first",
    None,
    b"",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"{" * 3000,
    json.dumps(request("r", 5).__dict__ | {"shares": 0}).encode(),
    json.dumps(request("r", 5).__dict__ | {"shares": 10**12 + 1}).encode(),
    json.dumps(request("r", 5).__dict__ | {"kind": "sale"}).encode(),
    json.dumps(request("r" * 129, 5).__dict__).encode(),
    json.dumps({"kind": "request"}).encode(),
]


def kept(spark: SparkSession, rows: DataFrame) -> list[str]:
    return sorted(row["event_id"] for row in valid_events(rows, TRADES, "1 minute").collect())


def test_malformed_is_left_out(spark: SparkSession) -> None:
    bad = [(value, EPOCH, "trades", 0) for value in BAD_VALUES]
    assert kept(spark, records(spark, [request("good", 5)], *bad)) == ["good"]


def test_texts_are_measured_in_characters(spark: SparkSession) -> None:
    ids = ["é" * 128, "é" * 129, "x" * 128, "x" * 129, "𝄞" * 128, ""]
    rows = [purchase(event_id, "r", 5).record() for event_id in ids]
    assert kept(spark, records(spark, [], *rows)) == sorted([ids[0], ids[2], ids[4]])


def named_kept(spark: SparkSession, values: dict[str, bytes | None]) -> set[str]:
    """Return the names of those values that reach a watch; append times tell them apart."""
    times = {name: EPOCH + timedelta(seconds=i) for i, name in enumerate(values)}
    rows = records(spark, [], *((values[name], times[name], "trades", 0) for name in values))
    seen = valid_events(rows, TRADES, "1 minute").selectExpr(
        "unix_millis(appended_at) AS at_ms", "CAST(event_time AS STRING)"
    )
    found = {row["at_ms"] for row in seen.collect()}
    return {name for name, at in times.items() if at.timestamp() * 1000 in found}


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_examples_mean_to_spark_what_they_mean_to_the_gateway(
    spark: SparkSession, kind: str
) -> None:
    values: dict[str, bytes | None] = {
        example.name: example.content for example in examples("trades", kind)
    }
    assert named_kept(spark, values) == (set(values) if kind == "valid" else set())


def test_no_time_of_a_publisher_stops_the_query(spark: SparkSession) -> None:
    event = request("r", 5).__dict__
    times = ["garbage", "", "2026-13-45T99:99:99Z", "2026-11-21", "12:00", 5, -1, 1e300, True]
    times += [None, [], {}, "999999999-01-01T00:00:00Z", "2026-11-21 10:00:00 PST", "0000-00-00"]
    values: dict[str, bytes | None] = {
        f"time {time!r}": json.dumps(event | {"event_time": time}).encode() for time in times
    }
    values |= {str(example): example.content for example in examples("trades", "invalid_at*")}
    named_kept(spark, values)


MICROSECOND = timedelta(microseconds=1)
DOCUMENTED = [
    *("2026-11-21T09:30:00Z", "2026-11-21 09:30:00+01:00", "2026-11-21T09:30:00.5Z"),
    *("2026-11-21T09:30:00.123456789-05:30", "2026-11-21T09:30:00+0100"),
]
SPELLINGS = [
    *(*DOCUMENTED, "2026-11-21T09:30Z", "2026-11-21T09:30:00z"),
    *("20261121T093000Z", "2026-11-21x09:30:00Z", "2026-W47-6T09:30:00Z", "2026-11-21T09Z"),
    *("2026-11-21T09:30:00,5Z", "2026-11-21T0930+0100", "2026-11-21T09:30:00+01"),
    *("2026-11-21T09:30:00+01:00:30", "2026-11-21T09:30:00.Z", "2026-11-21T09:30:00+19:00"),
    *("2026-11-21T24:00:00Z", "0001-01-01T00:00:00Z", "2026-11-21T09:30:00+01:75"),
    *("2026-11-21T09:30:00+0199", "2026-11-21T09:30:00+17:60", "2026-11-21T09:30:00+18:00"),
    *("2026-11-21T09:30:00-18:00", "2026-11-21T09:30:00+18:01", "2026-11-21T09:30:00-17:59"),
]


def test_a_time_that_the_gateway_takes_is_one_that_spark_reads(spark: SparkSession) -> None:
    told = {"stream": "clocks", "version": 1, "description": "x", "key": "name"}
    fields = {"name": {"type": "string"}, "at": {"type": "timestamp"}}
    clocks = StreamDeclaration.model_validate(told | {"fields": fields})
    rows = [
        (json.dumps({"name": each, "at": each}).encode(), EPOCH, "clocks", 0) for each in SPELLINGS
    ]
    found = valid_events(records(spark, [], *rows), clocks, "1 minute")
    seen = found.selectExpr("name", "unix_micros(at) AS us").collect()
    read_by_spark = {row["name"]: row["us"] for row in seen}
    reader = EventReader(clocks)
    taken = {each for each, row in zip(SPELLINGS, rows, strict=True) if _is_event(reader, row[0])}
    assert {each: read_by_spark.get(each) for each in taken} == {
        each: (datetime.fromisoformat(each) - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND
        for each in taken
    }
    assert taken >= set(DOCUMENTED)


NUMBERS = ["0", "7", "-1.5", "1.7976931348623157e308", "-1.7976931348623157e308", "null"]
NO_NUMBERS = ["NaN", '"NaN"', "Infinity", '"Infinity"', '"-Infinity"', "-Infinity", "1e999"]


@pytest.mark.parametrize("limits", [{}, {"minimum": -9e307}, {"maximum": 9e307}], ids=str)
def test_a_number_without_an_end_reaches_no_watch(
    spark: SparkSession, limits: dict[str, float]
) -> None:
    told = {"stream": "prices", "version": 1, "description": "x", "key": "name"}
    price = {"type": "double", "required": False} | limits
    fields = {"name": {"type": "string"}, "price": price}
    prices = StreamDeclaration.model_validate(told | {"fields": fields})
    sent = {str(i): written for i, written in enumerate([*NUMBERS, *NO_NUMBERS])}
    values = [f'{{"name": "{name}", "price": {each}}}'.encode() for name, each in sent.items()]
    rows = [(value, EPOCH, "prices", 0) for value in values]
    found = valid_events(records(spark, [], *rows), prices, "1 minute").select("name").collect()
    reader = EventReader(prices)
    taken = {sent[json.loads(value)["name"]] for value in values if _is_event(reader, value)}
    assert {sent[row["name"]] for row in found} == taken
    assert {"0", "7", "-1.5", "null"} <= taken <= set(NUMBERS)


def _is_event(reader: EventReader, value: bytes) -> bool:
    return isinstance(reader.read(value), Event)


def test_reserved_texts_come_from_the_heartbeat_topic_only(spark: SparkSession) -> None:
    rows = [
        request("~beat-forged", 5).record("trades"),
        request("diverted", 5, client="~beat-forged").record("trades"),
        request("lowered", 5, client="~Beat-forged").record("trades"),
        request("trimmed", 5, client=" ~beat-forged").record("trades"),
        request("~beat-true", 5).record("trades.heartbeat"),
        request("plain", 5).record("trades.heartbeat"),
    ]
    assert kept(spark, records(spark, [request("real", 5)], *rows)) == ["real", "~beat-true"]


def test_a_stream_may_list_all_of_its_texts(spark: SparkSession) -> None:
    allowed = ["buy", "it's", "a\\b", "\\u0041"]
    side = {"type": "string", "enum": allowed}
    told = {"stream": "sides", "version": 1, "description": "x", "key": "side"}
    sides = StreamDeclaration.model_validate(told | {"fields": {"side": side}})
    sent = [json.dumps({"side": each}).encode() for each in (*allowed, "hold", "A")]
    rows = [(value, EPOCH, "sides", 0) for value in sent]
    found = valid_events(records(spark, [], *rows), sides, "1 minute")
    assert [row["side"] for row in found.collect()] == allowed


LENGTH_MS = 75 * HOUR_MS
WINDOWED = WATCHES["over-purchase"].model_copy(
    update={
        "book": None,
        "sql": """
            SELECT order_id, max(client) AS client, max(stock) AS stock,
                min(IF(kind = 'request', shares, NULL)) AS requested,
                sum(IF(kind = 'purchase', shares, 0)) AS purchased,
                collect_set(event_id) AS event_ids, max(appended_at) AS appended_at
            FROM trades GROUP BY order_id, window(appended_at, '75 hours', '50 hours')
            HAVING purchased > requested""",
    }
)


def test_expiry_frees_state_and_counts_late_events(spark: SparkSession, tmp_path: Path) -> None:
    steps = Stepwise(spark, WINDOWED, tmp_path)
    now_ms = 2 * LENGTH_MS
    try:
        steps.take(request("old", 10), purchase("p1", "old", 10))
        steps.take(request("new", 10, now_ms))
        steps.take(purchase("p2", "new", 10, now_ms + HOUR_MS))
        late = purchase("p3", "old", 1, 24 * HOUR_MS)
        steps.take(late, purchase("p4", "new", 1, now_ms + HOUR_MS))
        states = [state for batch in steps.query.recentProgress for state in batch.stateOperators]
    finally:
        steps.query.stop()
    assert sum(state.numRowsRemoved for state in states) >= 1
    assert sum(state.numRowsDroppedByWatermark for state in states) >= 1
    assert steps.alerted() == {"new"}


def test_malformed_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    steps = Stepwise(spark, WATCHES["over-purchase"], tmp_path)
    try:
        bad = [(value, EPOCH, "trades", 0) for value in BAD_VALUES]
        steps.take(request("good", 5), raw=bad)
        batches = [read(progress) for progress in steps.query.recentProgress]
    finally:
        steps.query.stop()
    assert sum(batch.rows for batch in batches) == len(BAD_VALUES) + 1
    assert sum(batch.malformed for batch in batches) == len(BAD_VALUES)
