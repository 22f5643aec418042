"""What the kill matrix changes in watches fits the files that are shipped."""

from pathlib import Path

import pytest

from services.contracts.declarations import read_declaration
from services.contracts.watches import SHIPPED_WATCHES, WatchDeclaration
from tests.chaos.cells import CHANGED
from tests.chaos.changes import CHANGES, Change, Declared


def watches(folder: Path) -> dict[str, WatchDeclaration]:
    """Return what a folder declares, by file."""
    return {path.name: read_declaration(WatchDeclaration, path) for path in folder.glob("*.yaml")}


def test_every_change_of_the_plan_is_declared() -> None:
    assert set(CHANGES) == set(CHANGED)


@pytest.mark.parametrize("change", CHANGES.values(), ids=[str(fault) for fault in CHANGES])
def test_a_change_makes_other_good_watches_and_can_be_taken_back(
    change: Change, tmp_path: Path
) -> None:
    declared = Declared(tmp_path / "watches", tmp_path)
    shipped = watches(SHIPPED_WATCHES)
    declared.change(change, auditors=())
    file = f"{change.watch}.yaml"
    changed = watches(declared.folder)
    assert changed.get(file) != shipped[file]
    assert {**changed, file: shipped[file]} == shipped
    declared.change(change.back(), auditors=())
    assert watches(declared.folder) == shipped


def test_a_watch_that_is_removed_has_no_file(tmp_path: Path) -> None:
    declared = Declared(tmp_path / "watches", tmp_path)
    declared.change(Change("unusual-volume", "version: 1", None), auditors=())
    assert "unusual-volume.yaml" not in watches(declared.folder)
