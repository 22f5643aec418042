"""Spark takes up to minutes to judge a change: all that runs is looked after meanwhile."""

import pytest

from auditor.changes.asked import LEFT_SECONDS_MAX, TRIALS_SECONDS_MAX
from services.backbone.errors import Ended, Refused
from tests.unit.auditor.changing import World
from tests.unit.auditor.fakes import PATIENCE_SECONDS


def test_all_that_runs_is_looked_after_while_spark_is_asked_about_a_change(world: World) -> None:
    world.may_judge.clear()
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.made[1][1].queries[-1].fail("the broker went away")
    world.turns(count=20)
    assert [each.runs for _, each in world.made] == [True, True, False]
    assert len(world.made[1][1].queries) > 1
    world.may_judge.set()
    world.turns()
    assert world.queries() == [True, True]


def test_what_a_changed_rule_is_held_to_ends_nothing_that_runs(world: World) -> None:
    world.scrutiny = Refused("watch over-purchase: the key must be the same")
    world.restart()
    assert world.reload.notes() is None
    before = world.queries()
    assert before[-1]
    world.edit("limit: 24 hours", "limit: 25 hours")
    assert world.queries() == [*before, False]
    assert "the key must be the same" in str(world.reload.notes())
    world.restart()
    assert world.queries()[-2:] == [True, False]
    assert world.fleet.missing == {}


def test_a_change_that_is_taken_back_while_spark_is_asked_breaks_the_trial_off(
    world: World,
) -> None:
    world.may_judge.clear()
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.edit("limit: 25 hours", "limit: 24 hours")
    assert (asked := world.asked()) is None or asked.is_over(0, PATIENCE_SECONDS)
    world.may_judge.set()
    world.turns()
    assert world.queries() == [True, False]
    assert world.reload.notes() is None
    assert world.partner.take()


def test_a_trial_that_goes_on_after_its_time_ends_the_program(world: World) -> None:
    world.may_judge.clear()
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.clock.move(TRIALS_SECONDS_MAX + LEFT_SECONDS_MAX + 1)
    with pytest.raises(Ended, match="over-purchase: its trial goes on after its time"):
        world.turns()
    world.may_judge.set()


def test_a_trial_ends_with_the_program(world: World) -> None:
    world.may_judge.clear()
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.reload.stop()
    assert world.asked().is_over(0)
