"""A fallback whose recipient has a message that waits is made, unless that one stands for it.

Whenever a message that was not made would go, one goes that waits, and after a failure it leads to
the same others.
"""

from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.alerts.fallbacks import Lost
from services.backbone.ledger.alerts.told import Known, Told
from services.contracts.ids import delivery_id
from services.contracts.records import Alert
from services.contracts.states import State
from services.lookout.decisions.fallback import fall_back
from services.lookout.decisions.plans import encode_plan, read_plan
from services.lookout.routing import Grouping, Instruction, Quiet
from services.lookout.standing import Standing
from tests.unit.lookout.test_following import (
    ALERT,
    DESK,
    LATER,
    MEMBERS,
    NOW,
    OTHER,
    PHONE,
    ROUTES,
    lost,
)
from tests.unit.lookout.test_held_escalation import (
    LEADS_ON,
    LUNCH,
    LUNCH_LEADS_ON,
    PLAIN,
    SILENCE,
    SILENCED,
    WITH_TIMES,
    goes_at,
)
from tests.unit.lookout.test_judgement import TIMES

HOUR = timedelta(hours=1)
OF_STEP = replace(LEADS_ON, since=NOW)


def leading_to(instruction: Instruction, *members: str) -> Lost:
    """Return what failed at the desk, whose list goes on with the phone as instructed."""
    listed = (instruction.target, *instruction.fallback)
    plan = encode_plan(replace(instruction, target=DESK, fallback=listed))
    return lost(plan=orjson.loads(plan), members=list(members))


def waits(told: Told, instruction: Instruction, alert_id: str = ALERT.alert_id) -> None:
    """Let a message about an alert wait for the phone."""
    to = (alert_id, PHONE.channel, PHONE.recipient)
    plan = orjson.loads(encode_plan(instruction))
    told.count(Known(delivery_id(*to), *to, NOW, State.SUPPRESSED, waits=plan))


@given(st.lists(st.sampled_from([PLAIN, LEADS_ON, LUNCH, LUNCH_LEADS_ON]), max_size=20))
def test_while_all_is_held_back_no_fallback_is_made_that_another_message_stands_for(
    asked: list[Instruction],
) -> None:
    told, waiting = Told(), list[Instruction]()
    for one in asked:
        follows = fall_back(leading_to(one), told, WITH_TIMES, SILENCED.tell)
        if (made := follows.delivery) is not None:
            assert made.delivery.repetition == len(waiting)
            told.add(made, [ALERT.alert_id], NOW)
            waiting.append(read_plan(orjson.loads(made.plan), PHONE, WITH_TIMES))
        assert follows.decision.decided == ("next" if made else "already told")
        for hour in range(24):
            goes = [each for each in (one, *waiting) if goes_at(each, NOW + hour * HOUR)]
            stands_for = [each for each in goes[1:] if {*each.fallback} >= {*one.fallback}]
            assert one not in goes or stands_for
    assert len(waiting) <= len(set(asked))


@pytest.mark.parametrize(
    ("waiting", "instead", "made"),
    [
        (PLAIN, PLAIN, False),
        (LEADS_ON, PLAIN, False),
        (PLAIN, LUNCH, False),
        (LUNCH, PLAIN, True),
        (LUNCH, replace(PLAIN, quiet=Quiet(TIMES["nights"])), True),
        (PLAIN, LEADS_ON, True),
        (LEADS_ON, LEADS_ON, False),
        (LEADS_ON, replace(LEADS_ON, fallback_on_held=True), True),
        (LEADS_ON, OF_STEP, True),
        (OF_STEP, OF_STEP, False),
        (OF_STEP, LEADS_ON, False),
        (replace(PLAIN, grouping=Grouping((), 60.0, 9)), PLAIN, True),
    ],
)
def test_a_message_that_waits_stands_for_a_fallback_that_goes_no_sooner_and_leads_no_further(
    waiting: Instruction, instead: Instruction, made: bool
) -> None:
    told = Told()
    waits(told, waiting)
    follows = fall_back(leading_to(instead), told, WITH_TIMES, SILENCED.tell)
    assert (follows.delivery is not None) is made
    if not made:
        assert follows.decision.why.endswith("has a message that waits as this would")


def test_whose_own_message_waits_for_quiet_hours_is_told_when_a_short_silence_ends() -> None:
    told = Told()
    waits(told, LUNCH)
    soon = NOW + timedelta(minutes=10)
    short = replace(SILENCED, standing=Standing(silences=(replace(SILENCE, ends_at=soon),)))
    made = fall_back(leading_to(PLAIN), told, WITH_TIMES, short.tell).delivery
    assert made is not None
    assert made.suppression is not None
    assert made.suppression.until == soon


@pytest.mark.parametrize("alerts", [[], [ALERT], [OTHER], [ALERT, OTHER]])
def test_a_digest_waits_already_if_a_message_about_each_of_its_alerts_does(
    alerts: list[Alert],
) -> None:
    told = Told()
    for each in (ALERT, OTHER):
        if each in alerts:
            waits(told, PLAIN, each.alert_id)
    follows = fall_back(leading_to(PLAIN, *MEMBERS), told, WITH_TIMES, SILENCED.tell)
    assert (follows.delivery is None) is (len(alerts) == 2)


def test_a_fallback_that_goes_at_once_is_made_whatever_waits() -> None:
    told = Told()
    waits(told, PLAIN)
    assert fall_back(leading_to(PLAIN), told, ROUTES, LATER.tell).delivery is not None
