"""What one reading of the folders asks of a watch that runs, and what each kind of step needs."""

from pathlib import Path

import pytest

from auditor.changes.change import Change, Kind
from auditor.changes.goal import Goal
from auditor.queries.declared import Declared, read_declarations
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.declarations import copied

WATCH, OTHER = "over-purchase", "unusual-volume"
REQUESTED = "    requested: IF(kind = 'request', shares, NULL)\n"
PURCHASED = "    purchased: IF(kind = 'purchase', shares, NULL)\n"
PAUSED = ("version: 1", "version: 1\npaused: true")


class Folder:
    """The watches that are shipped, in files that can be edited; all of them run as they were."""

    def __init__(self, folder: Path) -> None:
        self.streams, self.watches = copied(folder, SHIPPED_WATCHES)
        self.running = dict(self.goal().declarations.watches)

    def path(self, watch: str = WATCH) -> Path:
        return self.watches / f"{watch}.yaml"

    def edit(self, before: str, after: str, watch: str = WATCH) -> None:
        text = self.path(watch).read_text()
        assert before in text
        self.path(watch).write_text(text.replace(before, after))

    def goal(self) -> Goal:
        return Goal(read_declarations(self.streams, self.watches), 2)

    def asks(self) -> tuple[bool, list[str], list[Change]]:
        """Return whether the watch goes on as it is, what is gone, and all steps."""
        goal = self.goal()
        return goal.wants(self.running[WATCH]), goal.gone(self.running), goal.steps(self.running)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "goes_on", "gone", "steps"),
    [
        ("version: 1", "version: 1", True, [], []),
        ("severity: critical", "severity: info", False, [], [Change(Kind.CONTINUE, WATCH)]),
        ("limit: 24 hours", "limit: 25 hours", False, [], [Change(Kind.REPLACE, WATCH)]),
        (REQUESTED + PURCHASED, PURCHASED + REQUESTED, False, [], [Change(Kind.REPLACE, WATCH)]),
        (*PAUSED, False, [WATCH], [Change(Kind.STOP, WATCH)]),
        ("severity: critical", "severity: loud", False, [], []),
    ],
    ids=["nothing", "words", "rule", "places of columns", "paused", "bad file"],
)
def test_what_an_edited_file_asks_of_its_watch(
    folder: Folder, before: str, after: str, goes_on: bool, gone: list[str], steps: list[Change]
) -> None:
    folder.edit(before, after)
    assert folder.asks() == (goes_on, gone, steps)


def test_a_removed_file_ends_its_watch(folder: Folder) -> None:
    folder.path().unlink()
    assert folder.asks() == (False, [WATCH], [Change(Kind.STOP, WATCH)])


def test_a_removed_file_ends_nothing_while_another_is_bad_that_may_be_its(folder: Folder) -> None:
    folder.path().unlink()
    folder.edit("severity: warning", "severity: loud", OTHER)
    assert folder.asks() == (False, [], [])


def test_a_paused_watch_ends_even_while_another_file_is_bad(folder: Folder) -> None:
    folder.edit(*PAUSED)
    folder.edit("severity: warning", "severity: loud", OTHER)
    assert folder.asks() == (False, [WATCH], [Change(Kind.STOP, WATCH)])


def test_what_is_declared_and_does_not_run_starts_after_what_is_gone_has_stopped(
    folder: Folder,
) -> None:
    folder.edit(*PAUSED)
    running: dict[str, Declared] = {WATCH: folder.running[WATCH]}
    steps = [Change(Kind.STOP, WATCH), Change(Kind.START, OTHER)]
    assert folder.goal().steps(running) == steps


def test_how_many_parts_a_state_has_is_no_change_of_what_runs(folder: Folder) -> None:
    declarations = folder.goal().declarations
    for parts in (1, 2, 8):
        assert Goal(declarations, parts).steps(folder.running) == []


@pytest.mark.parametrize(
    ("kind", "needs_turn", "needs_trial"),
    [
        (Kind.STOP, False, False),
        (Kind.START, False, True),
        (Kind.RESUME, False, False),
        (Kind.CONTINUE, True, False),
        (Kind.REPLACE, True, True),
    ],
)
def test_a_step_needs_the_turn_or_a_trial_by_its_kind(
    kind: Kind, needs_turn: bool, needs_trial: bool
) -> None:
    assert (kind.needs_turn, kind.needs_trial) == (needs_turn, needs_trial)
