from hypothesis import given
from hypothesis import strategies as st

from services.machine.supervision.restarts import RestartPolicy

POLICY = RestartPolicy(
    crashes_in_a_row_limit=4, stable_seconds=60, first_pause_seconds=1, longest_pause_seconds=3
)


def pauses(*counts: int, has_served: bool) -> list[float | None]:
    return [POLICY.pause_seconds(count, has_served) for count in counts]


def test_pauses_double_up_to_a_limit_and_then_it_gives_up() -> None:
    assert pauses(1, 2, 3, 4, has_served=False) == [1, 2, 3, None]


def test_what_has_served_is_tried_for_ever() -> None:
    assert pauses(1, 2, 3, 4, 100_000, has_served=True) == [1, 2, 3, 3, 3]


def test_a_long_run_starts_the_count_anew() -> None:
    assert POLICY.crashes_in_a_row(before=3, ran_seconds=60) == 1
    assert POLICY.crashes_in_a_row(before=3, ran_seconds=59.9) == 4


def test_what_has_served_may_take_longer_with_each_start_in_a_row() -> None:
    assert [POLICY.patience_seconds(10, count, True) for count in (0, 1, 2, 3, 99)] == [
        *(10, 20, 40, 80, 80)
    ]
    assert POLICY.patience_seconds(10, 3, has_served=False) == 10


@given(st.lists(st.floats(0, 59.9), min_size=4))
def test_short_runs_always_end_in_giving_up(runs: list[float]) -> None:
    count = 0
    for ran_seconds in runs:
        count = POLICY.crashes_in_a_row(count, ran_seconds)
    assert POLICY.pause_seconds(count, has_served=False) is None
