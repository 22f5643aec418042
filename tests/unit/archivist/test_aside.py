"""What is no event is kept aside as the record that everybody reads; nothing is in both places."""

from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from archivist.aside import ORIGINAL_LIMIT_BYTES, rejections
from archivist.shelf import shelved
from engine.events import VALID
from services.contracts.examples import examples
from services.contracts.records import Rejected
from services.contracts.topics import REJECTED_LIMIT_BYTES
from tests.unit.archivist.histories import topic_records
from tests.unit.auditor.batches import EPOCH, TRADES, purchase

pytestmark = pytest.mark.spark

VALID_BYTES = purchase("p", "o", 1).record()[0]


def aside(spark: SparkSession, *values: bytes | None) -> list[tuple[str, Rejected]]:
    moments = [EPOCH + timedelta(seconds=i) for i in range(len(values))]
    marked = shelved(topic_records(spark, list(zip(values, moments, strict=True))), TRADES)
    rows = rejections(marked, TRADES).collect()
    assert {row["topic"] for row in rows} <= {"trades.rejected"}
    assert all(len(row["value"]) < REJECTED_LIMIT_BYTES for row in rows)
    return [(bytes(row["key"]).decode(), Rejected.decode(bytes(row["value"]))) for row in rows]


def test_originals_come_back_byte_by_byte(spark: SparkSession) -> None:
    odd = [b"", b"{", bytes(range(256)), b"[1, 2]", b"\xff\xfe{}", b'{"kind": "request"}']
    kept = aside(spark, VALID_BYTES, *odd, VALID_BYTES)
    assert [record.original for _, record in kept] == odd
    sources = [f"archivist trades/{offset % 2}/{offset}" for offset in range(1, 7)]
    assert [record.source for _, record in kept] == sources == [key for key, _ in kept]
    assert {(record.topic, record.reason) for _, record in kept} == {("trades", "malformed")}


def test_a_record_without_a_value_is_kept_as_nothing(spark: SparkSession) -> None:
    ((_, record),) = aside(spark, None)
    assert record.original == b""


def test_the_detail_names_what_is_wrong(spark: SparkSession) -> None:
    wrong = VALID_BYTES.replace(b'"shares": 1', b'"shares": -1').replace(b"Ann", b"")
    ((_, record),) = aside(spark, wrong)
    assert record.detail == "missing or not as declared: shares, client"


def test_nobody_but_heartbeats_uses_their_keys(spark: SparkSession) -> None:
    ((_, record),) = aside(spark, VALID_BYTES.replace(b'"o"', b'"~beat-1"'))
    assert record.detail == "a text is reserved for heartbeats"


def test_of_a_huge_record_the_beginning_is_kept(spark: SparkSession) -> None:
    huge = b"x" * (ORIGINAL_LIMIT_BYTES + 1)
    ((_, record),) = aside(spark, huge)
    assert record.original == huge[:-1]
    assert record.detail.endswith(f"of bytes: {len(huge)}")


def test_each_example_is_archived_or_kept_aside(spark: SparkSession) -> None:
    good = [each.content for each in examples("trades", "valid")]
    bad = [each.content for each in examples("trades", "invalid")]
    assert [record.original for _, record in aside(spark, *good, *bad)] == bad
    records = topic_records(spark, [(value, EPOCH) for value in [*good, *bad]])
    kept = shelved(records, TRADES).where(VALID).collect()
    assert [bytes(row["_value"]) for row in kept] == good
