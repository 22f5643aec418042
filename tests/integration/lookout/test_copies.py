"""A copy of an alert that is recorded already inhibits nothing that its alert does not."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import pytest

from services.backbone.errors import Transient
from services.contracts.records import Alert
from services.contracts.states import State
from tests.integration.lookout.crashing import arrivals
from tests.integration.lookout.keeping import Desk, Program, World

pytestmark = pytest.mark.postgres

STRONG, WEAK, OTHER_WEAK = 0, 3, 15
"""Alerts about one zone, of which the first mutes the others."""
LASTS_SECONDS: Final = 600.0


@pytest.fixture
def world(desk: Desk) -> World:
    return World(desk)


def restarted(world: World) -> Program:
    """Return a lookout that has forgotten what is settled, after its first round."""
    program = world.start()
    program.round()
    return program


def copy(world: World) -> Alert:
    """Return the strong alert as the other auditor sends it now."""
    now_ms = int(world.now.timestamp() * 1000)
    return world.alert(STRONG).model_copy(update={"detected_at_ms": now_ms})


def stands(world: World, number: int) -> tuple[State, datetime]:
    """Return the state of a weak alert's delivery, and until when it waits."""
    ((state, until),) = world.rows(
        "SELECT state, next_attempt_at FROM deliveries WHERE alert_id = %s",
        world.alert(number).alert_id,
    )
    return State(state), until


def over(world: World) -> None:
    world.pass_time(LASTS_SECONDS + 1)


def acknowledged(world: World) -> None:
    world.acknowledge(STRONG)


@pytest.mark.parametrize("come_to_be", [over, acknowledged])
def test_a_copy_of_what_is_over_or_acknowledged_mutes_nobody(
    world: World, come_to_be: Callable[[World], None]
) -> None:
    world.arrive(world.programs[0], [STRONG])
    come_to_be(world)
    program = restarted(world)
    program.lookout(arrivals([copy(world), world.alert(WEAK)]))
    program.round()
    world.arrive(program, [OTHER_WEAK])
    assert [stands(world, each)[0] for each in (WEAK, OTHER_WEAK)] == [State.PENDING] * 2


def test_a_copy_mutes_for_no_longer_than_its_alert(world: World) -> None:
    world.arrive(world.programs[0], [STRONG])
    found_at = world.now
    world.pass_time(LASTS_SECONDS / 2)
    program = restarted(world)
    program.lookout(arrivals([copy(world), world.alert(WEAK)]))
    program.round()
    until = found_at + timedelta(seconds=LASTS_SECONDS)
    assert stands(world, WEAK) == (State.SUPPRESSED, until)


def test_a_batch_that_comes_again_goes_on_muting(world: World) -> None:
    program = world.programs[0]
    program.topics.away = True
    with pytest.raises(Transient):
        world.arrive(program, [STRONG])
    program.topics.away = False
    world.arrive(program, [STRONG])
    world.arrive(program, [WEAK])
    assert stands(world, WEAK)[0] is State.SUPPRESSED
    program.round()
    assert stands(world, WEAK)[0] is State.SUPPRESSED


def test_what_is_refused_mutes_nobody(world: World) -> None:
    program = restarted(world)
    huge = world.alert(STRONG).model_copy(update={"values": {"all": "x" * 1_000_000}})
    program.lookout(arrivals([huge, world.alert(WEAK)]))
    program.round()
    assert stands(world, WEAK)[0] is State.PENDING
