"""A step that comes again while its messages are held back: one waits, and stands for the others.

Whenever a message that was not made would go, one goes that waits, and after a failure it leads to
the same others.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.alerts.escalations import Turn, decided
from services.backbone.ledger.alerts.later import Earlier
from services.backbone.ledger.alerts.suppressions import Kind, Suppression
from services.lookout.decisions.escalation import escalate
from services.lookout.decisions.judgement import judge_one
from services.lookout.decisions.plans import encode_plan, read_plan
from services.lookout.duties.later import Later
from services.lookout.matching import Match
from services.lookout.routing import Grouping, Instruction, Quiet, Routes, Step
from services.lookout.standing import Silence, Standing
from services.lookout.templates.words import NO_LINKS
from tests.unit.lookout.test_following import (
    ALERT,
    LATER,
    NOW,
    PAGER,
    PHONE,
    ROUTES,
    due,
    message_to,
)
from tests.unit.lookout.test_judgement import TIMES

WITH_TIMES = Routes((), (), times=TIMES)
HOUR = timedelta(hours=1)
SILENCE = Silence("s1", Match(), NOW - HOUR, NOW + 8 * HOUR, "ann", "works")
SILENCED = Later(NO_LINKS, WITH_TIMES, Standing(silences=(SILENCE,)))
PLAIN = Instruction(PHONE, "r")
LEADS_ON = replace(PLAIN, fallback=(PAGER,))
LUNCH = replace(PLAIN, quiet=Quiet(TIMES["lunch"]))
LUNCH_LEADS_ON = replace(LUNCH, fallback=(PAGER,))


def told_while_silenced(instruction: Instruction, earlier: Earlier, repetition: int = 0) -> Turn:
    """Have a step with one recipient done, whose alert is silenced."""
    asked = due(Step(60, (instruction,), 300, 1000), repetition=repetition)
    decide = partial(escalate, routes=WITH_TIMES, tell=SILENCED.tell)
    return decided(asked, earlier, decide)


@given(st.lists(st.sampled_from([PLAIN, LEADS_ON, LUNCH, LUNCH_LEADS_ON]), max_size=20))
def test_while_all_is_held_back_no_message_is_made_that_another_one_stands_for(
    asked: list[Instruction],
) -> None:
    earlier, waiting = Earlier(), list[Instruction]()
    for repetition, one in enumerate(asked):
        turn = told_while_silenced(one, earlier, repetition)
        for made in turn.deliveries:
            assert made.delivery.repetition == len(waiting)
            waiting.append(read_plan(orjson.loads(made.plan), PHONE, WITH_TIMES))
        (decision,) = turn.decisions
        assert decision.decided == ("told" if turn.deliveries else "not told")
        assert turn.state == "WAITING"
        for hour in range(24):
            goes = [each for each in (one, *waiting) if goes_at(each, NOW + hour * HOUR)]
            stands_for = [each for each in goes[1:] if {*each.fallback} >= {*one.fallback}]
            assert one not in goes or stands_for
    assert len(waiting) <= len(set(asked))


def goes_at(told: Instruction, at: datetime) -> bool:
    """Tell whether a message to this recipient goes once the silence is over."""
    return judge_one(told.ungrouped(), ALERT, Standing(), at) is None


@pytest.mark.parametrize(
    ("waiting", "told", "made"),
    [
        (PLAIN, PLAIN, False),
        (LEADS_ON, PLAIN, False),
        (PLAIN, LUNCH, False),
        (LUNCH, PLAIN, True),
        (PLAIN, LEADS_ON, True),
        (LEADS_ON, LEADS_ON, True),
        (replace(LEADS_ON, since=NOW - HOUR), LEADS_ON, False),
        (replace(LEADS_ON, since=NOW), replace(LEADS_ON, fallback_on_held=True), True),
        (replace(PLAIN, grouping=Grouping((), 60.0, 9)), PLAIN, True),
        (replace(PLAIN, template="short"), PLAIN, False),
    ],
)
def test_a_message_that_waits_stands_for_one_that_goes_no_sooner_and_leads_no_further(
    waiting: Instruction, told: Instruction, made: bool
) -> None:
    to = (ALERT.alert_id, PHONE.channel, PHONE.recipient)
    earlier = Earlier({to: 0}, {to: [orjson.loads(encode_plan(waiting))]})
    turn = told_while_silenced(told, earlier)
    assert bool(turn.deliveries) is made
    if not made:
        assert turn.decisions[0].why.endswith(
            "sms to +4917012345678 has a message that waits as this would"
        )


def test_what_goes_at_once_is_told_whatever_waits() -> None:
    earlier = Earlier()
    told_while_silenced(PLAIN, earlier)
    turn = escalate(due(Step(60, (PLAIN,))), earlier, ROUTES, LATER.tell)
    assert [each.delivery.repetition for each in turn.deliveries] == [1]


def test_a_message_that_waits_for_its_group_stands_for_nothing() -> None:
    earlier, to = Earlier(), (ALERT.alert_id, PAGER.channel, PAGER.recipient)
    grouped = Suppression(Kind.GROUP, "r", NOW, "grouped", "key", 9)
    earlier.add(replace(message_to(PAGER, ALERT), suppression=grouped))
    assert (earlier.next(to), earlier.waiting) == (1, {})
