"""When books end, by each source's own time, and that nothing is left of them in the state.

Method: batches over the time in which books end, with the state's own rows counted after each.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.unit.auditor.batches import EPOCH, HOUR_MS, WATCHES, Stepwise, purchase, request

pytestmark = pytest.mark.spark

RULE_KEPT_MS = WATCHES["over-purchase"].kept_ms()


def state_of(spark: SparkSession, steps: Stepwise, variable: str) -> list[Any]:
    """Return the state's rows of one variable, as committed by the newest batch."""
    reader = spark.read.format("statestore").option("stateVarName", variable)
    return reader.option("path", str(steps.checkpoint)).load().collect()


def test_books_end_and_nothing_is_left_of_them(spark: SparkSession, tmp_path: Path) -> None:
    watch = WATCHES["over-purchase"]
    steps = Stepwise(spark, watch, tmp_path)
    second = RULE_KEPT_MS // 2
    end = RULE_KEPT_MS + 10_000
    # Many short books: each event shows its whole book.
    clocks = [f"clock-{i:02}" for i in range(64)]
    try:
        # More than one bundle of keys that are due in the same second.
        steps.take(request("touched", 10), *(request(f"idle-{i}", 10) for i in range(40)))
        steps.take(purchase("p1", "touched", 10, second))
        assert len(state_of(spark, steps, "book")) == 41
        # Other orders' events drive the clock of each task; each looks at some of what is due.
        steps.take(*(purchase(f"c{i}", clocks[i % 64], 1, end + i) for i in range(3200)))
        assert {row["key"][0] for row in state_of(spark, steps, "book")} == {
            "touched",
            *clocks,
        }
        due = [row["value"][0].split("\0") for row in state_of(spark, steps, "due")]
        assert sorted(key for keys in due for key in keys) == [*clocks, "touched"]
        # Its request was too long ago; that the book itself was there shows its purchase.
        steps.take(purchase("p2", "touched", 1, end + 3200))
    finally:
        steps.query.stop()
    assert steps.alerted() == set()


def test_an_event_in_each_span_that_is_kept_ends_the_books_of_a_slow_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    steps = Stepwise(spark, WATCHES["over-purchase"], tmp_path)
    # At least one for each task.
    clocks = [f"clock-{i}" for i in range(8)]
    try:
        steps.take(*(request(f"idle-{i}", 10) for i in range(40)))
        for day in (1, 2):
            steps.take(*(purchase(f"{day}-{name}", name, 1, day * RULE_KEPT_MS) for name in clocks))
        assert {row["key"][0] for row in state_of(spark, steps, "book")} == set(clocks)
    finally:
        steps.query.stop()


@pytest.mark.parametrize("events", [8, 3200])
def test_a_moment_of_a_brokers_clock_ahead_empties_no_other_keys_books(
    spark: SparkSession, tmp_path: Path, events: int
) -> None:
    """By the end of a batch of few events, and by many; ahead of this machine's own clock."""
    steps = Stepwise(spark, WATCHES["over-purchase"], tmp_path)
    right = (datetime.now(UTC) - EPOCH) // timedelta(milliseconds=1)
    ahead = right + RULE_KEPT_MS + HOUR_MS
    orders = [f"order-{i}" for i in range(40)]
    try:
        steps.take(*(request(order, 10, right) for order in orders))
        # At least one for each task, in a batch of their own: its end goes on by their time.
        steps.take(*(request(f"ahead-{i % 64}", 1, ahead + i) for i in range(events)))
        steps.take(*(request(f"right-{i}", 1, right) for i in range(8)))
        steps.take(*(purchase(f"of-{order}", order, 11, right) for order in orders))
    finally:
        steps.query.stop()
    assert steps.alerted() == set(orders)


def test_books_of_one_second_end_though_no_batch_comes_to_all_of_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    steps = Stepwise(spark, WATCHES["over-purchase"], tmp_path)
    clocks = [f"clock-{i:02}" for i in range(64)]
    soon, end = RULE_KEPT_MS - 10_000, RULE_KEPT_MS + 10_000
    try:
        steps.take(*(request(f"idle-{i}", 10) for i in range(200)))
        # The clock of each task comes near, by as many events as it goes forward with.
        steps.take(*(purchase(f"c{i}", clocks[i % 64], 1, soon + i) for i in range(3200)))
        assert len(state_of(spark, steps, "book")) == 264
        for turn in range(10):
            some = (purchase(f"{turn}-{name}", name, 1, end + turn) for name in clocks[:20])
            steps.take(*some)
        assert {row["key"][0] for row in state_of(spark, steps, "book")} == set(clocks)
    finally:
        steps.query.stop()


@pytest.mark.parametrize(
    ("orders", "text"),
    [
        pytest.param(40_000, "''", marks=pytest.mark.long),
        (500, "repeat(event_id, 10000)"),
    ],
)
def test_more_than_a_task_has_in_memory_is_kept(
    spark: SparkSession, tmp_path: Path, orders: int, text: str
) -> None:
    rule = WATCHES["over-purchase"]
    assert rule.book
    longer = rule.book.model_copy(update={"events": rule.book.events | {"text": text}})
    steps = Stepwise(spark, rule.model_copy(update={"book": longer}), tmp_path)
    names = [f"order-{i:05}" for i in range(orders)]
    try:
        steps.take(*(request(name, 10) for name in names))
        assert len(state_of(spark, steps, "book")) == orders
        steps.take(*(purchase(f"of-{name}", name, 11, 1) for name in names))
    finally:
        steps.query.stop()
    assert steps.alerted() == set(names)


def test_a_partition_that_is_behind_keeps_its_books(spark: SparkSession, tmp_path: Path) -> None:
    watch = WATCHES["over-purchase"]
    steps = Stepwise(spark, watch, tmp_path)
    # Many keys, some of them in the slow one's task, whose clock they must not drive.
    far = [purchase(f"a{i}", f"ahead-{i % 100}", 1, 3 * RULE_KEPT_MS + i) for i in range(5000)]
    try:
        steps.take(request("slow", 10))
        steps.take(raw=[event.record(partition=1) for event in far])
        steps.take(purchase("p1", "slow", 11, HOUR_MS))
    finally:
        steps.query.stop()
    assert steps.alerted() == {"slow"}
