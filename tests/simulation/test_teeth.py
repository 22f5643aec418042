"""The simulator finds known bugs: each is planted, and must be found within some histories.

Goal: that no history fails must mean something. Method: mutants.py; shards run as in the real test,
in processes of their own, so that a mutant never reaches another test.
"""

from unittest.mock import patch

import pytest

from tests.simulation import fuzzing
from tests.simulation.healing_mutants import HEALING_MUTANTS
from tests.simulation.history import failure_of
from tests.simulation.mutants import MUTANTS, planted
from tests.simulation.plan import draw_plan
from tests.simulation.step_judge import StepJudge

LIMIT_HISTORIES = 8_000
LATE = {
    "a doubt is repeated again and again",
    "a ruling moves what was claimed meanwhile",
    "settle does not check fence and owner",
    "told twice in one batch is claimed twice",
}
"""Found after thousands of histories: the others show as well that bugs are found."""
UNTROUBLED = [plan for plan in map(draw_plan, range(40)) if plan.untroubled]
"""Histories in which a bug that heals leaves nothing behind: only a crash would make it last."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "mutant", [pytest.param(each, marks=[pytest.mark.long] * (each in LATE)) for each in MUTANTS]
)
def test_a_planted_bug_is_found(mutant: str) -> None:
    (shard,) = fuzzing.shards(0, LIMIT_HISTORIES, 1, mutant)
    assert shard.failed_seed is not None, f"not found in {shard.histories} histories"
    assert not shard.reason.startswith("bug:"), shard.reason


@pytest.mark.parametrize("mutant", HEALING_MUTANTS)
def test_what_heals_is_seen_only_step_by_step(mutant: str) -> None:
    with planted(mutant):
        assert any(map(failure_of, UNTROUBLED))
        with patch.object(StepJudge, "look", lambda self: None):
            assert not any(map(failure_of, UNTROUBLED))
