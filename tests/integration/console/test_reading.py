"""Reading the ledger on a real Postgres."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from services.backbone.ledger.answers import reading_sql
from services.backbone.ledger.answers.overview import AtLeast, Limits, Overviews, Spans
from services.backbone.ledger.answers.reading import MARKS_LIMIT, OPEN, PAGE_LIMIT, LedgerReader
from services.backbone.ledger.database import Pool
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.contracts.records import Severity
from services.contracts.states import State
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres


def test_pages_together_are_the_whole_list_newest_first(
    reader: LedgerReader, ledger_url: str
) -> None:
    # Several share a time, so that the id must decide.
    made = [add_alert(ledger_url, str(n), accepted=n // 3) for n in range(10)]
    place, seen = NEWEST, []
    while True:
        page = reader.alerts(4, place)
        seen += [each.alert_id for each in page.rows]
        if page.next_cursor is None:
            break
        place = PageStart.parse(page.next_cursor)
        add_alert(ledger_url, f"newer-{len(seen)}", accepted=100)
    groups = [sorted(made[9:]), sorted(made[6:9]), sorted(made[3:6]), sorted(made[:3])]
    assert seen == [each for group in groups for each in group]


def test_a_page_is_bounded_whatever_is_asked(reader: LedgerReader, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    for number in range(MARKS_LIMIT + 5):
        add_delivery(ledger_url, alert, recipient=f"{number}@example.org", created=number)
    (row,) = reader.alerts(10**9).rows
    assert [mark.recipient for mark in row.deliveries] == [
        f"{number}@example.org" for number in range(MARKS_LIMIT)
    ]
    assert row.more_deliveries == 5
    assert len(reader.deliveries([], 3).rows) == 3
    assert len(reader.alerts(-5).rows) == 1
    assert PAGE_LIMIT < 1000


def test_an_alert_comes_with_its_deliveries_and_attempts(
    reader: LedgerReader, ledger_url: str
) -> None:
    alert = add_alert(ledger_url, "one", record={"event_ids": ["e1", "e2"]})
    delivery = add_delivery(ledger_url, alert, state=State.SENT)
    add_attempt(ledger_url, delivery, 1, 0.02, 0.05, "RETRY_WAIT")
    add_attempt(ledger_url, delivery, 2, 1.0, 1.2, "SENT")
    detail = reader.alert(alert)
    assert detail is not None
    assert detail.record["event_ids"] == ["e1", "e2"]
    assert detail.alert.detected_at_ms - detail.alert.appended_at_ms == 4
    assert detail.alert.accepted_at_ms - detail.alert.appended_at_ms == 10
    assert [each.state for each in detail.deliveries] == [State.SENT]
    tries = [(each.attempt, each.outcome, each.provider_id) for each in detail.attempts]
    assert tries == [(1, "RETRY_WAIT", "250 kept"), (2, "SENT", "250 kept")]
    assert reader.alert("0" * 32) is None


@pytest.mark.parametrize("amount", [0, 1, MARKS_LIMIT, MARKS_LIMIT + 1, 3 * MARKS_LIMIT])
def test_what_a_list_leaves_out_is_counted_for_each_alert(
    reader: LedgerReader, ledger_url: str, amount: int
) -> None:
    many = add_alert(ledger_url, "many", accepted=2)
    other = add_alert(ledger_url, "other", accepted=1)
    for number in range(amount):
        add_delivery(ledger_url, many, recipient=str(number), created=number)
    add_delivery(ledger_url, other)
    counted = {
        row.alert_id: (len(row.deliveries), row.more_deliveries) for row in reader.alerts(2).rows
    }
    first = min(amount, MARKS_LIMIT)
    assert counted == {many: (first, amount - first), other: (1, 0)}


@pytest.mark.parametrize("amount", [2, 3, 4, 7])
def test_of_a_long_life_the_newest_is_there_and_the_cut_is_told(
    reader: LedgerReader, ledger_url: str, monkeypatch: pytest.MonkeyPatch, amount: int
) -> None:
    limit = 3
    monkeypatch.setattr("services.backbone.ledger.answers.reading.DETAIL_LIMIT", limit)
    alert = add_alert(ledger_url, "one")
    made = [
        add_delivery(ledger_url, alert, recipient=str(number), created=number)
        for number in range(amount)
    ]
    with psycopg.connect(ledger_url) as connection:
        for number in range(amount):
            add_attempt(ledger_url, made[0], number + 1, number, number + 0.5, "RETRY_WAIT")
            connection.execute(
                "INSERT INTO decisions (alert_id, at, stage, decided, why)"
                " VALUES (%s, now(), 'sweep', 'HELD', %s)",
                (alert, str(number)),
            )
    detail = reader.alert(alert)
    assert detail is not None
    assert [each.delivery_id for each in detail.deliveries] == made[-limit:]
    newest = list(range(amount))[-limit:]
    assert [each.attempt - 1 for each in detail.attempts] == newest
    assert [int(each.why) for each in detail.decisions] == newest
    cut = ["deliveries", "attempts", "decisions"] if amount > limit else []
    assert detail.cut == cut


def test_the_ledger_knows_channels_by_names_turns_stops_and_newest_deliveries(
    reader: LedgerReader, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reader.channels() == []
    monkeypatch.setattr("services.backbone.ledger.answers.reading.NEWEST_LIMIT", 2)
    alert = add_alert(ledger_url, "one")
    for number, channel in enumerate(("log", "email", "email")):
        add_delivery(
            ledger_url, alert, recipient=str(number), channel=channel, created=number,
            state=State.SENT,
        )  # fmt: skip
    with psycopg.connect(ledger_url) as connection:
        connection.execute("INSERT INTO channel_names (channel, names) VALUES ('bus', '{desk}')")
        connection.execute("INSERT INTO turns (channel, next_at) VALUES ('sms', now())")
        connection.execute("INSERT INTO channel_pauses VALUES ('push', 'boss', 'it moves')")
    assert reader.channels() == ["bus", "email", "push", "sms"]


@pytest.mark.parametrize("state", State)
def test_deliveries_are_found_by_state(reader: LedgerReader, ledger_url: str, state: State) -> None:
    alert = add_alert(ledger_url, "one")
    ids = {
        each: add_delivery(ledger_url, alert, recipient=each.value, state=each) for each in State
    }
    assert [row.delivery_id for row in reader.deliveries([state], 50).rows] == [ids[state]]
    both = reader.deliveries([state, State.SENT], 50).rows
    assert {row.delivery_id for row in both} == {ids[state], ids[State.SENT]}
    is_open = [row for row in reader.oldest_open(50) if row.state is state]
    assert len(is_open) == (1 if state in OPEN else 0)
    assert reader.open_counts() == dict.fromkeys(OPEN, 1)


def test_the_oldest_open_delivery_is_first(reader: LedgerReader, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    for created in (5, 1, 3):
        add_delivery(ledger_url, alert, recipient=str(created), created=created)
    rows = reader.oldest_open(2)
    assert [row.recipient for row in rows] == ["1", "3"]
    assert rows[1].created_at_ms - rows[0].created_at_ms == 2000
    assert rows[0].age_ms > rows[1].age_ms


@pytest.mark.parametrize(
    ("question", "index"),
    [
        (reading_sql.OLDEST_OPEN_DELIVERIES, "deliveries_open"),
        (reading_sql.CHANNELS, "deliveries_newest"),
    ],
)
def test_the_oldest_open_and_the_newest_deliveries_are_found_by_their_index(
    ledger_url: str, question: str, index: str
) -> None:
    with psycopg.connect(ledger_url) as connection:
        for other_way in ("seqscan", "sort", "incremental_sort"):
            connection.execute(f"SET enable_{other_way} = off")
        explained = connection.execute(b"EXPLAIN " + question.encode(), {"limit": 5})
        assert index in str(explained.fetchall())


ALWAYS = Spans(alerts_hours=10**6, ended_minutes=10**7)


def test_nothing_of_one_kind_hides_another_behind_a_limit(pool: Pool, ledger_url: str) -> None:
    """Three of a kind are counted; so many of another, newer and older, change nothing."""
    limits = Limits(alerts=3, deliveries=3, failed=3, waiting=1)
    alert = add_alert(ledger_url, "critical", accepted=0)
    taken = add_alert(ledger_url, "in hand", accepted=0)
    for number in range(5):
        add_alert(ledger_url, f"info-{number}", accepted=number + 1, severity=Severity.INFO)
        add_delivery(ledger_url, alert, recipient=f"s{number}", state=State.SUPPRESSED)
        add_delivery(ledger_url, alert, recipient=f"f{number}", state=State.FAILED)
    for state in (State.PENDING, State.RETRY_WAIT, State.IN_DOUBT):
        add_delivery(ledger_url, alert, recipient=state.value, state=state, channel="sms")
    for number in range(2):
        add_delivery(ledger_url, alert, recipient=f"h{number}", state=State.HELD)
    with psycopg.connect(ledger_url) as connection:
        connection.execute(
            "UPDATE alerts SET acknowledged_at = ledger_now() WHERE alert_id = %s", (taken,)
        )
    found = Overviews(pool, ALWAYS, limits).now()
    assert found.open_alerts == {"critical": 1, "info": 3}
    counted = {(each.channel, each.state): each.count for each in found.channels}
    assert counted == {
        ("sms", State.PENDING): 1, ("sms", State.RETRY_WAIT): 1, ("sms", State.IN_DOUBT): 1,
        ("email", State.SUPPRESSED): 3, ("email", State.HELD): 2, ("email", State.FAILED): 3,
    }  # fmt: skip
    assert (found.waiting_total, len(found.waiting), found.is_waiting_cut) == (3, 2, False)
    ended = [State.CLOSED, State.CONFIRMED, State.FAILED, State.SENT]
    cut = AtLeast([Severity.INFO], sorted([*ended, State.SUPPRESSED]), failed=True)
    assert (found.failed, found.at_least) == (3, cut)
    whole = Overviews(pool, ALWAYS).now()
    assert whole.at_least == AtLeast([], [], failed=False)
    assert (whole.open_alerts, whole.failed) == ({"critical": 1, "info": 5}, 5)


def test_what_is_due_is_one_kind_as_one_index_holds_it(pool: Pool, ledger_url: str) -> None:
    """To look for the few of one state would go through all of the other."""
    alert = add_alert(ledger_url, "one")
    for number in range(4):
        add_delivery(ledger_url, alert, recipient=f"r{number}", state=State.RETRY_WAIT)
    found = Overviews(pool, ALWAYS, Limits(deliveries=3)).now()
    assert sum(each.count for each in found.channels if each.state is State.RETRY_WAIT) == 3
    assert {State.PENDING, State.RETRY_WAIT} <= set(found.at_least.channels)
    assert State.HELD not in found.at_least.channels


def test_what_stands_and_the_newest_alerts_are_of_one_moment(pool: Pool, ledger_url: str) -> None:
    """Two moments would show an alert in doubt beside "nothing waits for a person"."""
    total, overviews = 15, Overviews(pool, ALWAYS)

    def write() -> None:
        for number in range(total):
            alert = add_alert(ledger_url, f"a{number}")
            add_delivery(ledger_url, alert, recipient="desk", state=State.IN_DOUBT)

    shown = 0
    with ThreadPoolExecutor(1) as writing:
        done = writing.submit(write)
        while shown < total:
            assert not done.done() or done.exception() is None
            stands, newest = overviews.with_newest(total)
            shown = sum(len(alert.deliveries) for alert in newest)
            assert stands.waiting_total == shown
