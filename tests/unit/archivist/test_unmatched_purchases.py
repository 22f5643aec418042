"""The shipped account against a simple model.

Goal: a purchase is listed exactly where the watch counted it for no request, once, with the right
reason. Method: one Spark job judges many random histories, one order id each.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from archivist.accounting import Span
from services.contracts.ids import accounted_id
from services.contracts.records import Accounted
from tests.unit.archivist.histories import EPOCH_MS, UNMATCHED, judged
from tests.unit.auditor.batches import WATCHES, Event, one_job_each, purchase, request

WATCH = WATCHES["over-purchase"]
EARLY_MS, LIMIT_MS = (int(WATCH.arguments()[name]) for name in ("early_ms", "limit_ms"))
LOOK_BACK_MS = UNMATCHED.look_back_ms()
SPAN = Span(3 * LOOK_BACK_MS, 4 * LOOK_BACK_MS)

Row = tuple[str, str, str, int]


def test_account_and_watch_mean_the_same_times() -> None:
    mine = UNMATCHED.arguments()
    assert (mine["early_ms"], mine["limit_ms"]) == (EARLY_MS, LIMIT_MS)
    assert UNMATCHED.settle_ms() == EARLY_MS
    assert LOOK_BACK_MS >= LIMIT_MS


def model(history: list[Event], span: Span) -> set[Row]:
    """Return (order, purchase, reason, append time) of every row that the account must find."""
    first_ms, last_ms = span.after_ms - LOOK_BACK_MS, span.until_ms + EARLY_MS
    visible = [event for event in history if first_ms <= event.at_ms <= last_ms]
    firsts: dict[tuple[str, str], int] = {}
    for event in visible:
        if event.kind == "purchase":
            name = (event.order_id, event.event_id)
            firsts[name] = min(firsts.get(name, event.at_ms), event.at_ms)
    rows = set()
    for (order_id, event_id), at_ms in firsts.items():
        opened = [e.at_ms for e in visible if e.kind == "request" and e.order_id == order_id]
        counted = any(start - EARLY_MS <= at_ms <= start + LIMIT_MS for start in opened)
        if span.after_ms < at_ms <= span.until_ms and not counted:
            ended = any(start < at_ms for start in opened)
            rows.add((order_id, event_id, "ended" if ended else "never_opened", at_ms))
    return rows


def shown(row: Accounted) -> Row:
    order_id, purchase_id = row.key["order_id"], row.key["purchase"]
    assert row.accounted_id == accounted_id("unmatched-purchases", [order_id, purchase_id])
    return order_id, purchase_id, row.reason, row.appended_at_ms - EPOCH_MS


EDGES_MS = [
    *(edge + step for edge in (-EARLY_MS, 0, LIMIT_MS, LOOK_BACK_MS) for step in (-1, 0, 1)),
    *(60_000, LIMIT_MS // 2, LIMIT_MS + EARLY_MS, -2 * EARLY_MS),
]
STARTS_MS = st.integers(SPAN.after_ms - LOOK_BACK_MS, SPAN.until_ms) | st.sampled_from(
    [edge + step for edge in (SPAN.after_ms, SPAN.until_ms) for step in (-1, 0, 1)]
)


@st.composite
def histories(draw: st.DrawFn, order_id: str) -> list[Event]:
    """Requests, and purchases with copies, around each other's edges and around the span's."""
    start_ms = draw(STARTS_MS)
    offsets = st.sampled_from(EDGES_MS) | st.integers(-2 * EARLY_MS, 2 * LIMIT_MS)
    requests = [
        request(order_id, 1, start_ms + after)
        for after in draw(st.lists(st.just(0) | offsets, max_size=3))
    ]
    purchases = [
        purchase(event_id, order_id, shares, start_ms + after)
        for event_id, shares, after in draw(
            st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), offsets), max_size=6)
        )
    ]
    return draw(st.permutations(requests + purchases))


@pytest.mark.spark
@one_job_each(3)
@given(st.data())
def test_finds_exactly_what_no_request_counted(spark: SparkSession, data: st.DataObject) -> None:
    cases = [data.draw(histories(f"order-{i}")) for i in range(120)]
    events = [event for case in cases for event in case]
    found = [shown(row) for row in judged(spark, events, SPAN)]
    assert len(found) == len(set(found))
    assert set(found) == model(events, SPAN)


@pytest.mark.spark
def test_spans_side_by_side_find_each_row_once(spark: SparkSession) -> None:
    middle_ms = SPAN.after_ms + 5 * EARLY_MS
    copies = [purchase("again", "o", 1, middle_ms + step) for step in (-1, 0, 1, 7)]
    others = [purchase(f"p{i}", "o", 1, middle_ms + i - 3) for i in range(6)]
    parts = [Span(SPAN.after_ms, middle_ms), Span(middle_ms, SPAN.until_ms)]
    found = [shown(row)[1] for part in parts for row in judged(spark, copies + others, part)]
    assert sorted(found) == sorted(["again", *(f"p{i}" for i in range(6))])


@pytest.mark.spark
def test_a_row_says_who_and_what(spark: SparkSession) -> None:
    late_ms = SPAN.after_ms + 2 * LIMIT_MS - 1
    events = [request("o", 5, late_ms - LIMIT_MS - 1), purchase("p", "o", 3, late_ms)]
    (row,) = judged(spark, events, SPAN)
    assert row.reason == "ended"
    assert row.values == {"client": "Ann", "stock": "ACME", "shares": 3}
