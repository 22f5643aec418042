"""Failures beside what waits for a rule or a group, in a real ledger: who is told of what."""

from datetime import timedelta
from functools import partial

import psycopg
import pytest

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.fallbacks import Fallbacks, Lost, Next
from services.backbone.ledger.alerts.intake import Intake, NewAlert
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.alerts.told import Told
from services.backbone.ledger.database import Pool
from services.contracts.records import Alert
from services.lookout.decisions.fallback import fall_back
from services.lookout.decisions.fanout import fan_out
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.duties.later import Later
from services.lookout.matching import Match
from services.lookout.routing import Grouping, Instruction, Route, Routes, Target
from services.lookout.standing import Standing
from services.lookout.templates.words import NO_LINKS
from tests.integration.lookout.keeping import read_in
from tests.integration.lookout.later_rows import message, record, rows
from tests.integration.lookout.test_escalation_ledger import MINUTE, START, at
from tests.integration.lookout.waits import WAITS
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

DESK, BOB = Target("email", "desk@example.com"), Target("sms", "+491701")
PLAN = {"route": "r", "fallback": [{"channel": BOB.channel, "recipient": BOB.recipient}]}
NIGHTS = {"times": "nights", "outside": False, "unless": []}
TOGETHER = Grouping((), 60.0, 100)
ROUTES = Routes(
    (
        Route("all", Match(), (Instruction(DESK, "all", grouping=TOGETHER),), goes_on=True),
        Route(
            "eu",
            Match(labels=(("zone", ("eu",)),)),
            (Instruction(DESK, "eu", fallback=(BOB,), grouping=TOGETHER),),
        ),
    ),
    (),
)


@pytest.mark.parametrize(("state", "group", "attempt", "hours", "found"), WAITS)
def test_what_waits_for_a_rule_alone_and_is_young_is_shown_to_who_decides(
    pool: Pool, ledger_url: str, state: str, group: str | None, attempt: int, hours: int, found: int
) -> None:
    plan = {"route": "r", "quiet": NIGHTS, "grouping": {"by": []}}
    own = message(sample(), BOB.channel, BOB.recipient, plan=plan)
    record(pool, sample(), message(sample(), "email", "a", plan=PLAN), own)
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET state = 'FAILED' WHERE channel = 'email'")
        connection.execute(
            "UPDATE deliveries SET state = %s, group_key = %s, attempt = %s,"
            " created_at = ledger_now() - %s WHERE channel = 'sms'",
            (state, group, attempt, timedelta(hours=hours)),
        )
    waiting = {(sample().alert_id, *_named(BOB)): [plan]} if found else {}
    assert shown(pool).waiting == waiting


def test_a_digest_that_waits_is_grouped_no_more_and_heeds_the_quiet_hours_of_each_alert(
    pool: Pool, ledger_url: str
) -> None:
    alerts = [sample(number) for number in (1, 2)]
    grouped = {"route": "r", "grouping": {"by": []}}
    for alert, more in zip(alerts, ({}, {"quiet": NIGHTS}), strict=True):
        own = message(alert, BOB.channel, BOB.recipient, plan=grouped | more)
        record(pool, alert, message(alert, "email", "a", plan=PLAN), own)
    carrier = message(alerts[0], BOB.channel, BOB.recipient).delivery.delivery_id
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET state = 'FAILED' WHERE channel = 'email'")
        connection.execute(
            "UPDATE deliveries SET digest_id = %s,"
            " state = CASE WHEN delivery_id = %s THEN 'SUPPRESSED' ELSE 'CLOSED' END"
            " WHERE channel = 'sms'",
            (carrier, carrier),
        )
    assert shown(pool).waiting == {
        (alerts[0].alert_id, *_named(BOB)): [{"route": "r", "quiet": None}],
        (alerts[1].alert_id, *_named(BOB)): [{"route": "r", "quiet": NIGHTS}],
    }


@pytest.mark.parametrize("zones", [(None, "eu"), ("eu", None), (None, "eu", "eu")])
def test_who_is_to_be_told_if_a_digest_fails_is_told_of_every_alert_that_asked_for_it(
    pool: Pool, ledger_url: str, zones: tuple[str | None, ...]
) -> None:
    """Once an alert without a fallback carried those with one, and nobody was told of them."""
    alerts = [sample(number, labels={"zone": zone}) for number, zone in enumerate(zones)]
    with at(ledger_url, START) as now:
        Intake(now).accept([_recorded(each) for each in alerts])
    with at(ledger_url, START + 2 * MINUTE) as now:
        Suppressions(now).judge_groups(Rejudgement(ROUTES, Standing(), timedelta(7)).gathered)
        with now.connection() as connection:
            connection.execute("UPDATE deliveries SET state = 'FAILED' WHERE state = 'PENDING'")
        tell = Later(NO_LINKS, ROUTES, Standing()).tell
        followed = Fallbacks(now).take(10, partial(fall_back, routes=ROUTES, tell=tell))
    (told,) = (each.delivery for each in followed.deliveries)
    assert Target(told.channel, told.recipient) == BOB
    asked = {each.alert_id for each in alerts if each.labels["zone"]}
    assert read_in(told) == asked
    kept = "SELECT count(*) FROM deliveries WHERE channel = 'sms'"
    assert rows(ledger_url, kept) == [(1,)]


def shown(pool: Pool) -> Told:
    """Return what who decides about the first failure is told."""
    known: list[Told] = []

    def look(lost: Lost, told: Told) -> Next:
        known.append(told)
        return Next(Decision(lost.alert_id, lost.delivery_id, "fallback", "exhausted", "why"))

    Fallbacks(pool).take(10, look)
    return known[0]


def _named(target: Target) -> tuple[str, str]:
    return target.channel, target.recipient


def _recorded(alert: Alert) -> NewAlert:
    new = fan_out(alert, ROUTES, Standing(), int(START.timestamp() * 1000))
    assert isinstance(new, NewAlert)
    return new
