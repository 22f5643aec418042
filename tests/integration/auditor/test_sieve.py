"""Running a watch's SQL over a few records touches no query beside it, and ends when it is told."""

import json
import threading
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from auditor.checkpoints import spared
from auditor.checkpoints.offsets import unread
from auditor.checkpoints.ranges import Range
from auditor.queries.query import Recipe
from auditor.recovery.sieve import Sieve
from auditor.underway import UnderWay
from engine.brokers import kept_offsets
from services.backbone.errors import Transient
from tests.integration.auditor.inside import Inside, rewrite, settings_of
from tests.integration.auditor.running import Place, Sender, rejected_of, wait_for

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

FOR_LONG = (
    "SELECT <columns>, count(*) AS n, <rest> FROM trades WHERE exists(sequence(1, 30000), "
    "x -> exists(sequence(1, 30000), y -> x * y = -length(order_id))) GROUP BY order_id"
)
"""A loop within one expression: rows that are made without an end fill the heap instead."""
FORMATTED = (
    "SELECT <columns>, count(*) AS n, <rest> FROM trades WHERE format_string(client, 1) <> '' "
    "GROUP BY order_id"
)
"""Of a text that is no format Java tells by itself, without a condition of Spark's."""
LARGE_BYTES = 900_000
"""In base64 more than a request of Java's clients holds by itself."""


def test_queries_that_start_meanwhile_do_not_see_its_records(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    recipe, (part,) = one_record(spark, place)
    assert not Sieve(recipe, threading.Event()).fails(part)
    assert spark.table(f"`{place.stream}`").isStreaming


def test_a_record_that_spark_does_not_explain_is_told_from_its_neighbours(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    rewrite(place, FORMATTED)
    recipe, (good,) = one_record(spark, place)
    sender = Sender(place)
    sender.request("one", 1, client="%q")
    sender.flush()
    sieve = Sieve(recipe, threading.Event())
    bad = replace(good, first=good.end, end=good.end + 1)
    assert [sieve.fails(part) for part in (good, bad)] == [False, True]


def test_a_run_ends_when_it_is_cancelled(spark: SparkSession, place: Place) -> None:
    place.declare("over-purchase")
    rewrite(place, FOR_LONG)
    recipe, (part,) = one_record(spark, place)
    sieve = Sieve(recipe, threading.Event())
    search = UnderWay("search", lambda: sieve.fails(part), 0.0)
    tracker = spark.sparkContext.statusTracker()
    wait_for("it runs", lambda: bool(tracker.getActiveStageIds()))

    def has_ended() -> bool:
        sieve.cancel()  # what ran may have been the end of another test
        return search.is_over(0.1)

    wait_for("it has ended", has_ended)
    with pytest.raises(Transient, match="cancel"):
        search.outcome()


def test_a_record_as_large_as_a_topic_takes_is_kept_aside_whole(
    spark: SparkSession, place: Place
) -> None:
    place.declare("over-purchase")
    recipe, (part,) = one_record(spark, place, client="x" * LARGE_BYTES)
    where = spared.Place(part.topic, part.partition, part.first)
    Sieve(recipe, threading.Event()).keep_aside(where, "why", 1)
    (kept,) = rejected_of(place)
    assert json.loads(kept.original)["client"] == "x" * LARGE_BYTES


def one_record(
    spark: SparkSession, place: Place, client: str = "Ann"
) -> tuple[Recipe, list[Range]]:
    """Send one record; return what the watch is started from, and where that lies."""
    sender, settings = Sender(place), settings_of(place)
    sender.request("one", 1, client=client)
    sender.flush()
    recipe = Inside(spark, settings).fleet.running["over-purchase"].recipe
    oldest, newest = kept_offsets(spark, settings.kafka_client_options(), [place.stream])
    return recipe, unread({}, oldest, newest)
