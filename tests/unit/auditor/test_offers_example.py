"""The example of merchants' feeds: what a file's lines become, and which prices alert."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import pytest
from pyspark.sql import SparkSession

from auditor.queries.declared import read_watch
from auditor.queries.query import messages_of
from services.contracts.events import Event, EventReader, Invalid
from services.contracts.records import Alert
from services.contracts.streams import load_streams
from services.contracts.topics import ALERTS, HEARTBEATS, heartbeat
from services.lookout.routes.reading import read_routes
from tests.unit.auditor.batches import EPOCH, RECORDS
from tests.unit.rows import laid
from tests.unit.servers import DOCS

OFFERS: Final = DOCS / "examples" / "offers"
STREAM: Final = "offers"
STREAMS: Final = load_streams(OFFERS / "streams")
READER: Final = EventReader(STREAMS[STREAM])
PAGE: Final = (DOCS / "offers.md").read_text("utf-8")


@dataclass(frozen=True)
class Version:
    """One version of an offer, and when it came (hours after EPOCH)."""

    offer: str
    price: float
    hour: int
    currency: str = "EUR"

    def record(self) -> tuple[bytes, object, str, int]:
        offer = {"offer": self.offer, "merchant": "shop-1", "title": "Cup"}
        body = json.dumps({**offer, "price": self.price, "currency": self.currency})
        return taken(body.encode()), EPOCH + timedelta(hours=self.hour), STREAM, 0


def taken(body: bytes) -> bytes:
    event = READER.read(body)
    assert isinstance(event, Event)
    return event.value


def made_of(feed: bytes) -> list[bytes]:
    """Return what the page sends of a feed of shop-7."""
    command = [sys.executable, str(OFFERS / "lines.py"), "shop-7"]
    made = subprocess.run(command, input=feed, capture_output=True, check=True)
    return made.stdout.splitlines()


def lines(name: str) -> list[bytes]:
    return made_of((OFFERS / name).read_bytes())


def found(spark: SparkSession, *rows: tuple[bytes, object, str, int]) -> list[tuple[str, Alert]]:
    watch = read_watch(OFFERS / "watches" / "price-jump.yaml", STREAMS)
    records = laid(spark, rows, RECORDS)
    messages = messages_of(spark, watch, lambda _: records, "a").collect()
    return [(row["topic"], Alert.decode(bytes(row["value"]))) for row in messages]


def test_a_wrong_line_is_refused_as_the_page_shows_and_stops_no_other() -> None:
    answers = [READER.read(line) for line in lines("feed.tsv")]
    assert [isinstance(each, Event) for each in answers] == [True, True, False, False]
    for index, each in enumerate(answers):
        if isinstance(each, Invalid):
            said = f'"reason":"{each.reason}","detail":"{each.detail}"'
            assert f'{{"index":{index},"status":"rejected",{said}}}' in PAGE
    assert [json.loads(line)["line"] for line in lines("feed.tsv")] == [2, 3, 4, 5]


def test_a_feed_goes_on_after_what_no_reader_takes() -> None:
    rows = [
        b"id\ttitle\tprice\tavailability",
        b"1\tKettle\t39.90 EUR\tin_stock",
        b"",
        b"2\tCaf\xe9\t4.50 EUR\tin_stock",
        b"3\t" + b"x" * 200_000 + b"\t4.50 EUR\tin_stock",
        b"4\tCup\t4.50 EUR\tin_stock",
    ]
    sent = made_of(b"\n".join(rows))
    answers = [READER.read(line) for line in sent]
    assert [each.reason if isinstance(each, Invalid) else "" for each in answers] == [
        "",
        "not_json",
        "too_large",
        "",
    ]
    assert [json.loads(line)["line"] for line in sent] == [2, 4, 5, 6]


@pytest.mark.spark
def test_what_the_page_sends_alerts_as_the_page_shows(spark: SparkSession) -> None:
    rows = [
        (answer.value, EPOCH + timedelta(days=day), STREAM, 0)
        for day, name in enumerate(("yesterday.tsv", "feed.tsv"))
        for answer in map(READER.read, lines(name))
        if isinstance(answer, Event)
    ]
    ((topic, alert),) = found(spark, *rows)
    assert topic == ALERTS
    assert f" {alert.severity} {alert.watch}: {alert.summary} [" in PAGE
    assert alert.labels == {"merchant": "shop-7"}


@pytest.mark.spark
def test_each_jump_alerts_and_nothing_else(spark: SparkSession) -> None:
    versions = [
        *(Version("doubles", price, hour) for hour, price in enumerate((10.0, 20.0, 40.01))),
        *(Version("halves", price, hour) for hour, price in enumerate((10.0, 5.0, 2.49))),
        *(Version("there-and-back", price, hour) for hour, price in enumerate((10.0, 99.0, 10.0))),
        *(Version("creeps", price, hour) for hour, price in enumerate((10.0, 15.0, 22.0, 33.0))),
        *(Version("sent-twice", price, hour) for hour, price in enumerate((1.0, 9.0, 9.0, 9.0))),
        Version("another-currency", 10.0, 0),
        Version("another-currency", 99.0, 1, "USD"),
        Version("long-ago", 10.0, 0),
        Version("long-ago", 99.0, 24 * 8),
        Version("new", 99.0, 0),
    ]
    rows = [each.record() for each in versions]
    told = [
        (alert.key["offer"], alert.values["was"], alert.values["price"])
        for _, alert in found(spark, *rows)
    ]
    assert sorted(told) == [
        ("doubles", 20.0, 40.01),
        ("halves", 5.0, 2.49),
        ("sent-twice", 1.0, 9.0),
        ("there-and-back", 10.0, 99.0),
        ("there-and-back", 99.0, 10.0),
    ]


@pytest.mark.spark
def test_heartbeat_is_found(spark: SparkSession) -> None:
    watch = read_watch(OFFERS / "watches" / "price-jump.yaml", STREAMS).watch
    beats = [json.dumps(event).encode() for _, event in watch.beat_events("~beat-1")]
    rows = [(beat, EPOCH, heartbeat(STREAM), 0) for beat in beats]
    ((topic, alert),) = found(spark, *rows)
    assert (topic, alert.key["offer"]) == (HEARTBEATS, "~beat-1")


def test_the_pages_route_is_read() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    default = "default: {send: [{channel: bus, to: x}]}\n"
    assert read_routes(f"version: 1\n{block}{default}", ("bus", "email"), {}).roots
