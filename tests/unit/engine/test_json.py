"""JSON is read from its bytes as Spark's own `from_json` reads it from its characters."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from engine.events import from_json
from tests.unit.rows import laid

pytestmark = pytest.mark.spark

COLUMNS = "`kind` STRING, `shares` BIGINT, `price` DOUBLE, `urgent` BOOLEAN, `at` TIMESTAMP"
NAMES = ("kind", "shares", "price", "urgent", "at", "unknown", "Kind", "")

values = st.one_of(
    st.text(max_size=5),
    st.integers(-(2**64), 2**64),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.sampled_from(["2026-11-25T01:02:03Z", "2026-11-25", "17", "true", "1e3"]),
)
loose = st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.none())
"""For a column of texts: a number's digits and an object's spaces differ, see below."""
objects = st.builds(
    lambda rest, kind: rest | kind,
    st.dictionaries(st.sampled_from(NAMES[1:]), values, max_size=6),
    st.dictionaries(st.just("kind"), loose),
)
nested = st.one_of(objects, st.lists(values, max_size=3), values)
texts = st.builds(
    lambda value, ascii_only, before, after: (
        before + json.dumps(value, ensure_ascii=ascii_only) + after
    ),
    st.one_of(nested, st.dictionaries(st.sampled_from(NAMES[1:]), nested, max_size=3)),
    st.booleans(),
    st.sampled_from(["", " ", "\n", "\ufeff", "x", "{"]),
    st.sampled_from(["", " ", "}", ",", "\x00"]),
)
encodings = st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "utf-16-le", "utf-32-be"])
records = st.one_of(
    st.builds(lambda text, encoding: text.encode(encoding, "ignore"), texts, encodings),
    st.binary(max_size=12),
)

PLAIN_ONES = [b'{"kind": "a", "shares": 1}'] * 15
"""After a record that is not plain so many others are not looked at for that."""


def is_utf8(record: bytes) -> bool:
    try:
        record.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def from_bytes(spark: SparkSession) -> Column:
    return from_json(spark, "value", COLUMNS)


def read(spark: SparkSession, given: Sequence[bytes | None], parsed: Column) -> list[Any]:
    """Return what one task reads of each, in their sequence."""
    numbered = [(n, each) for n, each in enumerate(given)]
    rows = laid(spark, numbered, "n INT, value BINARY")
    return [row.event for row in rows.select("n", parsed.alias("event")).orderBy("n").collect()]


@settings(
    max_examples=3,
    deadline=None,
    # What differs is told by record; to shrink a list of them would take Spark minutes.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(given_records=st.lists(records, min_size=150, max_size=300))
def test_every_text_is_read_as_by_spark(spark: SparkSession, given_records: list[bytes]) -> None:
    given = [one for each in given_records if is_utf8(each) for one in (each, *PLAIN_ONES)]
    characters = F.from_json(F.col("value").cast("string"), COLUMNS)
    expected, found = (read(spark, given, each) for each in (characters, from_bytes(spark)))
    different = [each for each in zip(given, expected, found, strict=True) if each[1] != each[2]]
    assert not different[:3]


@pytest.mark.parametrize(
    "written",
    [
        '"kind": "é", "shares": 9223372036854775807, "price": 1, "urgent": true, "at": null',
        '"shares": 9223372036854775808, "kind": "a"',
        '"price": 1e400, "shares": 1.0, "urgent": "true"',
        '"kind": "a", "kind": "b"',
        '"kind": "a", "kind": null',
        '"kind": "a", "kind": 1',
        '"kind": "\\ud800", "more": {"kind": [1]}, "shares": -0',
        '"at": "2026-11-25T01:02:03Z", "kind": "a"',
    ],
)
def test_what_is_nearly_plain_is_read_as_by_spark(spark: SparkSession, written: str) -> None:
    given = [f"{{{written}}}".encode(), f"{{{written}".encode(), f"{{{written}}} }}".encode()]
    spread = [one for each in given for one in (each, *PLAIN_ONES)]
    characters = F.from_json(F.col("value").cast("string"), COLUMNS)
    assert read(spark, spread, from_bytes(spark)) == read(spark, spread, characters)


@pytest.mark.parametrize(
    "written",
    [
        '{"shares": 1, "kind": "a"}',
        '{"kind" : "b" , "shares":2}',
        '{ "k\\u0069nd": "c", "shares": 3}',
        '{"kin": "d", "shares": 4}',
        '{"kinds": "e", "shares": 5}',
        '{"kind": "f"}',
        '{"kind": "g", "shares": 6, "price": 7}',
        '{"kind": "h", "unknown": [{"shares": 1}], "shares": 8}',
        '{"kind": "i" "shares": 9}',
        '{"kind" "j", "shares": 10}',
        '{"kind: "k", "shares": 11}',
        '{"kin',
        "{}",
        '{"unknown": 1, ' + ", ".join(f'"more-{n}": {n}' for n in range(80)) + ', "kind": "l"}',
    ],
)
def test_a_field_may_stand_elsewhere_than_in_the_record_before(
    spark: SparkSession, written: str
) -> None:
    given = [PLAIN_ONES[0], written.encode(), written.encode(), *PLAIN_ONES * 2, written.encode()]
    characters = F.from_json(F.col("value").cast("string"), COLUMNS)
    assert read(spark, given, from_bytes(spark)) == read(spark, given, characters)


def test_what_is_not_utf8_is_malformed(spark: SparkSession) -> None:
    given = [b'{"kind": "\xff"}', b'{"kind": "\xed\xa0\x80"}', b'{"kind": "a\xc3"}', b"\xff\xfe{"]
    assert all(set(row) == {None} for row in read(spark, given, from_bytes(spark)))


def test_what_is_loose_is_kept_as_it_was_written(spark: SparkSession) -> None:
    written = ["1.50", "1e2", '{"b": 1, "a": [ 2 ]}', "[]", "true"]
    given = [f'{{"kind": {each}}}'.encode() for each in written]
    assert [row.kind for row in read(spark, given, from_bytes(spark))] == written


def test_no_value_is_no_event(spark: SparkSession) -> None:
    assert read(spark, [None, b'{"kind": "a"}'], from_bytes(spark))[0] is None
