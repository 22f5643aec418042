"""Finished histories of a topic, as the archive keeps them, and the shipped account over them."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from archivist.accounting import Span, found, messages, seen
from archivist.declaration import AccountDeclaration, load_accounts
from archivist.settings import SHIPPED_ACCOUNTS
from archivist.shelf import shelved
from engine.events import VALID
from services.contracts.records import Accounted
from tests.unit.auditor.batches import EPOCH, TRADES, Event
from tests.unit.rows import laid

UNMATCHED = load_accounts(SHIPPED_ACCOUNTS)["unmatched-purchases"]
EPOCH_MS = int(EPOCH.timestamp() * 1000)

RECORDS = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"
)


def topic_records(spark: SparkSession, values: Iterable[tuple[bytes | None, Any]]) -> DataFrame:
    """Return records of the topic with these values and append times, offsets counted from 0."""
    rows = [
        (b"k", value, "trades", offset % 2, offset, at) for offset, (value, at) in enumerate(values)
    ]
    return laid(spark, rows, RECORDS)


def archived(spark: SparkSession, events: Iterable[Event]) -> DataFrame:
    """Return what the archive holds of these events."""
    records = topic_records(spark, [event.record()[:2] for event in events])
    return shelved(records, TRADES).where(VALID).drop(VALID)


def judged(
    spark: SparkSession,
    events: Iterable[Event],
    span: Span,
    account: AccountDeclaration = UNMATCHED,
) -> list[Accounted]:
    """Return the account's rows over a span (milliseconds after EPOCH)."""
    moved = Span(EPOCH_MS + span.after_ms, EPOCH_MS + span.until_ms)
    visible = {"trades": seen(archived(spark, events), account, moved)}
    rows = messages(found(spark, account, visible, moved), account).collect()
    decoded = [Accounted.decode(bytes(row["value"])) for row in rows]
    assert [bytes(row["key"]).decode() for row in rows] == [one.accounted_id for one in decoded]
    return decoded
