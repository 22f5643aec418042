"""Events in Avro's binary encoding are read as the same events in JSON are."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession

from engine.events import VALID, marked_events
from engine.java import jvm_of
from services.contracts.streams import load_streams
from tests.bench.avro.encoding import encoder, schema
from tests.bench.avro.reading import built, fill, reading
from tests.bench.traffic import crossing, opening, request
from tests.unit.auditor.batches import one_job_each
from tests.unit.rows import laid

TRADES: Final = load_streams()["trades"]
RECORDS: Final = "number INT, value BINARY, timestamp TIMESTAMP, topic STRING"
APPENDED: Final = datetime(2026, 11, 30, tzinfo=UTC)

encode = encoder(TRADES)
good = encode(crossing("o"))
texts = st.text(st.characters(codec="utf-8"), max_size=12)
moments = st.builds(APPENDED.__add__, st.timedeltas(timedelta(-30_000), timedelta(30_000)))
whole = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(TRADES.fields["kind"].enum),
        "event_id": texts,
        "order_id": texts,
        "shares": st.integers(-(2**63), 2**63 - 1) | st.integers(1, 1000),
        "client": texts,
        "stock": texts,
    },
    optional={"event_time": st.none() | moments.map(datetime.isoformat)},
)
events = whole.map(lambda event: json.dumps(event, ensure_ascii=False).encode())


@pytest.fixture(scope="module")
def avros(
    spark: SparkSession, aldebaran_tools: Path, tmp_path_factory: pytest.TempPathFactory
) -> SparkSession:
    """Spark that has the bench's own class too."""
    jvm, jar = jvm_of(spark), built(aldebaran_tools, tmp_path_factory.mktemp("avro"))
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    return spark


def read(spark: SparkSession, values: Sequence[bytes]) -> list[Row]:
    numbered = [(number, value, APPENDED, "trades") for number, value in enumerate(values)]
    records = laid(spark, numbered, RECORDS)
    return marked_events(records, TRADES, ("topic", "number")).orderBy("_number").collect()


def read_avro(spark: SparkSession, values: Sequence[bytes]) -> list[Row]:
    with reading():
        return read(spark, values)


@pytest.mark.spark
@one_job_each(3)
@given(st.lists(events, min_size=100, max_size=200))
def test_rows_are_those_of_json(avros: SparkSession, given_events: list[bytes]) -> None:
    expected = read(avros, given_events)
    found = read_avro(avros, [encode(each) for each in given_events])
    every = zip(given_events, expected, found, strict=True)
    assert not [each for each in every if each[1] != each[2]][:3]


@pytest.mark.spark
def test_the_benchs_own_events_are_valid(avros: SparkSession) -> None:
    sent = [*opening("o"), crossing("o")]
    rows = read_avro(avros, [encode(each) for each in sent])
    assert [row[VALID] for row in rows] == [True] * 3
    assert [row.shares for row in rows] == [json.loads(each)["shares"] for each in sent]


@pytest.mark.spark
def test_what_is_malformed_is_no_event(avros: SparkSession) -> None:
    text = b"\x02o"
    malformed = [
        *(good[:length] for length in range(len(good))),
        good + b"\x00",
        b"\x04" + good[1:],
        b"\x01" + good[1:],
        *(good.replace(text, other) for other in (b"\x02\xff", b"\x01o", b"\xfe\xff\xff\xff\x0fo")),
    ]
    for row in read_avro(avros, malformed):
        assert not row[VALID]
        assert {row[name] for name in TRADES.fields} == {None}


@pytest.mark.spark
def test_apaches_own_reader_reads_it(avros: SparkSession) -> None:
    avro = jvm_of(avros).org.apache.avro
    parsed = avro.Schema.Parser().parse(schema(TRADES))
    decoder = avro.io.DecoderFactory.get().binaryDecoder(good, None)
    record = avro.generic.GenericDatumReader(parsed).read(None, decoder)
    assert json.loads(record.toString()) == json.loads(crossing("o")) | {"event_time": None}


def test_an_event_is_its_values_one_after_the_other() -> None:
    expected = b"\x00" + b"\x04o1" * 2 + b"\xc8\x01" + b"\x14Baker Fund" + b"\x08ACME" + b"\x00"
    assert encode(request("o1", 100)) == expected
    timed = json.loads(request("o1", 100)) | {"event_time": "1970-01-01T00:00:00.000064Z"}
    assert encode(json.dumps(timed).encode()) == expected[:-1] + b"\x02\x80\x01"


def test_a_folder_has_the_auditors_jars_and_the_benchs(
    aldebaran_tools: Path, tmp_path: Path
) -> None:
    fill(tmp_path / "home" / "jars", aldebaran_tools)
    shipped = {jar.name for jar in (aldebaran_tools / "jars" / "spark").glob("*.jar")}
    (own,) = {jar.name for jar in (tmp_path / "home" / "jars").glob("*.jar")} - shipped
    assert own.startswith("aldebaran-bench-avro-")
