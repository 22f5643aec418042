"""The rule in plain Python finds exactly what the model of the disorder names."""

import json
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.ids import alert_id
from services.contracts.records import Alert
from tests.bench.disorder import disorder, is_exceeded
from tests.bench.drain import Backlog, disagreement
from tests.bench.rule import EARLY_MS, KEEP_MS, LIMIT_MS, WATCH, Books
from tests.bench.traffic import purchase, request


@given(st.integers(0, 2**32))
def test_each_crossed_order_alerts_once(seed: int) -> None:
    events, crossed = disorder(seed, 50)
    books = Books()
    alerts = [books.take(event, at_ms) for at_ms, (_, event) in enumerate(events)]
    found = [alert.key["order_id"] for alert in alerts if alert]
    assert sorted(found) == sorted(crossed)


def test_disorder_crosses_by_one_share_and_splits_exactly() -> None:
    events, crossed = disorder(5, 500)
    assert 50 < len(crossed) < 450
    asked, bought = defaultdict[str, list[int]](list), defaultdict[str, list[tuple[int, int]]](list)
    for order, value in events:
        event = json.loads(value)
        if event["kind"] == "request":
            asked[order].append(event["shares"])
        else:
            which = int(event["event_id"].rpartition("-p")[2])
            bought[order].append((which, event["shares"]))
    least = {order: min(shares) for order, shares in asked.items()}
    reached = {order for order, each in least.items() if is_exceeded(each - 1, bought[order])}
    passed_by_two = {order for order, each in least.items() if is_exceeded(each + 1, bought[order])}
    assert passed_by_two < crossed < reached


def at(*timed: tuple[bytes, int]) -> list[Alert]:
    books = Books()
    return [alert for event, at_ms in timed if (alert := books.take(event, at_ms))]


def test_purchases_count_within_their_time_only() -> None:
    opened = 10 * LIMIT_MS
    asked, bought = request("o", 10), purchase("o", 1, 11)
    for purchased, alerts in (
        (opened - EARLY_MS - 1, 0),
        (opened - EARLY_MS, 1),
        (opened + LIMIT_MS, 1),
        (opened + LIMIT_MS + 1, 0),
    ):
        timed = sorted([(asked, opened), (bought, purchased)], key=lambda each: each[1])
        assert len(at(*timed)) == alerts


def test_alert_is_the_watchs() -> None:
    (alert,) = at((request("o", 10), 0), (purchase("o", 1, 11), 1))
    assert alert.alert_id == alert_id(WATCH, ["o"])
    assert alert.values == {"requested": 10, "purchased": 11}


@pytest.mark.parametrize(("late", "alerts"), [(KEEP_MS, 1), (KEEP_MS + 1, 2)])
def test_old_books_go(late: int, alerts: int) -> None:
    """An order whose book has gone is a new one, so it alerts again."""
    asked, bought = request("o", 10), purchase("o", 1, 11)
    assert len(at((asked, 0), (bought, 0), (asked, late), (bought, late))) == alerts


def test_disagreement_names_missed_and_wrong() -> None:
    backlog = Backlog(0, 1, frozenset({"a", "b"}))
    fine = Counter({"a": 2, "b": 1, "m-probe-0": 1})
    assert not disagreement(fine, backlog)
    assert disagreement(Counter({"a": 1, "c": 1}), backlog) == ("missed 1: ['b']; wrong 1: ['c']")
