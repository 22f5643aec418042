"""A watch that is paused or removed ends, whatever else is under way, and comes back."""

import pytest

from auditor.queries.current import all_current
from tests.unit.auditor.changing import OTHER, WATCH, World


def test_a_watch_that_was_paused_comes_back_between_those_that_run(world: World) -> None:
    world.edit("version: 1", "version: 1\npaused: true")
    world.edit("paused: true\n", "")
    period = world.settings.auditor_batch_seconds
    offsets = sorted(one.phase.offset_seconds for one in world.fleet.running.values())
    assert offsets == [0.0, period / 4]


def test_a_paused_watch_ends_while_another_file_is_bad(world: World) -> None:
    world.edit("severity: warning", "severity: loud", OTHER)
    world.edit("version: 1", "version: 1\npaused: true")
    assert world.queries() == [False]
    assert world.queries(OTHER) == [True]


def test_a_paused_watch_ends_while_another_rule_catches_up(world: World) -> None:
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.edit("version: 1", "version: 1\npaused: true", OTHER)
    assert world.queries(OTHER) == [False]
    assert world.queries() == [True, True]
    world.catch_up()
    assert world.queries() == [False, True]


def test_a_paused_watch_ends_while_spark_is_asked_about_another(world: World) -> None:
    world.may_judge.clear()
    world.edit("limit: 24 hours", "limit: 25 hours")
    world.edit("version: 1", "version: 1\npaused: true", OTHER)
    assert world.queries(OTHER) == [False]
    world.may_judge.set()


@pytest.mark.parametrize("paused", [WATCH, OTHER])
def test_a_paused_watch_ends_while_a_query_is_not_yet_seen_to_judge(
    world: World, paused: str
) -> None:
    world.answering = []
    world.edit("severity: critical", "severity: warning")
    world.edit("version: 1", "version: 1\npaused: true", paused)
    assert world.queries(paused)[-1] is False
    assert world.partner.take() == (paused == WATCH)
    world.partner.give_back()


def test_removed_and_paused_watches_end_and_come_back(world: World) -> None:
    world.edit("version: 1", "version: 1\npaused: true")
    assert world.queries() == [False]
    path = world.watches / f"{OTHER}.yaml"
    text = path.read_text()
    path.unlink()
    world.turns(world.read())
    assert world.queries(OTHER) == [False]
    assert all_current(world.settings.checkpoints_here()) == {}
    path.write_text(text)
    world.edit("paused: true\n", "")
    assert world.queries() == [False, True]
    assert world.queries(OTHER) == [False, True]
