"""How often a watch may begin anew before a person is asked to look."""

from collections.abc import Sequence

import pytest

from auditor.recovery.rebuilds import REBUILDS_MAX, REBUILDS_WINDOW_SECONDS, is_too_often

NOW = 10 * REBUILDS_WINDOW_SECONDS
BEFORE = NOW - REBUILDS_WINDOW_SECONDS

TIMES = [
    ([], False),
    ([NOW] * (REBUILDS_MAX - 1), False),
    ([NOW] * REBUILDS_MAX, True),
    ([BEFORE + 1] * REBUILDS_MAX, True),
    ([BEFORE] * REBUILDS_MAX, False),
    ([BEFORE, *[NOW] * (REBUILDS_MAX - 1)], False),
]


@pytest.mark.parametrize(("rebuilt_at_seconds", "too_often"), TIMES)
def test_only_what_lies_within_the_window_counts(
    rebuilt_at_seconds: Sequence[float], too_often: bool
) -> None:
    assert is_too_often(rebuilt_at_seconds, NOW) is too_often
