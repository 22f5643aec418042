"""The plan of the kill matrix names everything once."""

from pathlib import Path

import pytest

from tests.acceptance.system import System
from tests.chaos.cells import Cell, plan
from tests.chaos.disks import Disks, Kind
from tests.chaos.results import Results
from tests.chaos.test_chaos import Asked

AUDITORS = ["auditor-a", "auditor-b"]


def test_each_cell_is_there_once_and_the_undisturbed_come_first() -> None:
    cells = plan(AUDITORS)
    titles = [cell.title for cell in cells]
    assert len(set(titles)) == len(titles)
    assert [bool(cell.hit) for cell in cells[:3]] == [False, False, True]


def test_every_auditor_of_the_plan_is_killed_also_a_single_one() -> None:
    for auditors in (AUDITORS, ["auditor"]):
        killed = {name for cell in plan(auditors) for name in cell.hit}
        assert set(auditors) <= killed


def picked(asked: Asked, folder: Path) -> list[Cell]:
    """Return what is played where disks cannot be made full or slow."""
    disks = Disks(System(folder / "home"), Kind.NONE, {})
    return asked.picked(plan(AUDITORS), Results(), disks)


def test_a_pattern_picks_the_cells_whose_titles_it_matches(tmp_path: Path) -> None:
    chosen = picked(Asked(only="gateway, burst", left=False), tmp_path)
    assert [cell.title for cell in chosen] == ["kill -9 gateway, burst, mid batch"]


@pytest.mark.parametrize(
    ("only", "why"), [("gatevay", "no cell of the plan matches: gatevay"), ("disk slow", "disks")]
)
def test_a_run_without_a_cell_is_no_good_run_unless_none_is_left(
    only: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match=why):
        picked(Asked(only=only, left=False), tmp_path)
    assert picked(Asked(only=only, left=True), tmp_path) == []
