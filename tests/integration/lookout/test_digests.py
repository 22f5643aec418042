"""A digest that is made and not sent yet: what may hold it back, close it, or follow it, and why.

Alerts MILD and FAIR are of one zone, so email b is told of them together.
"""

import pytest

from services.backbone.ledger.alerts import later
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.answers.why import Answers, Recipient
from services.backbone.ledger.database import transaction
from services.contracts.states import State
from services.lookout.duties.following import Following
from services.lookout.duties.later import Announcing
from services.lookout.duties.roster import following
from services.lookout.outbox.publishing import Publisher
from services.lookout.settings import LookoutSettings
from services.lookout.templates.words import NO_LINKS
from tests.integration.lookout.keeping import ROUTES, Desk, World
from tests.integration.lookout.later_rows import message

pytestmark = pytest.mark.postgres

MILD, FAIR = 2, 4
"""Numbers of an info and a warning alert."""
MORNING = "2026-11-22 06:00:00Z"


@pytest.fixture
def world(desk: Desk) -> World:
    """A world in which the digest waits to be claimed."""
    world = World(desk)
    world.arrive(world.programs[0], [MILD, FAIR])
    world.pass_time(61)
    world.programs[0].round()
    assert {each.state for each in told(world)} == {"PENDING", "CLOSED"}
    return world


def told(world: World) -> list[Recipient]:
    """Return what "why" says of email b for both alerts, the digest itself first."""
    answers = [Answers(world.pool).why(world.alert(number).alert_id) for number in (MILD, FAIR)]
    found = [each for answer in answers if answer is not None for each in answer.recipients]
    mine = [each for each in found if each.recipient == "b"]
    return sorted(mine, key=lambda each: each.sentence.startswith("part of a digest: "))


def sentences(world: World) -> list[str]:
    return [each.sentence for each in told(world)]


def readings(world: World) -> list[int]:
    ids = [world.alert(number).alert_id for number in (MILD, FAIR)]
    return [world.told["email", "b", each] for each in ids]


def test_quiet_hours_hold_a_digest_back_until_morning(world: World) -> None:
    world.pass_time(3600)
    world.programs[0].round()
    said = f"not sent: none of its 2 alerts may be told now, first quiet nights, until {MORNING}"
    assert sentences(world) == [said, f"part of a digest: {said}"]
    assert world.deliver() == []
    world.pass_time(9 * 3600)
    world.programs[0].round()
    world.deliver()
    assert readings(world) == [1, 1]
    assert all("sent once at 2026-11-22 07:" in each for each in sentences(world))


def test_a_silence_for_one_of_its_alerts_does_not_hold_back_the_other(world: World) -> None:
    world.acknowledge(MILD)
    world.silence(2, "cpu")
    world.programs[0].round()
    world.deliver()
    assert readings(world) == [1, 1]


def test_a_silence_for_all_of_it_does_and_its_end_releases_it_at_once(world: World) -> None:
    world.silence(10, "over-*")
    world.programs[0].round()
    assert "first silenced by ann: works, until 2026-11-22 07:01:01Z" in sentences(world)[0]
    world.end_silence()
    world.programs[0].round()
    assert sentences(world)[0].startswith("not sent yet: waits to be sent since")
    world.deliver()
    assert readings(world) == [1, 1]


def test_a_digest_that_waits_is_closed_when_all_of_it_is_acknowledged(world: World) -> None:
    world.pass_time(3600)
    world.programs[0].round()
    for number in (MILD, FAIR):
        world.acknowledge(number)
    world.pass_time(9 * 3600)
    world.programs[0].round()
    said = "not sent, closed at 2026-11-22 07:01:01Z: acknowledged before it was sent"
    assert sentences(world) == [said, f"part of a digest: {said}"]
    assert readings(world) == [0, 0]


@pytest.mark.parametrize("acknowledged", [(), (MILD,), (FAIR,), (MILD, FAIR)])
def test_what_follows_a_digest_that_failed_tells_all_of_it(
    world: World, acknowledged: tuple[int, ...]
) -> None:
    fail(world)
    for number in acknowledged:
        world.acknowledge(number)
    follow(world)
    follow(world)
    world.deliver()
    ids = [world.alert(number).alert_id for number in (MILD, FAIR)]
    times = 0 if len(acknowledged) == 2 else 1
    assert [world.told["email", "c", each] for each in ids] == [times, times]
    failed, member = sentences(world)
    assert failed.startswith("not delivered, refused at ")
    if times:
        assert member.startswith("part of a digest: sent once at ")


@pytest.mark.parametrize("had", [(MILD,), (FAIR,), (MILD, FAIR)])
def test_who_was_told_of_some_of_it_before_is_told_all_of_it(
    world: World, had: tuple[int, ...]
) -> None:
    with transaction(world.pool) as connection:
        later.insert(connection, [message(world.alert(each), "email", "c") for each in had])
    fail(world)
    follow(world)
    world.deliver()
    ids = [world.alert(number).alert_id for number in (MILD, FAIR)]
    before = [int(number in had) for number in (MILD, FAIR)]
    again = 0 if len(had) == 2 else 1
    assert [world.told["email", "c", each] for each in ids] == [each + again for each in before]


def fail(world: World) -> None:
    """Let the provider refuse the digest for good; its plan has email c as fallback."""
    world.rows(
        "UPDATE deliveries SET state = %s, reason = '550 no such user', attempt = 1,"
        """ plan = plan || '{"fallback": [{"channel": "email", "recipient": "c"}]}'"""
        " WHERE state = 'PENDING' AND digest_id IS NOT NULL RETURNING delivery_id",
        State.FAILED,
    )


def follow(world: World) -> None:
    program = world.programs[0]
    publisher = Publisher(program.topics, Outbox(world.pool))
    announcing = Announcing(publisher, program.topics, world.clock.now_ms)
    shared = Following(program.lookout.circumstances, lambda: ROUTES, NO_LINKS, announcing)
    for duty in following(LookoutSettings(), world.pool, shared):
        duty.do()
