"""What the bench is told: a backlog is drained without batch boundaries, unless it is asked for."""

import sys

import pytest

from tests.bench.arguments import NEVER_ENDING_SECONDS, arguments


@pytest.mark.parametrize(
    ("told", "seconds"), [([], NEVER_ENDING_SECONDS), (["--drain-batch-seconds", "5"], 5.0)]
)
def test_a_drains_batches_have_a_length_of_their_own(
    told: list[str], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--batch-seconds", "20", *told])
    assert arguments().drain_batch_seconds == seconds
