"""The view `book` against a simple model: what is kept, for how long, what is reckoned over it.

Method: histories of one key each, all judged by one Spark job.
"""

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY
from pyspark.sql import SparkSession

from auditor.batches.progress import LOOKING_MS, count, read
from auditor.queries.books import book, check_book
from auditor.queries.declared import Declared
from auditor.queries.formatting import told_once
from auditor.queries.logic import findings, valid_events
from auditor.queries.trial import over_nothing
from services.backbone.errors import Refused
from services.contracts.declarations import BadDeclaration, parse_declaration
from services.contracts.watches import BookDeclaration, WatchDeclaration
from tests.unit.auditor.batches import (
    EPOCH,
    HOUR_MS,
    TRADES,
    WATCHES,
    Event,
    Stepwise,
    one_job_each,
    purchase,
    records,
    request,
)

pytestmark = pytest.mark.spark

DECLARED = BookDeclaration(
    kept="2 hours",
    events={
        "name": "event_id",
        "bought": "IF(kind = 'purchase', shares, NULL)",
        "half": "CAST(shares AS DOUBLE) / 2",
        "asked": "kind = 'request'",
    },
    totals={
        "most": "sum(bought)",
        "least": "min(bought)",
        "largest_half": "max(half)",
        "all_halves": "sum(half)",
        "purchases": "count(bought)",
    },
)
WATCH = WATCHES["over-purchase"].model_copy(
    update={"book": DECLARED, "watermark": "1 hour", "sql": "SELECT * FROM book"}
)
KEPT_MS = 3 * HOUR_MS
"""Two hours, and one in which an event may be late."""


def model(history: list[Event], newest: Event) -> dict[str, Any]:
    """Return what the book shows with this event."""
    before = history[: history.index(newest) + 1]
    kept = [event for event in before if event.at_ms >= newest.at_ms - KEPT_MS]
    bought = [event.shares for event in kept if event.kind == "purchase"]
    return {
        "order_id": newest.order_id,
        "events": [shown(event) for event in kept],
        "most": min(sum(bought), 2**63 - 1) if bought else None,
        "least": min(bought, default=None),
        "largest_half": max(event.shares for event in kept) / 2,
        "all_halves": pytest.approx(sum(event.shares / 2 for event in kept)),
        "purchases": len(bought),
        "forgotten": 0,
    }


def shown(event: Event) -> dict[str, Any]:
    return {
        "name": event.event_id,
        "bought": event.shares if event.kind == "purchase" else None,
        "half": event.shares / 2,
        "asked": event.kind == "request",
        "at_ms": round(EPOCH.timestamp() * 1000) + event.at_ms,
    }


def books(spark: SparkSession, events: list[Event]) -> list[Mapping[str, Any]]:
    found = valid_events(records(spark, events), TRADES, "1 minute")
    rows = book(spark, WATCH, found, "order_id").collect()
    return [row.asDict(recursive=True) for row in rows]


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Events of one order with gaps around the time in which they are kept."""
    gaps = st.sampled_from([1, 1000, HOUR_MS, KEPT_MS - 1, KEPT_MS, KEPT_MS + 1])
    at_ms, events = 0, []
    for number in range(draw(st.integers(1, 12))):
        at_ms += draw(gaps)
        make = draw(st.sampled_from([request, purchase]))
        shares = draw(st.integers(1, 50) | st.just(10**12))
        name = draw(st.sampled_from(["é", "𝄞 long", "x" * 60])) + str(number)
        events.append(Event(make.__name__, name, "", shares, at_ms))
    return events


@one_job_each(5)
@given(st.lists(histories(), min_size=20, max_size=60), st.randoms(use_true_random=False))
def test_a_book_shows_what_the_model_says(
    spark: SparkSession, cases: list[list[Event]], shuffled: random.Random
) -> None:
    named = {
        f"order-{i}": [moved(event, f"order-{i}") for event in case] for i, case in enumerate(cases)
    }
    every = [event for case in named.values() for event in case]
    shuffled.shuffle(every)
    expected = {(e.order_id, e.event_id): model(named[e.order_id], e) for e in every}
    rows = books(spark, every)
    found = {(row["order_id"], row["events"][-1]["name"]): row for row in rows}
    assert len(rows) == len(every)
    for each, row in found.items():
        assert {**row, "appended_at": None} == {**expected[each], "appended_at": None}


def moved(event: Event, order_id: str) -> Event:
    return Event(event.kind, event.event_id, order_id, event.shares, event.at_ms)


def test_a_sum_that_does_not_fit_stays_at_the_end(spark: SparkSession) -> None:
    huge = {"huge": "IF(kind = 'purchase', 1L, -1L) * 9000000000000000000L"}
    declared = BookDeclaration(kept="1 hour", events=huge, totals={"most": "sum(huge)"})
    watch = WATCH.model_copy(update={"book": declared})
    events = [purchase(f"p{i}", "up", 1, i) for i in range(3)]
    events += [request("down", 1, i) for i in range(3)]
    found = valid_events(records(spark, events), TRADES, "1 minute")
    rows = book(spark, watch, found, "order_id").select("order_id", "most").collect()
    assert max(row["most"] for row in rows if row["order_id"] == "up") == 2**63 - 1
    assert min(row["most"] for row in rows if row["order_id"] == "down") == -(2**63)


def overfull(spark: SparkSession, *later: Event) -> list[tuple[int, int]]:
    """Return how many events one book had, and had forgotten, with each of 40 and those later."""
    declared = BookDeclaration(
        kept="2 hours", events={"text": "repeat(event_id, 800)"}, totals={"n": "count(text)"}
    )
    watch = WATCH.model_copy(update={"book": declared})
    events = [purchase("x" * 100 + f"{i:03}", "full", 1, i) for i in range(40)]
    found = valid_events(records(spark, [*events, *later]), TRADES, "1 minute")
    rows = book(spark, watch, found, "order_id").orderBy("appended_at").collect()
    return [(row["n"], row["forgotten"]) for row in rows]


def test_a_full_book_gives_up_its_oldest_events_and_says_so(spark: SparkSession) -> None:
    counts = [(n + forgotten, forgotten, n) for n, forgotten in overfull(spark)]
    assert [whole for whole, _, _ in counts] == list(range(1, 41))
    assert counts[0][1] == 0
    assert counts[-1][1] > 0
    assert max(n for _, _, n in counts) * 800 * 103 < 2**20


def test_a_book_forgets_that_it_was_full_once_it_would_have_kept_nothing_more(
    spark: SparkSession,
) -> None:
    *_, newest = overfull(spark)
    # The first that it kept goes by its time, and before it all would have that had to go.
    *_, last = overfull(spark, purchase("last", "full", 1, KEPT_MS + 39))
    assert newest[1] > 0
    assert last == (2, 0)


def test_one_order_of_thousands_in_a_batch_is_one_book_in_memory(spark: SparkSession) -> None:
    """All its books together are more than Java's heap holds, and out of memory Java ends."""
    declared = BookDeclaration(
        kept="2 hours", events={"text": "repeat(event_id, 20)"}, totals={"n": "count(text)"}
    )
    watch = WATCH.model_copy(update={"book": declared})
    events = [purchase(f"p{i:05}", "hot", 1, i) for i in range(4000)]
    found = valid_events(records(spark, events), TRADES, "1 minute")
    rows = book(spark, watch, found, "order_id").groupBy().agg({"n": "max", "forgotten": "max"})
    assert rows.collect()[0].asDict() == {"max(n)": 4000, "max(forgotten)": 0}


def test_full_books_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    rule = WATCHES["over-purchase"]
    assert rule.book
    events = rule.book.events | {"text": "repeat(event_id, 800)"}
    long = rule.model_copy(update={"book": rule.book.model_copy(update={"events": events})})
    steps = Stepwise(spark, long, tmp_path)
    try:
        steps.take(*(purchase("x" * 100 + f"{i:03}", "full", 1, i) for i in range(40)))
        batches = [read(progress) for progress in steps.query.recentProgress]
    finally:
        steps.query.stop()
    for batch in batches:
        count("full", batch)
    assert 0 < sum(batch.full for batch in batches) < 40
    assert value("full_books_total", "full") == sum(batch.full for batch in batches)


def value(metric: str, watch: str) -> float | None:
    return REGISTRY.get_sample_value(f"aldebaran_auditor_{metric}", {"watch": watch})


def test_looks_into_state_are_told_of(spark: SparkSession, tmp_path: Path) -> None:
    orders, steps = 3000, Stepwise(spark, WATCHES["over-purchase"], tmp_path)
    try:
        steps.take(*(request(f"order-{i}", 10) for i in range(orders)))
        told = steps.query.recentProgress
    finally:
        steps.query.stop()
    assert sum(read(progress).state.looks for progress in told) >= orders
    # So few looks may take no whole millisecond, which is what Spark tells them in.
    for progress in told:
        took_ms = sum(int(state.customMetrics[LOOKING_MS]) for state in progress.stateOperators)
        assert read(progress).state.look_seconds == took_ms / 1000


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("shares) FROM other --", "cannot be read"),
        ("(SELECT max(x) FROM other)", "reads other"),
        ("reflect('java.lang.System', 'exit', 1)", "calls reflect"),
    ],
)
def test_what_is_no_sql_over_one_event_is_refused(written: str, said: str) -> None:
    declared = BookDeclaration(kept="1 hour", events={"x": written})
    watch = WATCH.model_copy(update={"book": declared})
    with pytest.raises(Refused, match=r"^watch over-purchase: book: x") as refused:
        check_book(watch, TRADES)
    assert said in str(refused.value)


def test_a_type_that_no_book_has_is_refused(spark: SparkSession) -> None:
    declared = BookDeclaration(kept="1 hour", events={"at": "appended_at"})
    watch = WATCH.model_copy(update={"book": declared})
    events = valid_events(records(spark, []), TRADES, "1 minute")
    with pytest.raises(Refused, match=r"at is timestamp.*unix_millis"):
        book(spark, watch, events, "order_id")


def test_a_type_that_spark_does_not_have_is_refused_with_advice(spark: SparkSession) -> None:
    declared = BookDeclaration(kept="1 hour", events={"x": "CAST(shares AS DECIMAL(40,10))"})
    watch = Declared(WATCH.model_copy(update={"book": declared}), {"trades": TRADES})
    with pytest.raises(Refused, match=r"^watch over-purchase: .*DECIMAL\(38, 10\)"):
        over_nothing(spark.newSession(), watch)


def test_a_total_of_a_text_is_refused(spark: SparkSession) -> None:
    declared = BookDeclaration(kept="1 hour", events={"x": "stock"}, totals={"last": "max(x)"})
    watch = WATCH.model_copy(update={"book": declared})
    events = valid_events(records(spark, []), TRADES, "1 minute")
    with pytest.raises(Refused, match=r"last is max of x, which is string; .*bigint and double"):
        book(spark, watch, events, "order_id")


def test_a_list_is_unpacked_only_where_the_totals_pass(spark: SparkSession) -> None:
    """By the optimized plan: unpacking takes as long as all else that is done with an event."""
    watch = WATCHES["over-purchase"]
    found = valid_events(records(spark, []), TRADES, "1 minute")
    messages = told_once(findings(spark, watch, {"trades": TRADES}, {"trades": found}), watch)
    plan = messages._jdf.queryExecution().optimizedPlan().toString()  # noqa: SLF001 - PySpark has no way to read a plan
    steps = plan.splitlines()
    (unpacked,) = (n for n, step in enumerate(steps) if re.search(r"UDF\(_book#\d+\) AS", step))
    (passed,) = (n for n, step in enumerate(steps) if re.search(r"Filter .*books\.Total@", step))
    # A step stands above the one whose rows it takes.
    assert unpacked < passed, plan


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("streams: [trades]", "streams: [trades, quotes]", "of one stream"),
        ("kept: early + limit", "kept: early + late", "late"),
        ("sum(purchased)", "sum(bought)", "not among the events' columns: bought"),
        ("sum(purchased)", "avg(purchased)", "totals"),
        ("most_purchased: sum", "forgotten: sum", "every book has forgotten"),
        ("    stock: IF", "    at_ms: IF", "every book has at_ms"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(before: str, after: str, said: str) -> None:
    text = Path("spark-apps/auditor/watches/over-purchase.yaml").read_text()
    assert before in text
    with pytest.raises(BadDeclaration) as refused:
        parse_declaration(WatchDeclaration, text.replace(before, after, 1), "w.yaml")
    assert said in str(refused.value)
