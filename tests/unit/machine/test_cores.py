"""Processors are shared out in halves; threads of one core stay neighbours."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from services.machine.supervision.cores import ALL, cores_here, halves
from tests.cores import needs_choice


@given(st.lists(st.integers(0, 500), unique=True, min_size=2, max_size=130))
def test_halves_are_equal_and_leave_out_none(cores: list[int]) -> None:
    first, last = halves(cores)
    assert first | last == set(cores)
    assert len(first) == len(last)
    assert len(first & last) == len(cores) % 2
    assert set(cores[: len(first)]) == first


def test_where_there_is_nothing_to_share_out_both_have_all() -> None:
    assert halves(()) == halves((3,)) == (ALL, ALL)


@needs_choice
def test_threads_of_a_core_are_neighbours_and_cores_of_a_socket(tmp_path: Path) -> None:
    """As many servers count: first one thread of each core, then the other ones."""
    here = sorted(os.sched_getaffinity(0))
    places = {number: (-(at % 2), at // 2) for at, number in enumerate(here)}
    for number, (package, core) in places.items():
        topology = tmp_path / f"cpu{number}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{package}\n")
        (topology / "core_id").write_text(f"{core}\n")
    assert list(cores_here(tmp_path)) == sorted(here, key=lambda number: places[number])


@needs_choice
def test_where_the_system_tells_no_places_they_are_in_their_order(tmp_path: Path) -> None:
    assert set(cores_here()) == os.sched_getaffinity(0)
    assert list(cores_here(tmp_path)) == sorted(os.sched_getaffinity(0))
