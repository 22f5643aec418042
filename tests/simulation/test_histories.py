"""Thousands of histories of lookouts and deliverers, under faults, keep every promise.

Goal: whatever crashes, stops, gets lost, comes twice or comes late, I1 to I5 of the design and what
keepers promise (K1 to K4) hold at every moment, and everything comes to rest. Method:
tests/simulation (docs/simulation.md), with the same seeds each time, so that what stood yesterday
stands today; `make fuzz` draws new ones.
"""

from collections import Counter

import pytest

from services.contracts.states import State
from tests.simulation import fuzzing
from tests.simulation.history import failure_of
from tests.simulation.mutants import planted
from tests.simulation.plan import Kind, Word, draw_plan
from tests.simulation.shrinking import shrunk
from tests.simulation.world import World

HISTORIES = [1_000, pytest.param(10_000, marks=pytest.mark.long)]
SHARDS = 2


@pytest.mark.timeout(900)
@pytest.mark.parametrize("histories", HISTORIES)
def test_every_history_keeps_the_promises(histories: int) -> None:
    done = fuzzing.shards(0, histories, SHARDS)
    for shard in done:
        if shard.failed_seed is not None:
            pytest.fail(fuzzing.story_of(shard.failed_seed))
    assert sum(shard.histories for shard in done) == histories


def test_a_seed_makes_the_same_history_each_time() -> None:
    for seed in range(30):
        first, second = _timeline(seed), _timeline(seed)
        assert first == second
        assert first


def test_histories_reach_every_state_and_meet_every_fault() -> None:
    passed: Counter[State] = Counter()
    met: set[Kind] = set()
    words: set[Word] = set()
    for seed in range(800):
        world = World(draw_plan(seed))
        world.run()
        world.close()
        passed.update(state for path in world.judge.paths.values() for state in path)
        met |= world.met
        words |= {each.word for each in world.plan.sayings}
    assert met == set(Kind)
    assert {state for state in State if passed[state] >= 10} == set(State)
    assert words == set(Word)


def test_a_failure_shrinks_to_what_is_needed() -> None:
    with planted("a doubt is repeated without the mark"):
        found = fuzzing.first_failure(range(1000))[1]
        assert found is not None
        smallest = shrunk(found)
        assert failure_of(smallest.plan) is not None
    assert smallest.kind == found.kind
    assert len(smallest.plan.alerts) == 1
    assert len(smallest.plan.faults) == 1
    assert smallest.plan.lookouts == smallest.plan.deliverers == 1
    assert failure_of(smallest.plan) is None, "without the mutant nothing is broken"


def test_a_failure_is_told_with_its_seed_and_timeline() -> None:
    with planted("a doubt is repeated without the mark"):
        found = fuzzing.first_failure(range(1000))[1]
        assert found is not None
        text = fuzzing.story(found, found.plan.seed)
    assert f"tests.simulation replay {found.plan.seed}" in text
    assert "sent twice without the mark" in text
    assert text.count("takes") >= 2


def _timeline(seed: int) -> list[tuple[float, str, str]]:
    lines: list[tuple[float, str, str]] = []
    world = World(draw_plan(seed), lambda *line: lines.append(line))
    world.run()
    world.close()
    return lines
