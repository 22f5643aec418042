"""However much waits, what comes later is found, ends, and is found again."""

from typing import Final

import psycopg
import pytest
from prometheus_client import REGISTRY

from services.accountant.accounts import Limits
from services.accountant.report import all_counted
from services.accountant.settings import AccountantSettings
from services.accountant.turns import Turns
from services.backbone.clock import ManualClock
from services.backbone.ledger.accounting import overdue_sql
from services.backbone.ledger.accounting.asking import ROWS_LIMIT
from services.backbone.ledger.accounting.completeness import Completeness, Totals
from services.backbone.ledger.accounting.findings import Findings
from services.backbone.ledger.accounting.overdue import OverdueRows
from services.backbone.ledger.accounting.pruning import Pruning
from services.backbone.ledger.database import Pool
from services.contracts.ids import delivery_id
from services.contracts.watches import ACCOUNTANT
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.lookout.later_rows import message, record, rows, step
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

WINDOW_SECONDS: Final = 604_800.0
LIMITS: Final = Limits(in_doubt=600.0, held=900.0, suppressed=300.0).by_kind
MANY: Final = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, state, attempt, reason,
  updated_at)
SELECT md5(n::text), %s, 'email', n || '@example.com', '{}', %s, 1, '550 no such user',
  ledger_now() - interval '2 days'
FROM generate_series(1, %s) AS n"""

ALERTS: Final = """
INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at)
SELECT 'alert-' || n, 'over', 'warning', n::text, '{}', 'test', now(), now()
FROM generate_series(1, %s) AS n"""


@pytest.fixture
def ledger(ledger_url: str) -> Ledger:
    return Ledger(ledger_url)


def turns_on(pool: Pool, settings: AccountantSettings) -> Turns:
    parts = (Completeness(pool), OverdueRows(pool), Findings(pool), Pruning(pool))
    return Turns(*parts, settings, ManualClock())


@pytest.fixture
def turns(pool: Pool) -> Turns:
    return turns_on(pool, AccountantSettings())


def many(pool: Pool, ledger: Ledger, state: str) -> str:
    """Let as many wait as one turn looks at, and longer than one more; return its id."""
    alert = sample()
    record(pool, alert, message(alert, "sms", "+491701"))
    ledger.execute(MANY, alert.alert_id, state, ROWS_LIMIT)
    return delivery_id(alert.alert_id, "sms", "+491701")


def move(ledger: Ledger, delivery: str, state: str) -> None:
    ledger.execute(
        "UPDATE deliveries SET state = %s, attempt = 1,"
        " updated_at = ledger_now() - interval '10 h' WHERE delivery_id = %s",
        *(state, delivery),
    )


def found(ledger: Ledger, subject: str) -> list[tuple[str, bool]]:
    """Return the kind of each finding about it, and whether it is open, in order."""
    every = "SELECT kind, ended_at IS NULL FROM findings WHERE subject = %s ORDER BY finding_id"
    return [(kind, is_open) for kind, is_open in rows(ledger.url, every, subject)]


def turn(turns: Turns, times: int = 2) -> None:
    for _ in range(times):
        turns.turn([])


def counted(kind: str) -> float | None:
    return REGISTRY.get_sample_value("aldebaran_accountant_findings", {"kind": kind})


def tells_nobody() -> bool:
    return REGISTRY.get_sample_value("aldebaran_accountant_without_recipients") == 1


def move_the_findings_back(ledger: Ledger, seconds: float) -> None:
    ledger.execute(
        "UPDATE findings SET found_at = found_at - make_interval(secs => %s),"
        " raised_at = raised_at - make_interval(secs => %s)",
        *(seconds, seconds),
    )


def told(ledger: Ledger) -> list[int]:
    """Return of how many findings each message tells, in order."""
    counts = "SELECT (record -> 'values' ->> 'findings')::int FROM alerts WHERE watch = %s"
    return [count for (count,) in rows(ledger.url, f"{counts} ORDER BY accepted_at", ACCOUNTANT)]


def test_one_message_tells_of_all_that_was_found_and_the_next_of_what_came_later(
    pool: Pool, ledger: Ledger
) -> None:
    desk = [{"channel": "bus", "recipient": "notifications"}]
    turns = turns_on(pool, AccountantSettings(accountant_recipients=desk))
    delivery = many(pool, ledger, "HELD")
    for expected in ([ROWS_LIMIT], [ROWS_LIMIT, 1]):
        turn(turns, times=1)
        move_the_findings_back(ledger, 301)
        turn(turns)
        assert told(ledger) == expected
        assert not tells_nobody()
        assert rows(ledger.url, "SELECT FROM findings WHERE raised_at IS NULL") == []
        move(ledger, delivery, "HELD")


@pytest.mark.parametrize("state", ["FAILED", "HELD"])
def test_what_waits_behind_many_is_found_ends_and_is_found_again(
    pool: Pool, ledger: Ledger, turns: Turns, state: str
) -> None:
    kind, delivery = state.lower(), many(pool, ledger, state)
    turn(turns)
    assert counted(kind) == ROWS_LIMIT
    for before in ([], [(kind, False)]):
        move(ledger, delivery, state)
        turn(turns)
        assert found(ledger, delivery) == [*before, (kind, True)]
        assert counted(kind) == ROWS_LIMIT + 1
        move(ledger, delivery, "SENT")
        turn(turns)
        assert found(ledger, delivery) == [*before, (kind, False)]
        assert counted(kind) == ROWS_LIMIT


def test_many_of_one_kind_keep_none_of_another_open(
    pool: Pool, ledger: Ledger, turns: Turns
) -> None:
    delivery = many(pool, ledger, "FAILED")
    move(ledger, delivery, "IN_DOUBT")
    turn(turns)
    assert tells_nobody()
    assert found(ledger, delivery) == [("in_doubt", True)]
    move(ledger, delivery, "HELD")
    turn(turns)
    assert found(ledger, delivery) == [("in_doubt", False), ("held", True)]


def test_what_was_released_and_is_held_anew_waits_its_time_again(
    pool: Pool, ledger: Ledger, turns: Turns
) -> None:
    alert = sample()
    sent = message(alert, "sms", "+491701").delivery.delivery_id
    record(pool, alert, message(alert, "sms", "+491701"))
    move(ledger, sent, "HELD")
    turn(turns)
    ledger.execute("UPDATE deliveries SET updated_at = ledger_now()")
    turn(turns)
    assert found(ledger, sent) == [("held", False)]


def test_an_overdue_step_is_found_once_and_ends(pool: Pool, ledger: Ledger, turns: Turns) -> None:
    alert = sample()
    record(pool, alert, steps=(step(0, 60), step(1, 60)))
    ledger.execute("UPDATE escalations SET due_at = due_at - interval '10 min'")
    turn(turns)
    ledger.execute("UPDATE escalations SET state = 'DONE' WHERE step = 0")
    turn(turns)
    subjects = [f"{alert.alert_id}/desk/{number}" for number in range(2)]
    assert [found(ledger, each) for each in subjects] == [
        [("escalation", False)],
        [("escalation", True)],
    ]


def test_all_that_is_overdue_is_counted(pool: Pool, ledger: Ledger) -> None:
    move(ledger, many(pool, ledger, "FAILED"), "FAILED")
    overdue = OverdueRows(pool)
    assert len(overdue.open_rows(WINDOW_SECONDS, LIMITS)) == ROWS_LIMIT
    assert overdue.count_open_rows(WINDOW_SECONDS, LIMITS) == ROWS_LIMIT + 1


def test_more_alerts_than_are_counted_at_once_are_counted_once_each(
    pool: Pool, ledger: Ledger
) -> None:
    ledger.execute(ALERTS, ROWS_LIMIT + 5)
    ledger.execute(MANY, "alert-1", "SENT", 7)
    ledger.execute("UPDATE deliveries SET state = 'HELD' WHERE recipient = '3@example.com'")
    ledger.execute("UPDATE alerts SET accepted_at = now() - interval '8 days' WHERE summary = '9'")
    totals = all_counted(Completeness(pool), WINDOW_SECONDS)
    assert totals == Totals(alerts=ROWS_LIMIT + 4, recipients=7, terminal=6, open=1)


@pytest.mark.parametrize(
    ("question", "index", "times"),
    [
        (overdue_sql.NEW, "findings_open", 6),
        (overdue_sql.SETTLED, "deliveries_pkey", 5),
        (overdue_sql.SETTLED, "escalations_pkey", 1),
    ],
)
def test_each_row_is_found_by_its_key_before_tables_are_counted(
    ledger_url: str, question: str, index: str, times: int
) -> None:
    terms = LIMITS | {"since": WINDOW_SECONDS, "limit": ROWS_LIMIT, "own": "accountant"}
    with psycopg.connect(ledger_url) as connection:
        explained = connection.execute(b"EXPLAIN " + question.encode(), terms).fetchall()
    assert str(explained).count(index) == times
