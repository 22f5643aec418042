"""What is judged when: every append time once, none before it is ripe, no run without bound."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from archivist.account_run import check_account
from archivist.accounting import Span, next_span, seen_days
from archivist.bookmark import Bookmark
from archivist.declaration import OTHER
from services.backbone.errors import Refused
from tests.unit.archivist.histories import UNMATCHED, judged
from tests.unit.auditor.batches import HOUR_MS, TRADES, purchase

NOW_MS = 1_700_000_000_000
STEPS_MS = st.lists(st.integers(0, 3 * UNMATCHED.look_back_ms()), min_size=1, max_size=30)


@given(STEPS_MS)
def test_spans_follow_each_other_without_gap_or_overlap(steps_ms: list[int]) -> None:
    now_ms, judged_until_ms = NOW_MS, None
    for step_ms in steps_ms:
        now_ms += step_ms
        span = next_span(UNMATCHED, judged_until_ms, now_ms)
        if span is None:
            continue
        assert judged_until_ms in (None, span.after_ms)
        assert 0 < span.until_ms - span.after_ms <= UNMATCHED.look_back_ms()
        assert span.until_ms <= now_ms - UNMATCHED.settle_ms()
        judged_until_ms = span.until_ms
    assert judged_until_ms is not None


def test_too_little_waits() -> None:
    ripe_ms = NOW_MS - UNMATCHED.settle_ms()
    every_ms = UNMATCHED.every_ms()
    assert next_span(UNMATCHED, ripe_ms - every_ms + 1, NOW_MS) is None
    assert next_span(UNMATCHED, ripe_ms - every_ms, NOW_MS) == Span(ripe_ms - every_ms, ripe_ms)


@given(st.integers(1, 30 * 24 * HOUR_MS))
def test_what_a_clock_that_was_ahead_has_skipped_is_judged_again(ahead_ms: int) -> None:
    ripe_ms = NOW_MS - UNMATCHED.settle_ms()
    assert next_span(UNMATCHED, ripe_ms, NOW_MS) is None
    again = Span(ripe_ms - UNMATCHED.look_back_ms(), ripe_ms)
    assert next_span(UNMATCHED, ripe_ms + ahead_ms, NOW_MS) == again


@given(st.integers(0, 2 * UNMATCHED.look_back_ms()), st.integers(0, 48), st.data())
def test_the_days_of_a_run_hold_all_that_it_may_look_at(
    begun_ms: int, hours: int, data: st.DataObject
) -> None:
    span = Span(NOW_MS + begun_ms, NOW_MS + begun_ms + hours * HOUR_MS)
    first_ms = span.after_ms - UNMATCHED.look_back_ms()
    last_ms = span.until_ms + UNMATCHED.settle_ms()
    days = seen_days(UNMATCHED, span)
    seen_ms = data.draw(st.integers(first_ms, last_ms))
    assert datetime.fromtimestamp(seen_ms / 1000, UTC).date() in days
    assert len(days) == len(set(days)) <= (last_ms - first_ms) // (24 * HOUR_MS) + 2


@pytest.mark.spark
def test_a_reason_that_is_not_declared_is_other(spark: SparkSession) -> None:
    account = UNMATCHED.model_copy(update={"reasons": {"ended": "no"}})
    (row,) = judged(spark, [purchase("p", "o", 1, 7)], Span(0, 10), account)
    assert row.reason == OTHER


@pytest.mark.spark
def test_overlong_values_are_left_out(spark: SparkSession) -> None:
    sql = UNMATCHED.sql.replace("SELECT", "SELECT repeat('x', 1000000) AS long,", 1)
    account = UNMATCHED.model_copy(update={"sql": sql})
    (row,) = judged(spark, [purchase("p", "o", 1, 7)], Span(0, 10), account)
    assert (row.values, row.key) == ({}, {"order_id": "o", "purchase": "p"})


@pytest.mark.spark
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("FROM trades", "FROM alerts", "the SQL reads alerts"),
        ("'request'", "missing", "missing"),
        (" AS reason", " AS why", "reason"),
        ("timestamp_millis(first.at_ms)", "first.at_ms", "unix_millis"),
        (":early_ms", ":earlier_ms", "earlier_ms"),
    ],
)
def test_sql_that_cannot_work_is_refused(
    spark: SparkSession, before: str, after: str, said: str
) -> None:
    assert before in UNMATCHED.sql
    account = UNMATCHED.model_copy(update={"sql": UNMATCHED.sql.replace(before, after)})
    with pytest.raises(Refused, match=said):
        check_account(spark, account, {"trades": TRADES})


@pytest.mark.spark
def test_the_shipped_account_is_taken(spark: SparkSession) -> None:
    check_account(spark, UNMATCHED, {"trades": TRADES})


def test_a_bookmark_is_kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    bookmark = Bookmark(tmp_path_factory.mktemp("state") / "accounts" / "a.json")
    assert bookmark.read() is None
    bookmark.write(7)
    assert bookmark.read() == 7
    bookmark.path.write_text("{")
    with pytest.raises(Refused, match="cannot be read"):
        bookmark.read()
