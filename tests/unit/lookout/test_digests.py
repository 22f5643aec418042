"""Groups and digests whose circumstances change, against a model that looks at every rule."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.alerts.suppressions import Member, Ruling, Waiting
from services.contracts.records import Alert, Severity
from services.contracts.states import State
from services.lookout.decisions.plans import encode_plan
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.routing import Instruction, Routes, Target
from services.lookout.standing import Standing, found_at
from tests.unit.lookout.judging_model import World
from tests.unit.lookout.samples import alerts, sample
from tests.unit.lookout.test_judgement import HOURS, NOW, TIMES, WORLDS, found, instructions

AGE_LIMIT: Final = timedelta(hours=100)
HOUR: Final = timedelta(hours=1)
ROUTES: Final = Routes((), (), times=TIMES)
Told = tuple[Alert, bool]
"""An alert, and whether somebody has acknowledged it."""
FOUND: Final = st.builds(found, alerts(), st.sampled_from((NOW, NOW - 2 * AGE_LIMIT)))
TOLD: Final = st.lists(
    st.tuples(FOUND, st.booleans()),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each[0].alert_id,
)
CREATED: Final = st.sampled_from((HOUR, AGE_LIMIT))


def row(told: Told, plan: Instruction, at: datetime, age: timedelta, number: int = 0) -> Waiting:
    """Return a row as the ledger gives it; the number makes its id."""
    alert, acknowledged = told
    return Waiting(
        delivery_id=f"d{number}",
        alert_id=alert.alert_id,
        channel=plan.target.channel,
        recipient=plan.target.recipient,
        state=State.SUPPRESSED,
        attempt=0,
        fence=0,
        plan=orjson.loads(encode_plan(plan)),
        alert=alert.encode().decode(),
        subject=f"subject {number}",
        suppressed_by="group:r",
        next_attempt_at=datetime(1970, 1, 1, tzinfo=UTC),
        created_at=at - age,
        acknowledged=acknowledged,
    )


def digest(told: Sequence[Told], plan: Instruction, at: datetime, age: timedelta) -> Waiting:
    """Return a digest that is on its way."""
    carrier = row(told[0], plan, at, age)
    members = tuple(
        Member(carrier.plan, alert.encode().decode(), acknowledged) for alert, acknowledged in told
    )
    return replace(carrier, members=members, suppressed_by="quiet:nights")


def judge(world: World, at: datetime) -> Rejudgement:
    return Rejudgement(ROUTES, world.standing(at), AGE_LIMIT)


def until(world: World, told: Sequence[Told], plan: Instruction, at: datetime) -> datetime | None:
    """Say until when a message about some alerts waits: while every one of them is held back."""
    plain = replace(plan, grouping=None)
    held = [world.held(plain, alert, at) for alert, _ in told]
    ends = [each[1] for each in held if each is not None]
    return min(ends) if len(ends) == len(told) else None


@given(WORLDS, TOLD, instructions(), HOURS)
def test_a_digest_on_its_way_waits_while_each_of_its_alerts_is_held_back(
    world: World, told: list[Told], plan: Instruction, at: datetime
) -> None:
    rulings = judge(world, at).swept(at, [digest(told, plan, at, timedelta(0))])
    ends = until(world, told, plan, at)
    assert [each.suppression and each.suppression.until for each in rulings] == (
        [] if ends is None else [ends]
    )
    for each in rulings:
        assert each.suppression is not None
        assert each.suppression.group_key is None
        assert len(told) == 1 or f"none of its {len(told)} alerts may be told now" in each.why


@given(WORLDS, TOLD, instructions(), HOURS, CREATED)
def test_a_digest_that_waits_is_closed_only_if_all_of_it_is_acknowledged(
    world: World, told: list[Told], plan: Instruction, at: datetime, age: timedelta
) -> None:
    (ruling,) = judge(world, at).released(at, [digest(told, plan, at, age)])
    if all(acknowledged for _, acknowledged in told):
        assert ruling.after is State.CLOSED
    elif age >= AGE_LIMIT:
        assert ruling.after is State.HELD
    elif (ends := until(world, told, plan, at)) is not None:
        assert ruling.suppression is not None
        assert (ruling.after, ruling.suppression.until) == (State.SUPPRESSED, ends)
    else:
        assert (ruling.after, ruling.message) == (State.PENDING, None), "its words stay"


@given(WORLDS, TOLD, instructions(), HOURS, CREATED)
def test_a_group_tells_those_that_may_be_told_and_each_in_one_place(
    world: World, told: list[Told], plan: Instruction, at: datetime, age: timedelta
) -> None:
    members = [row(each, plan, at, age, number) for number, each in enumerate(told)]
    rulings = judge(world, at).gathered(at, members)
    assert sorted(each.row.delivery_id for each in rulings) == [
        each.delivery_id for each in members
    ]
    by_id = {each.row.delivery_id: each for each in rulings}
    going = [each for each in members if by_id[each.delivery_id].suppression is None]
    going = [each for each in going if not each.acknowledged and not is_old(each, at)]
    for member, one in zip(members, told, strict=True):
        ruling = by_id[member.delivery_id]
        if member.acknowledged:
            assert (ruling.after, ruling.digest_id) == (State.CLOSED, None)
        elif is_old(member, at):
            assert (ruling.after, ruling.digest_id) == (State.HELD, None)
        elif (ends := until(world, [one], plan, at)) is not None:
            assert ruling.suppression is not None
            assert ruling.suppression.until == ends
            assert ruling.suppression.group_key is None, "it has left the group"
    check_told(going, by_id)


@pytest.mark.parametrize("old", Severity)
@pytest.mark.parametrize("new", Severity)
def test_an_old_alert_neither_goes_with_a_new_one_nor_keeps_it_back(
    old: Severity, new: Severity
) -> None:
    """In a ledger restored from a backup, what was told since comes as if nobody had been told."""
    told = [
        found(sample(number, severity=severity), NOW - before)
        for number, (severity, before) in enumerate(((old, HOUR), (new, timedelta(0))))
    ]
    plan = Instruction(Target("email", "desk@example.com"), "r")
    members = [row((each, False), plan, NOW, timedelta(0), n) for n, each in enumerate(told)]
    rulings = Rejudgement(ROUTES, Standing(), HOUR).gathered(NOW, members)
    assert [(each.row.delivery_id, each.after, each.why) for each in rulings] == [
        ("d0", State.HELD, "too old to be sent without a person's word"),
        ("d1", State.PENDING, "alone in its group"),
    ]


def is_old(member: Waiting, at: datetime) -> bool:
    """Tell whether a member may go only at a person's word; as old as its row, or its finding."""
    since = min(member.created_at, found_at(Alert.decode(member.alert.encode())))
    return at - since >= AGE_LIMIT


def check_told(going: Sequence[Waiting], by_id: dict[str, Ruling]) -> None:
    """The earliest of the worst carries all that may be told, and its text names each."""
    if not going:
        return
    severities = [Alert.decode(each.alert.encode()).severity for each in going]
    place = severities.index(max(severities, key=list(Severity).index))
    carrier = by_id[going[place].delivery_id]
    assert carrier.after is State.PENDING
    if len(going) == 1:
        assert (carrier.message, carrier.digest_id) == (None, None)
        return
    assert carrier.message is not None
    assert carrier.digest_id == carrier.row.delivery_id
    for other in [each for each in going if each is not going[place]]:
        ruling = by_id[other.delivery_id]
        assert (ruling.after, ruling.digest_id) == (State.CLOSED, carrier.digest_id)
    if carrier.row.channel == "email":
        assert all(f"({each.alert_id})" in carrier.message[1] for each in going)
