"""Who is told when nobody acknowledges or a message fails: pure decisions against simple models."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.alerts.escalations import (
    MESSAGES_LIMIT_BYTES,
    Due,
    Turn,
    decided_first,
)
from services.backbone.ledger.alerts.fallbacks import Lost
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.told import Known, Told
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery
from services.contracts.states import State
from services.lookout.decisions.escalation import REPETITION_LIMIT, begin, escalate, spoken
from services.lookout.decisions.fallback import fall_back
from services.lookout.decisions.plans import encode_plan
from services.lookout.duties.later import Later
from services.lookout.routing import Escalation, Instruction, Quiet, Routes, Step, Target
from services.lookout.standing import Standing
from services.lookout.templates.digest import Digest
from services.lookout.templates.rendering import Message
from services.lookout.templates.words import NO_LINKS
from tests.unit.lookout.samples import sample
from tests.unit.lookout.test_judgement import TIMES

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ALERT = sample()
ROUTES = Routes((), ())
LATER = Later(NO_LINKS, ROUTES, Standing())
DESK = Target("email", "desk@example.com")
PHONE = Target("sms", "+4917012345678")
PAGER = Target("pagerduty", "night")

names = st.sampled_from(("email", "sms", "bus"))
targets = st.builds(Target, names, st.sampled_from(("a", "b")))
steps = st.builds(
    Step,
    st.floats(1, 1e6),
    st.lists(targets.map(lambda each: Instruction(each, "r")), min_size=1, max_size=3).map(tuple),
    st.none() | st.floats(1, 1e6),
    st.integers(0, 1000),
    st.floats(1, 10),
)


def due(step: Step, number: int = 0, repetition: int = 0, acknowledged: bool = False) -> Due:
    """Return a step as the ledger gives it back."""
    recorded = begin([Escalation("desk", (step,) * (number + 1))])[number]
    plan: dict[str, Any] = orjson.loads(recorded.plan)
    told = (ALERT.alert_id, "desk", number, repetition, plan, NOW)
    return Due(*told, ALERT.encode().decode(), NOW, acknowledged, NOW)


def test_a_turn_makes_only_so_many_large_messages_as_it_has_room_for() -> None:
    people = tuple(Instruction(Target("email", f"desk-{number}"), "r") for number in range(50))
    large = sample(values={"text": "x" * 300_000}).encode().decode()
    steps = [replace(due(Step(1.0, people), number), record=large) for number in range(20)]
    turns = decided_first(
        steps, Earlier(), lambda one, told: escalate(one, told, ROUTES, LATER.tell)
    )
    assert [len(each.deliveries) for each in turns] == [50, 50]
    first = sum(len(each.encoded) for each in turns[0].deliveries)
    assert first < MESSAGES_LIMIT_BYTES < 2 * first


@given(steps, st.integers(0, 3), st.integers(0, 1000))
def test_each_recipient_of_a_step_gets_one_message_with_the_next_key(
    step: Step, number: int, repetition: int
) -> None:
    earlier = Earlier({(ALERT.alert_id, "email", "a"): 4})
    before = Counter({("email", "a"): 5})
    turn = escalate(due(step, number, repetition), earlier, ROUTES, LATER.tell)
    made = [each.delivery for each in turn.deliveries]
    asked = dict.fromkeys(each.target for each in step.instructions)
    assert [(each.channel, each.recipient) for each in made] == [
        (each.channel, each.recipient) for each in asked
    ]
    for each in made:
        key = (each.channel, each.recipient)
        assert each.repetition == before[key]
        assert each.delivery_id == delivery_id(ALERT.alert_id, *key, before[key])
    assert len({each.delivery_id for each in made}) == len(made)
    assert all(f"step {number + 1} of {number + 1}" in each.why for each in turn.decisions)


def test_who_stands_in_a_step_twice_is_told_once_in_the_words_of_the_first() -> None:
    routes = Routes((), (), times=TIMES)
    quiet = Instruction(PHONE, "first", quiet=Quiet(TIMES["lunch"]))
    at_once = Instruction(PHONE, "later", fallback=(PAGER,))
    later = replace(LATER, routes=routes)
    turn = escalate(due(Step(60, (quiet, at_once))), Earlier(), routes, later.tell)
    (told,) = turn.deliveries
    plan = orjson.loads(told.plan)
    assert (plan["route"], plan["fallback"][0]["recipient"]) == ("first", PAGER.recipient)
    assert told.suppression is None, "what any of them sends at once is"


@given(steps)
def test_an_acknowledged_alert_is_told_to_nobody(step: Step) -> None:
    turn = escalate(due(step, acknowledged=True), Earlier(), ROUTES, LATER.tell)
    assert (turn.deliveries, turn.state) == ((), "ENDED")
    assert turn.decisions[0].decided == "ended"


def test_a_step_is_told_no_more_often_than_a_message_can_count() -> None:
    earlier = Earlier({(ALERT.alert_id, DESK.channel, DESK.recipient): REPETITION_LIMIT})
    step = Step(60, (Instruction(DESK, "r"), Instruction(PHONE, "r")), 60, 5)
    turn = escalate(due(step), earlier, ROUTES, LATER.tell)
    assert [each.delivery.channel for each in turn.deliveries] == ["sms"]
    assert [each.decided for each in turn.decisions] == ["not told", "told"]


def lost(*fallback: Target, first: Target = DESK, **changes: Any) -> Lost:
    """Return a failed delivery as the ledger gives it back."""
    repetition: int = changes.get("repetition", 0)
    named = _named(first, repetition)
    delivery = Delivery(
        delivery_id=named,
        channel=first.channel,
        recipient=first.recipient,
        subject="two alerts",
        text="first, second",
        created_at_ms=1,
        alert=ALERT,
    )
    plan = orjson.loads(encode_plan(Instruction(first, "r", fallback=fallback)))
    given: dict[str, Any] = {
        "delivery_id": named,
        "alert_id": ALERT.alert_id,
        "channel": first.channel,
        "recipient": first.recipient,
        "repetition": 0,
        "state": State.FAILED,
        "reason": "550 no such user",
        "plan": {"fallback": []} | plan,
        "record": delivery.encode().decode(),
        "members": [],
        "acknowledged": False,
        "tried_at": NOW,
        "now": NOW,
    }
    return Lost(**given | changes)


def test_the_next_of_the_list_is_told_and_takes_the_rest_of_it_along() -> None:
    follows = fall_back(lost(PHONE, PAGER), Told(), ROUTES, LATER.tell)
    assert follows.delivery is not None
    made = follows.delivery.delivery
    assert (made.channel, made.recipient) == (PHONE.channel, PHONE.recipient)
    assert orjson.loads(follows.delivery.plan)["fallback"] == [
        {"channel": "pagerduty", "recipient": "night"}
    ]
    assert made.text.startswith("Fallback: ")
    assert "550 no such user" in follows.decision.why
    assert (follows.decision.delivery_id, follows.exhausted) == (lost().delivery_id, False)


def test_where_texts_are_long_they_say_who_was_not_reached_and_why() -> None:
    follows = fall_back(lost(DESK, first=PHONE), Told(), ROUTES, LATER.tell)
    assert follows.delivery is not None
    first = follows.delivery.delivery.text.splitlines()[0]
    assert first == "Fallback: sms to +4917012345678 failed: 550 no such user"


@given(st.lists(targets, max_size=5), st.sets(targets), st.integers(0, 3))
def test_a_chain_of_failures_ends_and_tells_each_once(
    listed: list[Target], told_by_others: set[Target], repetition: int
) -> None:
    known = Told()
    for each in told_by_others:
        _tell(known, each, repetition)
    current, reached = lost(*listed, repetition=repetition), []
    for _ in range(len(listed) + 1):
        _tell(known, Target(current.channel, current.recipient), repetition, State.FAILED)
        follows = fall_back(current, known, ROUTES, LATER.tell)
        if follows.delivery is None:
            break
        made = follows.delivery.delivery
        target = Target(made.channel, made.recipient)
        assert made.delivery_id not in known.ids
        reached.append(target)
        plan = {"fallback": []} | orjson.loads(follows.delivery.plan)
        current = lost(first=target, plan=plan, repetition=repetition)
    assert follows.delivery is None
    stopped_at = next((place for place, each in enumerate(listed) if each in told_by_others), None)
    assert follows.exhausted == (stopped_at is None)
    assert reached == list(dict.fromkeys(listed[:stopped_at]))


def message_to(target: Target, alert: Alert) -> NewDelivery:
    """Return a message about one alert."""
    return LATER.tell(alert, Instruction(target, "r"), 0, "", NOW)


def _tell(
    told: Told,
    target: Target,
    number: int = 0,
    state: State = State.SENT,
    at: datetime = NOW,
    **more: Any,
) -> None:
    """Count a message about the alert."""
    to = (ALERT.alert_id, target.channel, target.recipient)
    told.count(Known(_named(target, number), *to, at, state, **more))


def _named(target: Target, repetition: int) -> str:
    return delivery_id(ALERT.alert_id, target.channel, target.recipient, repetition)


def test_an_acknowledged_alert_needs_no_fallback() -> None:
    follows = fall_back(lost(PHONE, acknowledged=True), Told(), ROUTES, LATER.tell)
    assert (follows.delivery, follows.decision.decided) == (None, "not needed")


def test_what_cannot_be_read_is_told_to_nobody_else_and_ends_no_lookout() -> None:
    nested = "[" * 199 + "]" * 199
    deep = lost(PHONE).record.replace('"values":{', f'"values":{{"deep":{nested},')
    follows = fall_back(lost(PHONE, record=deep), Told(), ROUTES, LATER.tell)
    assert (follows.delivery, follows.exhausted) == (None, True)
    assert "cannot be read" in follows.decision.why


def test_a_digest_keeps_its_words() -> None:
    follows = fall_back(lost(PAGER, members=[ALERT.encode().decode()]), Told(), ROUTES, LATER.tell)
    assert follows.delivery is not None
    assert follows.delivery.delivery.subject == "two alerts"
    assert follows.delivery.delivery.text.endswith("first, second")


OTHER = sample(2)
MEMBERS = [each.encode().decode() for each in (ALERT, OTHER)]


@pytest.mark.parametrize(
    ("had", "decided", "number"),
    [
        ([], "next", 0),
        ([ALERT], "next", 1),
        ([OTHER], "next", 0),
        ([ALERT, OTHER], "already told", None),
    ],
)
def test_who_has_only_some_of_a_digest_is_told_all_of_it_by_a_message_of_its_own(
    had: list[Alert], decided: str, number: int | None
) -> None:
    told = Told()
    _tell(told, DESK, state=State.FAILED)
    for alert in had:
        told.add(message_to(PAGER, alert), [alert.alert_id], NOW)
    follows = fall_back(lost(PAGER, members=MEMBERS), told, ROUTES, LATER.tell)
    assert follows.decision.decided == decided
    made = [follows.delivery.delivery] if follows.delivery else []
    assert [each.repetition for each in made] == ([] if number is None else [number])
    for each in made:
        assert each.delivery_id not in told.ids
        assert each.text.endswith("first, second")


def test_a_digest_goes_to_whom_a_message_about_one_of_its_alerts_has_not_reached() -> None:
    told = Told()
    for each in (DESK, PAGER):
        _tell(told, each, state=State.FAILED)
    follows = fall_back(lost(PAGER, PHONE, members=MEMBERS), told, ROUTES, LATER.tell)
    assert follows.delivery is not None
    made = follows.delivery.delivery
    assert (made.channel, made.repetition) == (PAGER.channel, 1)


def test_a_digest_passes_over_who_has_as_many_messages_as_can_be_counted() -> None:
    told = Told({_named(PAGER, number) for number in range(REPETITION_LIMIT + 1)})
    follows = fall_back(lost(PAGER, PHONE, members=MEMBERS), told, ROUTES, LATER.tell)
    assert follows.delivery is not None
    assert follows.delivery.delivery.channel == PHONE.channel


def test_two_digests_of_the_same_alerts_that_fail_lead_to_one_message() -> None:
    told = Told()
    first = fall_back(lost(PAGER, members=MEMBERS), told, ROUTES, LATER.tell)
    assert first.delivery is not None
    told.add(first.delivery, [ALERT.alert_id, OTHER.alert_id], NOW)
    second = fall_back(lost(PAGER, first=PHONE, members=MEMBERS), told, ROUTES, LATER.tell)
    assert (second.delivery, second.decision.decided) == (None, "already told")


@pytest.mark.parametrize(
    ("minutes", "decided", "number"),
    [(-5, "next", 1), (0, "already told", None), (1, "already told", None)],
)
@pytest.mark.parametrize("before", [State.SENT, State.FAILED])
def test_who_was_told_before_a_step_gets_what_follows_its_failed_message(
    minutes: int, decided: str, number: int | None, before: State
) -> None:
    step = Step(60, (Instruction(PHONE, "r", fallback=(DESK,)),))
    (sent,) = escalate(due(step), Earlier(), ROUTES, LATER.tell).deliveries
    told = Told()
    _tell(told, DESK, state=before, at=NOW + timedelta(minutes=minutes))
    failed = lost(first=PHONE, plan=orjson.loads(sent.plan), record=sent.encoded.decode())
    follows = fall_back(failed, told, ROUTES, LATER.tell)
    if before is State.FAILED and number is None:
        decided = "exhausted"
    assert follows.decision.decided == decided
    made = follows.delivery
    assert (made and made.delivery.repetition) == number
    assert made is None or "since_ms" in orjson.loads(made.plan), "also what follows that"


@pytest.mark.parametrize(
    ("state", "attempt", "grouped", "decided"),
    [
        (State.PENDING, 0, False, "already told"),
        (State.IN_DOUBT, 1, False, "already told"),
        (State.SUPPRESSED, 0, True, "already told"),
        (State.SUPPRESSED, 0, False, "next"),
        (State.HELD, 0, False, "next"),
        (State.CLOSED, 0, False, "next"),
        (State.CLOSED, 1, False, "already told"),
    ],
)
@pytest.mark.parametrize("members", [[], [ALERT.encode().decode()]])
def test_whose_own_message_is_held_back_gets_what_follows(
    members: list[str], state: State, attempt: int, grouped: bool, decided: str
) -> None:
    told = Told()
    _tell(told, PAGER, state=state, attempt=attempt, grouped=grouped)
    follows = fall_back(lost(PAGER, members=members), told, ROUTES, LATER.tell)
    assert follows.decision.decided == decided
    if follows.delivery is not None:
        assert follows.delivery.delivery.repetition == 1
        assert follows.delivery.delivery.text.startswith("Fallback: ")


def test_who_is_left_alone_is_not_told_twice_when_that_ends() -> None:
    routes = Routes((), (), times=TIMES)
    quiet = Instruction(PHONE, "r", fallback=(PAGER,), quiet=Quiet(TIMES["lunch"]))
    failed = lost(first=PHONE, plan=orjson.loads(encode_plan(quiet)))
    told = Told()
    first = fall_back(failed, told, routes, LATER.tell)
    assert first.delivery is not None
    assert first.delivery.suppression is not None
    told.add(first.delivery, [ALERT.alert_id], NOW)
    second = fall_back(failed, told, routes, LATER.tell)
    assert (second.delivery, second.decision.decided) == (None, "already told")


@pytest.mark.parametrize(
    ("seconds", "said"), [(1, "1 s"), (90, "1.5 min"), (7200, "2 h"), (86_400 * 3, "3 d")]
)
def test_spans_are_said_as_people_do(seconds: float, said: str) -> None:
    assert spoken(seconds) == said


def test_a_turn_says_where_its_step_stands() -> None:
    assert Turn(again_seconds=1).state == "WAITING"
    assert Turn().state == "DONE"
    assert Turn(ended=True).state == "ENDED"


def test_all_steps_are_recorded_with_the_alert() -> None:
    told = (Instruction(DESK, "r"),)
    begun = begin([Escalation("desk", (Step(60, told), Step(timedelta(hours=1).seconds, told)))])
    assert [(each.name, each.step, each.after_seconds) for each in begun] == [
        ("desk", 0, 60),
        ("desk", 1, 3600),
    ]


def test_words_stay_within_what_a_delivery_holds() -> None:
    long = Message("s" * 512, "t" * 4096)
    made: NewDelivery = LATER.tell(
        ALERT, Instruction(DESK, "r"), 1, "why " * 900, NOW, Digest(long, (ALERT,))
    )
    assert len(made.delivery.text) == 4096
    assert Alert.decode(made.delivery.alert.encode()) == ALERT
