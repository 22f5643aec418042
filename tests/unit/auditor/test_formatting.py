"""The alert that Spark writes is the record that everybody reads."""

import string
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from auditor.queries.formatting import EVENT_IDS_MAX, alert_id, alert_messages, told_once
from engine.columns import RECORD_LIMIT_BYTES
from engine.own_classes import own_classes
from services.contracts import ids
from services.contracts.fields import HEARTBEAT_PREFIX
from services.contracts.records import Alert
from services.contracts.watches import SeverityColumn, WatchDeclaration
from tests.unit.auditor.batches import WATCHES
from tests.unit.rows import laid

pytestmark = pytest.mark.spark

WATCH = WATCHES["over-purchase"].model_copy(
    update={
        "key": ("host", "number"),
        "labels": ("host", "place"),
        "severity": SeverityColumn(column="level"),
        "event_ids": "ids",
        "summary": "{{{host}}} {number} is {level}: {nothing}",
    }
)
MARK = "5be5b3a5f6b1c0de"
ROW: dict[str, Any] = {
    "host": "h1",
    "number": 7,
    "place": None,
    "level": "info",
    "ids": ["e1", "e2"],
    "nothing": None,
    "heat": 1.5,
    "at": "2026-01-01 00:00:00",
}
TYPES = (
    "host string, number bigint, place string, level string, ids array<string>, "
    "nothing string, heat double, at string"
)


def found_once(spark: SparkSession, **changes: Any) -> DataFrame:
    rows = laid(spark, [tuple((ROW | changes).values())], TYPES)
    return rows.withColumn("appended_at", rows["at"].cast("timestamp")).drop("at")


def message(spark: SparkSession, watch: WatchDeclaration = WATCH, **changes: Any) -> Any:
    return alert_messages(found_once(spark, **changes), watch, "b", MARK).collect()[0]


def alert(spark: SparkSession, **changes: Any) -> Alert:
    return Alert.decode(bytes(message(spark, **changes)["value"]))


def test_every_part_is_in_its_place(spark: SparkSession) -> None:
    found = alert(spark)
    assert found.alert_id == ids.alert_id("over-purchase", ["h1", "7"])
    assert found.key == {"host": "h1", "number": "7"}
    assert found.labels == {"host": "h1", "place": ""}
    assert found.values == {"rule": WATCH.rule, "nothing": None, "heat": 1.5}
    assert found.event_ids == ["e1", "e2"]
    assert found.severity == "info"
    assert found.summary == "{h1} 7 is info: "
    assert (found.auditor, found.declared) == ("b", MARK)
    assert found.appended_at_ms == 1_767_225_600_000
    assert found.detected_at_ms > found.appended_at_ms


SAID = {
    "12e6D": "12000000",
    "12345678.9D": "12345678.9",
    "-98.50D": "-98.5",
    "0.1D + 0.2D": "0.3",
    "0.00025D": "0.00025",
    "0D": "0",
    "999999999999999D": "999999999999999",
    "1e15D": "1.0E15",
    "2e-7D": "2.0E-7",
    "CAST('NaN' AS DOUBLE)": "NaN",
    "CAST('-Infinity' AS DOUBLE)": "-Infinity",
    "CAST(NULL AS DOUBLE)": "",
    "12e6F": "12000000",
    "1.1F": "1.1",
    "12000000L": "12000000",
    "12000000.50BD": "12000000.50",
    "'1.2E7'": "1.2E7",
}
"""What a summary says of a column, by the SQL that makes it."""


def test_a_summary_says_numbers_as_people_write_them(spark: SparkSession) -> None:
    given = {f"n{place}": F.expr(sql) for place, sql in enumerate(SAID)}
    watch = WATCH.model_copy(update={"summary": " ".join(f"[{{{name}}}]" for name in given)})
    (row,) = alert_messages(found_once(spark).withColumns(given), watch, "b", MARK).collect()
    said = Alert.decode(bytes(row["value"])).summary
    assert said == " ".join(f"[{each}]" for each in SAID.values())


def test_a_number_in_a_key_or_label_is_written_as_it_always_was(spark: SparkSession) -> None:
    watch = WATCH.model_copy(update={"key": ("heat",), "labels": ("heat",), "summary": "{heat}"})
    found = Alert.decode(bytes(message(spark, watch, heat=12e6)["value"]))
    assert found.alert_id == ids.alert_id("over-purchase", ["1.2E7"])
    assert found.key == found.labels == {"heat": "1.2E7"}
    assert found.summary == "12000000"


@pytest.mark.parametrize(
    ("level", "severity"),
    [("WARNING", "warning"), ("loud", "critical"), (None, "critical"), ("", "critical")],
)
def test_unknown_severity_is_critical(
    spark: SparkSession, level: str | None, severity: str
) -> None:
    assert alert(spark, level=level).severity == severity


def test_heartbeats_go_to_their_own_topic(spark: SparkSession) -> None:
    assert message(spark)["topic"] == "alerts"
    assert message(spark, host="~beat-1")["topic"] == "heartbeats"


def test_missing_key_value_is_empty_text(spark: SparkSession) -> None:
    found = alert(spark, host=None)
    assert found.key["host"] == ""
    assert found.alert_id == ids.alert_id("over-purchase", ["", "7"])


def test_long_texts_and_lists_are_cut(spark: SparkSession) -> None:
    found = alert(spark, host="é" * 5000, ids=[f"e{i}" for i in range(2000)])
    assert found.alert_id == ids.alert_id("over-purchase", ["é" * 5000, "7"])
    assert len(found.key["host"]) == 512
    assert len(found.summary) == 4096
    assert len(found.event_ids) == EVENT_IDS_MAX


def test_event_ids_that_no_record_takes_lose_no_alert(spark: SparkSession) -> None:
    given = [None, "é" * 5000, *(f"e{i}" for i in range(2000)), None]
    found = alert(spark, ids=given).event_ids
    assert found == ["é" * 512, *(f"e{i}" for i in range(EVENT_IDS_MAX - 1))]
    assert alert(spark, ids=None).event_ids == alert(spark, ids=[None]).event_ids == []


def test_an_empty_append_time_loses_no_alert(spark: SparkSession) -> None:
    found = alert(spark, at=None)
    assert found.appended_at_ms == pytest.approx(found.detected_at_ms, abs=60_000)


def test_record_that_no_broker_takes_loses_its_values(spark: SparkSession) -> None:
    value = bytes(message(spark, nothing="x" * RECORD_LIMIT_BYTES)["value"])
    assert len(value) < RECORD_LIMIT_BYTES
    found = Alert.decode(value)
    assert found.values == {"rule": WATCH.rule}
    assert found.event_ids == []
    assert found.key == {"host": "h1", "number": "7"}


LETTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(string.printable + ":~é😀")
KEYS = st.text(LETTERS)


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(KEYS, KEYS), min_size=20, max_size=200))
def test_alert_id_is_the_contracts(spark: SparkSession, keys: list[tuple[str, str]]) -> None:
    rows = laid(spark, keys, "one string, two string")
    computed = rows.select("one", "two", alert_id("w", ["one", "two"]).alias("id")).collect()
    assert [row["id"] for row in computed] == [
        ids.alert_id("w", [row["one"], row["two"]]) for row in computed
    ]


def told(spark: SparkSession, numbers: Sequence[int], host: str = "h1") -> list[str]:
    """Return the ids that one task tells of findings about these numbers, in their sequence."""
    rows = [tuple((ROW | {"host": host, "number": number}).values()) for number in numbers]
    found = laid(spark, rows, TYPES)
    found = found.withColumn("appended_at", found["at"].cast("timestamp")).drop("at")
    messages = alert_messages(told_once(found, WATCH), WATCH, "b", MARK)
    return [bytes(row["key"]).decode() for row in messages.collect()]


def alert_ids(numbers: Iterable[int], host: str = "h1") -> list[str]:
    return [ids.alert_id("over-purchase", [host, str(number)]) for number in numbers]


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(numbers=[])
@given(numbers=st.lists(st.integers(0, 5), min_size=15, max_size=90))
def test_a_task_tells_of_each_alert_once(spark: SparkSession, numbers: list[int]) -> None:
    assert told(spark, numbers) == alert_ids(dict.fromkeys(numbers))
    assert told(spark, numbers) == alert_ids(dict.fromkeys(numbers)), "the next batch tells anew"


def test_heartbeats_are_told_each_time(spark: SparkSession) -> None:
    beat = f"{HEARTBEAT_PREFIX}1"
    assert told(spark, [1, 1, 2, 1], host=beat) == alert_ids([1, 1, 2, 1], host=beat)


def test_what_was_met_long_ago_is_forgotten_and_told_again(spark: SparkSession) -> None:
    known = int(own_classes(spark).alerts.Once.KNOWN)
    numbers = [*range(known), 0, known, 1, 0]
    assert told(spark, numbers) == alert_ids([*range(known), known, 0])
