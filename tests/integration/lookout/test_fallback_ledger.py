"""What failed for good is followed once, whoever looks and whatever crashes."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.backbone.ledger.alerts import later
from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.escalations import Due, Escalations, Turn
from services.backbone.ledger.alerts.fallbacks import Fallbacks, Lost, Next
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.alerts.told import Told
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.words import Word, give_on
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery
from services.lookout.decisions.escalation import begin, escalate
from services.lookout.decisions.fallback import fall_back
from services.lookout.duties.following import FallingBack, Following
from services.lookout.duties.later import Announcing, Later
from services.lookout.intake.circumstances import Circumstances
from services.lookout.outbox.publishing import Publisher
from services.lookout.routing import Escalation, Instruction, Routes, Step, Target
from services.lookout.standing import Standing
from services.lookout.templates.words import NO_LINKS
from tests.integration.lookout.crashing import Topics
from tests.integration.lookout.later_rows import WAITS_FOR_A_LOCK, message, record, rows, step
from tests.integration.lookout.processes import eventually
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

SMS_TO = ("sms", "+491701")
SMS = {"channel": "sms", "recipient": "+491701"}
PLAN = {"route": "r", "fallback": [SMS]}


def lose(url: str, state: str = "FAILED", tries: int = 1) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE deliveries SET state = %s, attempt = %s WHERE channel = 'email'", (state, tries)
        )


def follow(lost: Lost, told: Told) -> Next:
    alert: Alert = Delivery.decode(lost.record.encode()).alert
    if delivery_id(lost.alert_id, "sms", "+491701", lost.repetition) in told.ids:
        return Next(Decision(lost.alert_id, lost.delivery_id, "fallback", "already told", "why"))
    next_one = message(alert, "sms", "+491701", lost.repetition)
    return Next(Decision(lost.alert_id, lost.delivery_id, "fallback", "next", "why"), next_one)


def fall_back_all(pool: Pool) -> list[NewDelivery]:
    """Take what is lost as a lookout without routes does."""
    routes = Routes((), ())
    tell = Later(NO_LINKS, routes, Standing()).tell
    turn = Fallbacks(pool).take(10, lambda lost, told: fall_back(lost, told, routes, tell))
    return turn.deliveries


@pytest.mark.parametrize(
    ("state", "plan", "failures"),
    [
        ("FAILED", PLAN, 1),
        ("HELD", PLAN, 0),
        ("HELD", PLAN | {"fallback_on": "held"}, 1),
        ("SENT", PLAN, 0),
        ("FAILED", {"route": "r"}, 0),
        ("FAILED", {"route": "r", "fallback": []}, 0),
    ],
)
def test_only_what_is_lost_and_has_a_fallback_is_followed(
    pool: Pool, ledger_url: str, state: str, plan: dict[str, object], failures: int
) -> None:
    record(pool, sample(), message(sample(), "email", "a@example.com", plan=plan))
    lose(ledger_url, state)
    assert Fallbacks(pool).take(10, follow).failures == failures


def test_a_failure_is_followed_once_also_when_it_fails_again(pool: Pool, ledger_url: str) -> None:
    record(pool, sample(), message(sample(), "email", "a@example.com", plan=PLAN))
    fallbacks = Fallbacks(pool)
    for _ in range(3):
        lose(ledger_url, "RETRY_WAIT")
        lose(ledger_url)
        fallbacks.take(10, follow)
    assert rows(ledger_url, "SELECT count(*) FROM deliveries WHERE channel = 'sms'") == [(1,)]
    assert rows(ledger_url, "SELECT decided FROM decisions") == [("next",)]


def test_whom_the_last_fallback_failed_too_is_counted_once(pool: Pool, ledger_url: str) -> None:
    first = message(sample(), "email", "a@example.com", plan=PLAN)
    record(pool, sample(), first, message(sample(), *SMS_TO))
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET state = 'FAILED'")
    clock, outbox = ManualClock(), Outbox(pool)
    announcing = Announcing(Publisher(Topics(), outbox), Topics(), clock.now_ms)
    shared = Following(Circumstances(clock), lambda: Routes((), ()), NO_LINKS, announcing)
    before = exhausted()
    assert [FallingBack(Fallbacks(pool), shared).do() for _ in range(2)] == [1, 0]
    assert exhausted() == before + 1


def exhausted() -> float:
    return REGISTRY.get_sample_value("aldebaran_lookout_fallback_exhausted_total") or 0.0


def test_a_crash_while_deciding_undoes_all_of_it(pool: Pool, ledger_url: str) -> None:
    for number in range(2):
        alert = sample(number)
        record(pool, alert, message(alert, "email", "a@example.com", plan=PLAN))
    lose(ledger_url)
    seen: list[str] = []

    def crash(lost: Lost, told: Told) -> Next:
        seen.append(lost.alert_id)
        if len(seen) == 2:
            raise KeyError("power cut")
        return follow(lost, told)

    with pytest.raises(KeyError):
        Fallbacks(pool).take(10, crash)
    assert rows(ledger_url, "SELECT count(*) FROM deliveries WHERE channel = 'sms'") == [(0,)]
    assert len(Fallbacks(pool).take(10, follow).deliveries) == 2


def test_who_acknowledges_while_a_failure_is_taken_is_not_told_once_more(
    pool: Pool, ledger_url: str
) -> None:
    record(pool, sample(), message(sample(), "email", "a@example.com", plan=PLAN))
    lose(ledger_url)
    seen: list[bool] = []

    def look(lost: Lost, told: Told) -> Next:
        seen.append(lost.acknowledged)
        return follow(lost, told)

    with psycopg.connect(ledger_url) as person, ThreadPoolExecutor(1) as keeper:
        person.execute("UPDATE alerts SET acknowledged_at = ledger_now()")
        taking = keeper.submit(Fallbacks(pool).take, 10, look)
        eventually(lambda: rows(ledger_url, WAITS_FOR_A_LOCK) == [(1,)], "it did not wait")
        person.commit()
        taking.result()
    assert seen == [True]


def test_two_failures_of_one_alert_lead_to_one_message(pool: Pool, ledger_url: str) -> None:
    alert = sample()
    lost = [message(alert, "email", f"{name}@example.com", plan=PLAN) for name in "ab"]
    record(pool, alert, *lost)
    lose(ledger_url)
    assert len(Fallbacks(pool).take(10, follow).deliveries) == 1
    assert rows(ledger_url, "SELECT decided FROM decisions ORDER BY decided") == [
        ("already told",),
        ("next",),
    ]


def test_what_a_digest_has_told_has_reached_whom_it_reached(pool: Pool, ledger_url: str) -> None:
    alerts = [sample(number) for number in (1, 2)]
    for alert in alerts:
        record(pool, alert, message(alert, "email", "a", plan=PLAN), message(alert, "push", "b"))
    lose(ledger_url)
    together(ledger_url, alerts)
    known: list[Told] = []

    def look(lost: Lost, told: Told) -> Next:
        known.append(told)
        return follow(lost, told)

    Fallbacks(pool).take(10, look)
    both = {(each.alert_id, *to) for each in alerts for to in (("push", "b"), ("sms", "+491701"))}
    assert [set(each.reached) for each in known] == [both]
    assert set(known[0].failed) == {(each.alert_id, "email", "a") for each in alerts}
    assert len(known[0].ids) == 5


@pytest.mark.parametrize(
    ("state", "tries", "group", "reached"),
    [
        ("SUPPRESSED", 0, None, False),
        ("SUPPRESSED", 0, "g", True),
        ("HELD", 1, None, False),
        ("CLOSED", 0, None, False),
        ("RETRY_WAIT", 1, None, True),
    ],
)
def test_what_is_held_back_has_reached_nobody(
    pool: Pool, ledger_url: str, state: str, tries: int, group: str | None, reached: bool
) -> None:
    record(pool, sample(), message(sample(), "email", "a", plan=PLAN), message(sample(), *SMS_TO))
    lose(ledger_url)
    with psycopg.connect(ledger_url) as connection:
        connection.execute(
            "UPDATE deliveries SET state = %s, attempt = %s, group_key = %s WHERE channel = 'sms'",
            (state, tries, group),
        )
    (made_at,) = rows(ledger_url, "SELECT created_at FROM deliveries WHERE channel = 'sms'")[0]
    known: list[Told] = []

    def look(lost: Lost, told: Told) -> Next:
        known.append(told)
        return follow(lost, told)

    Fallbacks(pool).take(10, look)
    to = (sample().alert_id, *SMS_TO)
    assert known[0].reached == ({to: made_at} if reached else {})


@pytest.mark.parametrize("state", ["FAILED", "HELD"])
def test_whose_message_a_person_has_closed_counts_as_it_did_before(
    pool: Pool, ledger_url: str, state: str
) -> None:
    desk = {"channel": "push", "recipient": "desk"}
    plan = PLAN | {"fallback": [SMS, desk]}
    sms = message(sample(), *SMS_TO)
    record(pool, sample(), message(sample(), "email", "a", plan=plan), sms)
    with psycopg.connect(ledger_url) as connection:
        connection.execute(
            "UPDATE deliveries SET state = %s, attempt = 1 WHERE channel = 'sms'", (state,)
        )
        give_on(connection, Word(sms.delivery.delivery_id, "close", "ann", "seen to"))
    lose(ledger_url)
    told = [each.delivery.recipient for each in fall_back_all(pool)]
    assert told == ["desk" if state == "FAILED" else "+491701"]


def test_a_step_whose_message_fails_tells_whom_the_route_has_told_before(
    pool: Pool, ledger_url: str
) -> None:
    desk = Target("email", "desk@example.com")
    first = Instruction(Target("sms", "+491701"), "r", fallback=(desk,))
    (begun,) = begin([Escalation("desk", (Step(0.0, (first,)),))])
    record(pool, sample(), message(sample(), desk.channel, desk.recipient), steps=(begun,))
    routes = Routes((), ())
    tell = Later(NO_LINKS, routes, Standing()).tell
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET created_at = created_at - interval '1 min'")
    escalations = Escalations(pool)
    assert escalations.take(10, lambda due, known: escalate(due, known, routes, tell)).steps == 1
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET state = 'FAILED' WHERE channel = 'sms'")
    followed = Fallbacks(pool).take(10, lambda lost, told: fall_back(lost, told, routes, tell))
    (made,) = (each.delivery for each in followed.deliveries)
    assert (made.channel, made.recipient, made.repetition) == (desk.channel, desk.recipient, 1)


@pytest.mark.parametrize("state", ["FAILED", "HELD"])
@pytest.mark.parametrize("sequence", [("sms", "email"), ("email", "sms")])
def test_the_rest_of_a_list_is_told_whichever_message_fails_first(
    pool: Pool, ledger_url: str, sequence: tuple[str, str], state: str
) -> None:
    night = {"channel": "pagerduty", "recipient": "night"}
    listed = [{"channel": "email", "recipient": "a"}, night]
    plan = {"route": "r", "fallback": listed, "fallback_on": "held"}
    first, second = message(sample(), *SMS_TO, plan=plan), message(sample(), "email", "a")
    record(pool, sample(), first, second)
    routes = Routes((), ())
    tell = Later(NO_LINKS, routes, Standing()).tell
    told: list[str] = []
    for channel in sequence:
        with psycopg.connect(ledger_url) as connection:
            connection.execute("UPDATE deliveries SET state = 'FAILED' WHERE channel = %s",
                               (channel,))  # fmt: skip
        turn = Fallbacks(pool).take(10, lambda lost, known: fall_back(lost, known, routes, tell))
        told += [each.delivery.channel for each in turn.deliveries]
    assert told == ["pagerduty"]
    assert Fallbacks(pool).take(10, follow).failures == 0


@pytest.mark.parametrize(
    ("own", "state", "group", "is_digest"),
    [
        ([SMS], "SENT", None, False),
        ([], "SENT", None, True),
        ([], "SUPPRESSED", "g", False),
    ],
)
def test_a_list_stays_with_a_digest_and_with_who_has_another(
    pool: Pool,
    ledger_url: str,
    own: list[dict[str, str]],
    state: str,
    group: str | None,
    is_digest: bool,
) -> None:
    listed = [{"channel": "push", "recipient": "b"}, {"channel": "pagerduty", "recipient": "night"}]
    lost = message(sample(), "email", "a", plan={"route": "r", "fallback": listed})
    record(pool, sample(), lost, message(sample(), "push", "b", plan={"fallback": own}))
    lose(ledger_url)
    with psycopg.connect(ledger_url) as connection:
        connection.execute(
            "UPDATE deliveries SET state = %s, group_key = %s, "
            "digest_id = CASE WHEN %s THEN delivery_id END WHERE channel = 'push'",
            (state, group, is_digest),
        )
    routes = Routes((), ())
    tell = Later(NO_LINKS, routes, Standing()).tell
    turn = Fallbacks(pool).take(10, lambda lost, known: fall_back(lost, known, routes, tell))
    assert (turn.failures, turn.deliveries) == (1, [])
    kept = rows(ledger_url, "SELECT plan -> 'fallback' FROM deliveries WHERE channel = 'push'")
    assert kept == [(own,)]


def test_a_digest_waits_for_a_turn_that_knows_what_another_has_made(
    pool: Pool, ledger_url: str
) -> None:
    alerts = [sample(number) for number in (1, 2)]
    for alert in alerts:
        record(pool, alert, message(alert, "email", "a", plan=PLAN))
    lose(ledger_url)
    together(ledger_url, alerts)

    def outrun(lost: Lost, told: Told) -> Next:
        made = message(alerts[0], "sms", "+491701")
        with psycopg.connect(ledger_url, autocommit=True) as connection:
            later.insert(connection, [made])
        return follow(lost, told)

    assert Fallbacks(pool).take(10, outrun).failures == 0
    assert rows(ledger_url, "SELECT count(*) FROM decisions") == [(0,)]
    assert rows(ledger_url, "SELECT count(DISTINCT digest_id) FROM deliveries") == [(1,)]
    assert Fallbacks(pool).take(10, follow).failures == 1


def test_no_step_takes_the_number_of_what_follows_a_digest(pool: Pool, ledger_url: str) -> None:
    alerts = [sample(number) for number in (1, 2)]
    for alert in alerts:
        record(pool, alert, message(alert, "email", "a", plan=PLAN), steps=(step(0, 0.0),))
    lose(ledger_url)
    together(ledger_url, alerts)
    beside: list[int] = []

    def decide(lost: Lost, told: Told) -> Next:
        beside.append(Escalations(pool).take(10, phone).steps)
        return follow(lost, told)

    assert Fallbacks(pool).take(10, decide).failures == 1
    assert beside == [0]
    assert len(Escalations(pool).take(10, phone).deliveries) == 2
    told = rows(ledger_url, "SELECT alert_id, repetition FROM deliveries WHERE channel = 'sms'")
    first, second = (each.alert_id for each in alerts)
    assert sorted(told) == sorted([(first, 0), (first, 1), (second, 0)])


def phone(due: Due, earlier: Earlier) -> Turn:
    """Tell who is told instead, too."""
    number = earlier.next((due.alert_id, "sms", "+491701"))
    return Turn((message(Alert.decode(due.record.encode()), "sms", "+491701", number),))


def together(url: str, alerts: list[Alert]) -> None:
    """Let the e-mail about the first alert tell the others, too."""
    carrier, *others = (delivery_id(each.alert_id, "email", "a") for each in alerts)
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE deliveries SET digest_id = %s WHERE delivery_id = ANY(%s)",
            (carrier, [carrier, *others]),
        )
        connection.execute(
            "UPDATE deliveries SET state = 'CLOSED' WHERE delivery_id = ANY(%s)", (others,)
        )


def test_what_is_held_without_a_try_is_old_and_told_to_nobody(pool: Pool, ledger_url: str) -> None:
    plan = PLAN | {"fallback_on": "held"}
    record(pool, sample(), message(sample(), "email", "a@example.com", plan=plan))
    lose(ledger_url, "HELD", tries=0)
    assert Fallbacks(pool).take(10, follow).failures == 0
