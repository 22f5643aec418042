"""The example of *nothing came* alerts once for each silence, and says when it is over.

Method: histories of one source each, all judged by one Spark job.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import pytest
from pyspark.sql import SparkSession

from auditor.queries.declared import Declared, read_watch
from auditor.queries.query import messages_of
from services.contracts.events import Event, EventReader
from services.contracts.records import Alert
from services.contracts.streams import load_streams
from tests.unit.auditor.batches import EPOCH, RECORDS
from tests.unit.rows import laid
from tests.unit.servers import DOCS

pytestmark = pytest.mark.spark

SILENCE: Final = DOCS / "examples" / "silence"
STREAM: Final = "signs"
STREAMS: Final = load_streams(SILENCE / "streams")
WATCH: Final = read_watch(SILENCE / "watches" / "silent-source.yaml", STREAMS)
PAGE: Final = (DOCS / "nothing-came.md").read_text("utf-8")
MOST: Final = 180
MINUTE: Final = 60
DAY: Final = 86_400


@dataclass(frozen=True)
class Sent:
    """What the gateway took of a source, and when (seconds after EPOCH)."""

    at: float
    kind: str = "tick"

    def record(self, source: str) -> tuple[bytes, datetime, str, int]:
        body = {"source": source} | ({} if self.kind == "sign" else {"kind": self.kind})
        event = EventReader(STREAMS[STREAM]).read(json.dumps(body).encode())
        assert isinstance(event, Event)
        return event.value, EPOCH + timedelta(seconds=self.at), STREAM, 0


@dataclass(frozen=True)
class Case:
    """A source's history, and what is found: state, last sign, and seconds without one."""

    sent: list[Sent]
    found: list[tuple[str, str, int]]


def sign(*at: float) -> list[Sent]:
    return [Sent(each, "sign") for each in at]


def ticks(first: int, last: int, every: int = MINUTE) -> list[Sent]:
    return [Sent(at) for at in range(first, last + 1, every)]


def clock(seconds: float) -> str:
    return f"{EPOCH + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}"


ENDED: Final = [("silent", clock(0), 190), ("back", clock(0), 1000)]
CASES: Final[Mapping[str, Case]] = {
    "sends": Case(sign(*range(0, 3600, 60)) + ticks(30, 3600), []),
    "silent": Case(sign(0) + ticks(10, 4000), [("silent", clock(0), 190)]),
    "at-the-limit": Case(sign(0) + ticks(60, MOST), []),
    "over-the-limit": Case(sign(0) + ticks(61, MOST + 1), [("silent", clock(0), MOST + 1)]),
    "back-in-time": Case(sign(0, MOST + 5) + ticks(10, MOST), []),
    "back": Case(sign(0, 1000) + ticks(10, 1100), ENDED),
    "silent-again": Case(sign(0, 1000) + ticks(10, 4000), [*ENDED, ("silent", clock(1000), 210)]),
    "never-sent": Case(ticks(0, 4000), [("silent", "never", 240)]),
    "sends-at-last": Case(
        ticks(0, 4000) + sign(4001), [("silent", "never", 240), ("back", "never", 4001)]
    ),
    # The sign goes from the book after three days: its silence was told of, and is not again.
    "forgotten": Case(sign(0) + ticks(600, 5 * DAY, 600), [("silent", clock(0), 1800)]),
    # Nothing came of anybody, ticks neither: that time does not count.
    "all-was-away": Case(sign(0, 4050) + ticks(10, 10) + ticks(4000, 4200), []),
    "silent-since-all-was-away": Case(
        sign(0) + ticks(10, 10) + ticks(4000, 4300), [("silent", clock(0), 4060)]
    ),
    # Two senders cover no more time than one, and one whose ticks come early or late no less.
    "two-senders": Case(sign(0) + ticks(10, 4000) + ticks(40, 4000), [("silent", clock(0), 190)]),
    "two-senders-all-was-away": Case(
        sign(0, 60, 4030) + [Sent(at) for at in (1, 1.2, 61, 61.2, 4000, 4000.2)], []
    ),
    "early-and-late": Case(
        sign(0) + [Sent(at) for at in (60.1, 119.9, 180.1)], [("silent", clock(0), 180)]
    ),
    # Without a sign in the book a silence is known by its first tick.
    "never-again": Case(
        ticks(0, 600) + sign(700) + ticks(4 * DAY, 4 * DAY + 600),
        [("silent", "never", 240), ("back", "never", 700), ("silent", "never", 240)],
    ),
    "sends-at-last-after-half": Case(
        ticks(0, 2 * DAY, 600) + sign(2 * DAY + 1), [("silent", "never", 1800)]
    ),
    "forgotten-without-ticks": Case(
        sign(0) + ticks(30, 300) + ticks(2 * DAY, 3 * DAY + 1200, 600),
        [("silent", clock(0), 210), ("silent", "never", DAY + 600)],
    ),
    "not-listed": Case(sign(0) + ticks(10, 4000), []),
}


def listed(most: int, *sources: str) -> Declared:
    return replace(WATCH, rules=tuple((source, most) for source in sources))


def found(spark: SparkSession, watch: Declared, cases: Mapping[str, Case]) -> list[Alert]:
    """Return the first finding of each alert, as people are told."""
    laid_out = [each.record(source) for source, case in cases.items() for each in case.sent]
    records = laid(spark, laid_out, RECORDS)
    rows = messages_of(spark, watch, lambda _: records, "a").collect()
    alerts = [Alert.decode(bytes(row["value"])) for row in rows]
    assert len({each.alert_id for each in alerts}) == len(alerts)
    return sorted(alerts, key=lambda each: each.appended_at_ms)


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> list[Alert]:
    return found(spark, listed(MOST, *(CASES.keys() - {"not-listed"})), CASES)


@pytest.mark.parametrize("source", CASES)
def test_a_silence_alerts_once_and_its_end_too(judged: list[Alert], source: str) -> None:
    of_it = [each for each in judged if each.key["source"] == source]
    told = [(each.key["state"], each.values["last_sign"], each.values["seconds"]) for each in of_it]
    assert told == CASES[source].found


def test_what_is_told_is_what_the_page_shows(spark: SparkSession) -> None:
    history = {"web-1": Case(sign(0, 401) + ticks(7, 400), [])}
    told = found(spark, WATCH, history)
    assert [each.severity for each in told] == ["critical", "info"]
    for each in told:
        assert f" {each.severity} {each.watch}: {each.summary} [" in PAGE
