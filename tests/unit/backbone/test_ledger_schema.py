"""Which programs a ledger serves, held against a history of releases played one by one."""

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.schema import not_served, serves_since

NAMES = [f"{number:04}_change" for number in range(6)]


@given(oldest_served=st.lists(st.integers(0, 5), min_size=6, max_size=6), known=st.integers(0, 5))
def test_a_program_is_refused_just_by_those_later_changes_that_came_after_all_it_knows(
    oldest_served: list[int], known: int
) -> None:
    """Release n brings change n, which serves programs of release `oldest_served[n]` and later."""
    served = [min(number, oldest) for number, oldest in enumerate(oldest_served)]
    later = {NAMES[n]: NAMES[served[n]] for n in range(known + 1, 6)}
    refusing = [NAMES[n] for n in range(known + 1, 6) if known not in range(served[n], 6)]
    assert not_served(later, NAMES[known]) == refusing


def test_a_migration_tells_whom_it_serves_in_its_first_line_or_serves_only_who_ships_it() -> None:
    told = "-- Serves programs since 0018_words\nCREATE TABLE more (id text);\n"
    assert serves_since("0019_more", told) == "0018_words"
    assert serves_since("0019_more", "CREATE TABLE more (id text);\n") == "0019_more"
    assert serves_since("0019_more", f"-- A table.\n{told}") == "0019_more"
