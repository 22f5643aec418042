"""Windows wait for what lay unread while the query was away, and no longer."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from auditor.batches.progress import read
from auditor.checkpoints.checkpoint import Checkpoint, fingerprint
from auditor.checkpoints.offsets import committed_watermark_ms
from auditor.queries.declared import Declared
from auditor.queries.patience import needed_ms, patient, waiting
from auditor.queries.query import Recipe, messages_of
from auditor.settings import AuditorSettings
from services.contracts.durations import LIMIT_MS
from tests.unit.auditor.batches import (
    EPOCH,
    HOUR_MS,
    RECORDS,
    STREAMS,
    TRADES,
    WATCHES,
    Event,
    purchase,
    records,
    request,
)

WINDOWED = WATCHES["over-purchase"].model_copy(
    update={
        "book": None,
        "watermark": "1 hour",
        "sql": """
            SELECT order_id, max(client) AS client, max(stock) AS stock,
                min(IF(kind = 'request', shares, NULL)) AS requested,
                sum(IF(kind = 'purchase', shares, 0)) AS purchased,
                collect_set(event_id) AS event_ids, max(appended_at) AS appended_at
            FROM trades GROUP BY order_id, window(appended_at, '10 hours')
            HAVING purchased > requested""",
    }
)
DECLARED = Declared(WINDOWED, {"trades": TRADES})
AWAY_MS = 200 * HOUR_MS


class Continued:
    """Runs a watch on one checkpoint, again and again; each `take` is a batch."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark.newSession()
        self._spark.conf.set("spark.sql.shuffle.partitions", "1")
        self._input = folder / "input"
        self._input.mkdir()
        self.checkpoint = str(folder / "checkpoint")
        self.late = 0
        self.alerted: set[str] = set()
        self.marks: set[str] = set()

    def run(self, watermark: str | None, *batches: Iterable[Event]) -> None:
        """Start the watch, read these batches one after the other, and stop."""
        stream = self._spark.readStream.schema(RECORDS).parquet(str(self._input))
        messages = messages_of(self._spark, DECLARED, lambda _: stream, "a", watermark)
        writer = messages.writeStream.foreachBatch(self._note)
        writer = writer.outputMode("update").option("checkpointLocation", self.checkpoint)
        query = writer.start()
        for batch in batches:
            rows = records(self._spark, batch).coalesce(1)
            rows.write.mode("append").parquet(str(self._input))
            query.processAllAvailable()
        query.stop()
        self.late += sum(read(each).late for each in query.recentProgress)

    def _note(self, rows: DataFrame, batch: int) -> None:
        alerts = [json.loads(bytes(row["value"])) for row in rows.collect()]
        self.alerted |= {alert["key"]["order_id"] for alert in alerts}
        self.marks |= {alert["declared"] for alert in alerts}


def patient_from(reached_ms: int, now_ms: int) -> str:
    wait_ms = needed_ms(HOUR_MS, reached_ms, now_ms, lambda _: True)
    return waiting(WINDOWED, wait_ms).watermark


@pytest.mark.spark
@pytest.mark.parametrize(("is_patient", "found"), [(False, set()), (True, {"old"})])
def test_what_lay_unread_is_judged_with_the_state_from_before(
    spark: SparkSession, tmp_path: Path, is_patient: bool, found: Iterable[str]
) -> None:
    query = Continued(spark, tmp_path)
    query.run(None, [request("old", 10), purchase("p1", "old", 10)])
    reached_ms = committed_watermark_ms(spark, query.checkpoint)
    now_ms = int(EPOCH.timestamp() * 1000) + AWAY_MS
    # As heartbeats do, these come before what lies unread.
    newest = [[request(f"new-{number}", 10, AWAY_MS)] for number in range(3)]
    watermark = patient_from(reached_ms, now_ms) if is_patient else None
    query.run(watermark, *newest, [purchase("p2", "old", 1, HOUR_MS)])
    assert (query.alerted, query.late == 0) == (set(found), is_patient)
    assert query.marks == ({DECLARED.mark} if found else set()), "a partner's alerts are compared"
    query.run(None, [request("later", 10, AWAY_MS + HOUR_MS)])
    assert committed_watermark_ms(spark, query.checkpoint) == now_ms


@pytest.mark.spark
def test_a_query_that_never_ran_has_no_watermark(spark: SparkSession, tmp_path: Path) -> None:
    assert committed_watermark_ms(spark, str(tmp_path)) == 0


NOW_MS = 1000 * HOUR_MS


def test_a_query_that_was_hardly_away_asks_nobody() -> None:
    asked: list[int] = []

    def is_asked(at_ms: int) -> bool:
        asked.append(at_ms)
        return True

    for reached_ms in (0, NOW_MS - HOUR_MS * 3 // 2):
        assert needed_ms(HOUR_MS, reached_ms, NOW_MS, is_asked) == HOUR_MS
    assert asked == []


def test_a_quiet_stream_of_which_nothing_lies_unread_changes_nothing() -> None:
    assert needed_ms(HOUR_MS, NOW_MS - 9 * HOUR_MS, NOW_MS, lambda _: False) == HOUR_MS


def test_the_watermark_stays_while_something_lies_unread() -> None:
    def is_unread_before(at_ms: int) -> bool:
        return at_ms == NOW_MS - HOUR_MS // 2

    assert needed_ms(HOUR_MS, NOW_MS - 9 * HOUR_MS, NOW_MS, is_unread_before) == 9 * HOUR_MS
    assert needed_ms(HOUR_MS, 1, LIMIT_MS * 2, lambda _: True) == LIMIT_MS


def test_how_long_a_book_keeps_its_events_stays() -> None:
    book = WATCHES["over-purchase"]
    assert waiting(book, NOW_MS).kept_ms() == book.kept_ms()


@pytest.mark.spark
def test_who_waits_longer_is_of_the_same_declaration(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.queries.patience.needed_ms", lambda *_: 9 * HOUR_MS)
    checkpoint = Checkpoint(DECLARED.name, tmp_path, fingerprint(WINDOWED, STREAMS, 1))
    recipe = Recipe(spark, AuditorSettings(), DECLARED, checkpoint)
    waits = patient(recipe, NOW_MS)
    assert waits.watermark == f"{9 * HOUR_MS} milliseconds"
    assert waits.declared == recipe.declared
    assert waits.declared.mark == recipe.declared.mark
