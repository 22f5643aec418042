"""What waits is seen by its kind: also a failure that nobody follows, and an overdue step."""

import pytest

from services.accountant.accounts import Limits, overdue
from services.backbone.ledger.accounting.overdue import OpenRow, OverdueRows
from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.fallbacks import Fallbacks, Lost, Next
from services.backbone.ledger.alerts.told import Told
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.contracts.records import Alert
from services.contracts.watches import ACCOUNTANT
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.lookout.later_rows import message, record, step
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

FALLBACK = {"fallback": [{"channel": "sms", "recipient": "+491701"}]}
LIMITS = Limits(in_doubt=600.0, held=900.0, suppressed=300.0)


@pytest.fixture
def ledger(ledger_url: str) -> Ledger:
    return Ledger(ledger_url)


@pytest.fixture
def alert() -> Alert:
    return sample()


def lose(ledger: Ledger, state: str = "FAILED", minutes: int = 20, tries: int = 1) -> None:
    """Let all deliveries have failed some time ago."""
    ledger.execute(
        "UPDATE deliveries SET state = %s, attempt = %s, reason = '550 no such user',"
        " updated_at = ledger_now() - make_interval(mins => %s)",
        *(state, tries, minutes),
    )


def waiting(pool: Pool) -> list[OpenRow]:
    return OverdueRows(pool).open_rows(3600, LIMITS.by_kind)


def kinds(pool: Pool) -> list[str]:
    return sorted(each.kind for each in waiting(pool))


def test_a_failure_without_a_fallback_waits_for_a_person(
    pool: Pool, ledger: Ledger, alert: Alert
) -> None:
    sent = message(alert, "email", "a@example.com")
    record(pool, alert, sent)
    assert kinds(pool) == []
    lose(ledger)
    (row,) = waiting(pool)
    assert (row.kind, row.subject, row.channel) == ("failed", sent.delivery.delivery_id, "email")
    (found,) = overdue([row])
    assert found.detail.startswith("failed, and nobody is told instead, for ")
    assert found.detail.endswith(" min: 550 no such user")
    lose(ledger, "CLOSED")
    assert kinds(pool) == []


def test_what_has_not_waited_for_long_is_not_overdue(
    pool: Pool, ledger: Ledger, alert: Alert
) -> None:
    record(pool, alert, message(alert, "email", "a@example.com"))
    for state, limit_minutes in (("FAILED", 15), ("HELD", 15), ("IN_DOUBT", 10)):
        lose(ledger, state, limit_minutes - 1)
        assert kinds(pool) == []
        lose(ledger, state, limit_minutes + 1)
        assert kinds(pool) == [state.lower()]


def test_a_failure_with_an_acknowledged_alert_is_nobodys_finding(
    pool: Pool, ledger: Ledger, alert: Alert
) -> None:
    record(pool, alert, message(alert, "email", "a@example.com"))
    lose(ledger)
    Acknowledgements(pool).acknowledge(alert.alert_id, person="ann", via="api")
    assert kinds(pool) == []


def test_a_failed_digest_is_seen_until_all_that_it_tells_is_acknowledged(
    pool: Pool, ledger: Ledger, alert: Alert
) -> None:
    other = sample(2)
    carrier, told = (message(each, "email", "a@example.com") for each in (alert, other))
    record(pool, alert, carrier)
    record(pool, other, told)
    lose(ledger)
    ledger.execute("UPDATE deliveries SET digest_id = %s", carrier.delivery.delivery_id)
    close = "UPDATE deliveries SET state = 'CLOSED' WHERE delivery_id = %s"
    ledger.execute(close, told.delivery.delivery_id)
    Acknowledgements(pool).acknowledge(alert.alert_id, person="ann", via="api")
    assert kinds(pool) == ["failed"]
    Acknowledgements(pool).acknowledge(other.alert_id, person="ann", via="api")
    assert kinds(pool) == []


def test_a_failure_older_than_the_window_is_not_looked_at(
    pool: Pool, ledger: Ledger, alert: Alert
) -> None:
    record(pool, alert, message(alert, "email", "a@example.com"))
    lose(ledger)
    ledger.execute("UPDATE deliveries SET created_at = ledger_now() - interval '2 h'")
    assert kinds(pool) == []


@pytest.mark.parametrize(
    ("state", "plan", "tries", "seen"),
    [
        ("FAILED", FALLBACK, 1, ["unfollowed"]),
        ("HELD", FALLBACK | {"fallback_on": "held"}, 1, ["held", "unfollowed"]),
        ("HELD", FALLBACK | {"fallback_on": "held"}, 0, ["held"]),
        ("HELD", FALLBACK, 1, ["held"]),
        ("SENT", FALLBACK, 1, []),
    ],
)
def test_a_failure_that_no_lookout_has_followed_is_seen(
    pool: Pool,
    ledger: Ledger,
    alert: Alert,
    state: str,
    plan: dict[str, object],
    tries: int,
    seen: list[str],
) -> None:
    record(pool, alert, message(alert, "email", "a@example.com", plan=plan))
    lose(ledger, state, tries=tries)
    assert kinds(pool) == seen


def test_the_accountants_own_message_is_never_a_finding(pool: Pool, ledger: Ledger) -> None:
    own = sample(watch=ACCOUNTANT)
    record(pool, own, message(own, "email", "a@example.com", plan=FALLBACK))
    for state in ("FAILED", "HELD", "IN_DOUBT"):
        lose(ledger, state)
        assert kinds(pool) == []


@pytest.mark.parametrize(("decided", "seen"), [("next", []), ("exhausted", ["failed"])])
def test_a_followed_failure_is_seen_only_where_no_target_is_left(
    pool: Pool, ledger: Ledger, alert: Alert, decided: str, seen: list[str]
) -> None:
    record(pool, alert, message(alert, "email", "a@example.com", plan=FALLBACK))
    lose(ledger)

    def follow(lost: Lost, _: Told) -> Next:
        return Next(Decision(lost.alert_id, lost.delivery_id, "fallback", decided, "why"))

    Fallbacks(pool).take(10, follow)
    assert kinds(pool) == seen


def test_an_escalation_that_nobody_takes_is_overdue(
    pool: Pool, ledger: Ledger, alert: Alert
) -> None:
    record(pool, alert, steps=(step(0, 60), step(1, 3600)))
    assert kinds(pool) == []
    ledger.execute("UPDATE escalations SET due_at = due_at - interval '10 min'")
    (row,) = waiting(pool)
    assert (row.kind, row.subject, row.channel) == ("escalation", f"{alert.alert_id}/desk/0", "")
    (found,) = overdue([row])
    assert found.detail.startswith("due for ")
    Acknowledgements(pool).acknowledge(alert.alert_id, person="ann", via="api")
    assert kinds(pool) == []
