"""The simulator finds known bugs: each is planted, and must be found within some histories.

Goal: that no history fails must mean something. Method: mutants.py; shards run as in the real test,
in processes of their own, so that a mutant never reaches another test.
"""

import pytest

from tests.simulation import fuzzing
from tests.simulation.mutants import MUTANTS

LIMIT_HISTORIES = 4_000


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_is_found(mutant: str) -> None:
    (shard,) = fuzzing.shards(0, LIMIT_HISTORIES, 1, mutant)
    assert shard.failed_seed is not None, f"not found in {shard.histories} histories"
