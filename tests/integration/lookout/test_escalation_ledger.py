"""Steps come due by the ledger's clock, happen whole or not at all, and end at a word."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import psycopg
import pytest
from pydantic import SecretStr

from services.backbone.errors import Refused, Transient
from services.backbone.ledger.alerts.escalations import Due, Escalations, Taken, Turn
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.backbone.settings import LedgerSettings
from services.contracts.records import Alert
from services.contracts.states import State
from services.lookout.decisions.escalation import begin, escalate
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.duties.later import Later
from services.lookout.matching import Match
from services.lookout.routing import Escalation, Instruction, Routes, Step, Target
from services.lookout.standing import Silence, Standing
from services.lookout.templates.words import NO_LINKS
from tests.integration.lookout.later_rows import (
    WAITS_FOR_A_LOCK,
    message,
    record,
    rows,
    set_clock,
    step,
)
from tests.integration.lookout.processes import eventually
from tests.integration.lookout.waits import WAITS
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
ROUTES = Routes((), ())
STATES = "SELECT step, state, repetition FROM escalations ORDER BY step"
IDS = "SELECT recipient, repetition FROM deliveries ORDER BY recipient, repetition"


@contextmanager
def at(url: str, moment: datetime) -> Iterator[Pool]:
    """Give the ledger at a moment of its clock."""
    set_clock(url, moment)
    with open_pool(LedgerSettings(postgres_url=SecretStr(url))) as pool:
        yield pool


def tell_desk(due: Due, earlier: Earlier) -> Turn:
    """Tell the desk; each step comes again once, a minute later."""
    alert = Alert.decode(due.record.encode())
    number = earlier.next((due.alert_id, "email", "desk@example.com"))
    again = 60.0 if due.repetition == 0 else None
    return Turn((message(alert, "email", "desk@example.com", number),), again_seconds=again)


def test_steps_come_due_one_after_the_other_each_with_a_key_of_its_own(
    pool: Pool, ledger_url: str
) -> None:
    alert = sample()
    with at(ledger_url, START) as now:
        told = message(alert, "email", "desk@example.com")
        record(now, alert, told, steps=(step(0, 300), step(1, 600)))
        assert Escalations(now).take(10, tell_desk).steps == 0
    made = []
    for minutes in (4, 5, 5, 6, 9, 10, 11, 12):
        with at(ledger_url, START + minutes * MINUTE) as now:
            made.append(len(Escalations(now).take(10, tell_desk).deliveries))
    assert made == [0, 1, 0, 1, 0, 1, 1, 0]
    assert rows(ledger_url, STATES) == [(0, "DONE", 2), (1, "DONE", 2)]
    assert rows(ledger_url, IDS) == [("desk@example.com", number) for number in range(5)]


def test_while_a_silence_stands_one_message_waits_however_often_its_step_comes_again(
    pool: Pool, ledger_url: str
) -> None:
    alert, desk = sample(), Target("email", "desk@example.com")
    silence = Silence("s1", Match(), START, START + 8 * HOUR, "ann", "works")
    repeated = Step(300, (Instruction(desk, "r"),), 300, 1000)
    with at(ledger_url, START) as now:
        record(now, alert, steps=begin([Escalation("desk", (repeated,))]))

    def told(minutes: int, *silences: Silence) -> list[NewDelivery]:
        later = Later(NO_LINKS, ROUTES, Standing(silences=silences))
        with at(ledger_url, START + minutes * MINUTE) as now:
            decide = partial(escalate, routes=ROUTES, tell=later.tell)
            return Escalations(now).take(10, decide).deliveries

    assert [len(told(minutes, silence)) for minutes in (5, 10, 15, 20)] == [1, 0, 0, 0]
    with at(ledger_url, START + 21 * MINUTE) as now:
        over = Rejudgement(ROUTES, Standing(), timedelta(days=7))
        _, moved = Suppressions(now).judge_page("", over.released)
    assert [(each.recipient, each.after) for each in moved] == [(desk.recipient, State.PENDING)]
    assert len(told(25, silence)) == 1, "what goes already stands for nothing"
    assert len(told(30)) == 1
    assert rows(ledger_url, STATES) == [(0, "WAITING", 6)]
    assert rows(ledger_url, IDS) == [(desk.recipient, number) for number in range(3)]
    noted = rows(ledger_url, "SELECT decided FROM decisions WHERE stage = 'escalation' ORDER BY 1")
    assert noted == [("not told",)] * 3 + [("told",)] * 3


@pytest.mark.parametrize(("state", "group", "attempt", "hours", "found"), WAITS)
def test_what_waits_for_a_rule_alone_and_is_young_is_shown_to_who_decides(
    pool: Pool, ledger_url: str, state: str, group: str | None, attempt: int, hours: int, found: int
) -> None:
    plan = {"route": "r"}
    first, other = sample(1), sample(2)
    record(pool, first, message(first, "sms", "a", plan=plan), steps=(step(0, 0.0),))
    record(pool, other, message(other, "sms", "a", plan=plan))
    with psycopg.connect(ledger_url) as connection:
        terms = (state, group, attempt, timedelta(hours=hours))
        connection.execute(
            "UPDATE deliveries SET state = %s, group_key = %s, attempt = %s,"
            " created_at = ledger_now() - %s",
            terms,
        )
    seen: list[Earlier] = []

    def look(due: Due, earlier: Earlier) -> Turn:
        seen.append(earlier)
        return Turn()

    Escalations(pool).take(10, look)
    to = (first.alert_id, "sms", "a")
    assert [(each.last, each.waiting) for each in seen] == [({to: 0}, {to: [plan] * found})]


def test_an_alert_that_comes_again_begins_no_second_escalation(pool: Pool, ledger_url: str) -> None:
    for _ in range(2):
        record(pool, sample(), steps=(step(0, 300),))
    assert rows(ledger_url, STATES) == [(0, "WAITING", 0)]


def test_a_word_ends_the_escalation_and_is_kept_once(pool: Pool, ledger_url: str) -> None:
    alert = sample()
    with at(ledger_url, START) as now:
        record(now, alert, steps=(step(0, 60), step(1, 600)))
    with at(ledger_url, START + 2 * MINUTE) as now:
        assert Escalations(now).take(10, tell_desk).steps == 1
        kept = Acknowledgements(now)
        first = kept.acknowledge(alert.alert_id, person="ann", via="link")
        again = kept.acknowledge(alert.alert_id, person="ann", via="api", note_text="twice")
        other = kept.acknowledge(alert.alert_id, person="bob", via="api", note_text="me too")
        assert (first.new, again.new, other.new) == (True, False, True)
        assert [each.person for each in other.all] == ["ann", "bob"]
        assert kept.of(alert.alert_id) == other.all
    assert rows(ledger_url, STATES) == [(0, "ENDED", 1), (1, "ENDED", 0)]
    with at(ledger_url, START + 60 * MINUTE) as now:
        assert Escalations(now).take(10, tell_desk).steps == 0
    noted = rows(ledger_url, "SELECT decided, why FROM decisions ORDER BY decision_id")
    assert noted == [
        ("acknowledged", "by ann (link); ended desk step 1, desk step 2"),
        ("noted", "by ann (api): twice"),
        ("acknowledged", "by bob (api): me too"),
    ]


def test_a_later_note_is_kept_and_the_same_one_again_is_once(pool: Pool, ledger_url: str) -> None:
    alert = sample()
    record(pool, alert)
    kept = Acknowledgements(pool)

    def say(note_text: str) -> bool:
        done = kept.acknowledge(alert.alert_id, person="ann", via="api", note_text=note_text)
        assert [each.note for each in done.all] == ["on my way"]
        return done.noted

    said = ("on my way", "on my way", " ", "a fan", "a fan", "done", "a fan")
    assert [say(each) for each in said] == [False, False, False, True, False, True, False]
    noted = rows(ledger_url, "SELECT decided, why FROM decisions ORDER BY decision_id")
    assert noted == [
        ("acknowledged", "by ann (api): on my way"),
        ("noted", "by ann (api): a fan"),
        ("noted", "by ann (api): done"),
    ]


def test_a_crash_while_deciding_undoes_all_of_it(pool: Pool, ledger_url: str) -> None:
    record(pool, sample(), steps=(step(0, 0.0), step(1, 0.0)))

    def crash(due: Due, earlier: Earlier) -> Turn:
        if due.step == 1:
            raise KeyError("power cut")
        return tell_desk(due, earlier)

    with pytest.raises(KeyError):
        Escalations(pool).take(10, crash)
    assert rows(ledger_url, IDS) == []
    assert rows(ledger_url, STATES) == [(0, "WAITING", 0), (1, "WAITING", 0)]
    assert len(Escalations(pool).take(10, tell_desk).deliveries) == 2


def test_two_keepers_never_take_the_same_step(pool: Pool, ledger_url: str) -> None:
    alerts = [sample(number) for number in range(40)]
    for alert in alerts:
        record(pool, alert, steps=(step(0, 0.0),))
    made: list[str] = []

    def work() -> None:
        taken = Escalations(pool).take(3, tell_desk)
        while taken.steps:
            made.extend(each.delivery.delivery_id for each in taken.deliveries)
            taken = Escalations(pool).take(3, tell_desk)

    keepers = [threading.Thread(target=work) for _ in range(3)]
    for each in keepers:
        each.start()
    for each in keepers:
        each.join()
    work()
    assert len(made) == len(set(made)) == 40


def test_one_that_stands_still_while_it_decides_holds_up_no_other(
    pool: Pool, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.backbone.ledger.database._SILENT_TIMEOUT_MS", 500)
    for number in (1, 2):
        record(pool, sample(number), steps=(step(0, 0.0),))
    deciding, over = threading.Event(), threading.Event()

    def stands_still(due: Due, earlier: Earlier) -> Turn:
        deciding.set()
        assert over.wait(60)
        return tell_desk(due, earlier)

    settings = LedgerSettings(postgres_url=SecretStr(ledger_url))
    with open_pool(settings) as still, ThreadPoolExecutor(1) as keeper:
        taking = keeper.submit(Escalations(still).take, 1, stands_still)
        assert deciding.wait(60)
        try:
            assert Escalations(pool).take(1, tell_desk).steps == 1, "the other alert"
            eventually(lambda: Escalations(pool).take(1, tell_desk).steps == 1, "it is still held")
        finally:
            over.set()
        with pytest.raises(Transient):
            taking.result()
    assert rows(ledger_url, STATES) == [(0, "WAITING", 1), (0, "WAITING", 1)]


def test_a_step_that_another_has_moved_between_the_statements_is_nobody_elses(
    pool: Pool, ledger_url: str
) -> None:
    record(pool, sample(), steps=(step(0, 0.0),))
    with psycopg.connect(ledger_url) as other, ThreadPoolExecutor(1) as keeper:
        other.execute("UPDATE escalations SET state = 'DONE', repetition = 1")
        taking = keeper.submit(Escalations(pool).take, 10, tell_desk)
        eventually(lambda: rows(ledger_url, WAITS_FOR_A_LOCK) == [(1,)], "it did not wait")
        other.commit()
        assert taking.result() == Taken()
    assert rows(ledger_url, STATES) == [(0, "DONE", 1)]


def test_a_word_that_comes_while_a_step_is_decided_waits_and_ends_the_rest(
    pool: Pool, ledger_url: str
) -> None:
    alert = sample()
    record(pool, alert, steps=(step(0, 0.0),))
    speaking = threading.Thread(
        target=lambda: Acknowledgements(pool).acknowledge(alert.alert_id, person="a", via="api")
    )

    def slow(due: Due, earlier: Earlier) -> Turn:
        assert not due.acknowledged
        speaking.start()
        return tell_desk(due, earlier)

    assert Escalations(pool).take(10, slow).steps == 1
    speaking.join()
    assert rows(ledger_url, STATES) == [(0, "ENDED", 1)]


def test_who_and_what_must_be_said_in_a_form_that_can_be_kept(pool: Pool) -> None:
    kept = Acknowledgements(pool)
    with pytest.raises(Refused, match="no alert"):
        kept.acknowledge("f" * 32, person="ann", via="api")
    for person, text in (("", ""), (" ", ""), ("a\0", ""), ("a" * 513, ""), ("a", "\0")):
        with pytest.raises(Refused):
            kept.acknowledge("f" * 32, person=person, via="api", note_text=text)


def test_a_delivery_shows_what_it_is_about(pool: Pool) -> None:
    alert = sample()
    told = message(alert, "email", "ann@example.com")
    record(pool, alert, told)
    kept = Acknowledgements(pool)
    shown = kept.shown(told.delivery.delivery_id)
    assert shown is not None
    assert (shown.alert_id, shown.recipient, shown.acknowledged_at) == (
        alert.alert_id,
        "ann@example.com",
        None,
    )
    assert kept.shown("f" * 32) is None
