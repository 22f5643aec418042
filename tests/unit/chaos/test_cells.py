"""The plan of the kill matrix names everything once."""

from tests.chaos.cells import plan

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
