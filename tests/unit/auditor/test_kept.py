"""What is kept of a watch for the next start is written where it is new, and nowhere else."""

from dataclasses import replace

from auditor.changes.kept import Kept
from auditor.queries.current import read_current, refusal
from auditor.states import Record
from tests.unit.auditor.changing import WATCH, World
from tests.unit.auditor.fakes import Scene


class Keeping:
    """What is kept anew of one watch that runs, beside a world that looks no more."""

    def __init__(self, world: World) -> None:
        self.running = world.fleet.running[WATCH]
        self.kept = Kept(world.scene)
        self.home = world.settings.checkpoints_here() / WATCH

    def writes(self) -> bool:
        """Tell whether a note is written once more where one was removed behind its back."""
        note = self.home / "current.json"
        note.unlink(missing_ok=True)
        self.kept.note({WATCH: self.running})
        return note.exists()


def test_the_same_is_written_once(world: World) -> None:
    keeping = Keeping(world)
    assert keeping.writes()
    assert not keeping.writes()


def test_that_it_has_worked_is_news_and_so_are_other_words(world: World) -> None:
    keeping = Keeping(world)
    assert keeping.writes()
    keeping.running.supervised.record = Record(has_worked=True)
    assert keeping.writes()
    assert not keeping.writes()
    declared = keeping.running.declared
    words = replace(declared, watch=declared.watch.model_copy(update={"rule": "Other words."}))
    keeping.running = replace(keeping.running, declared=words)
    assert keeping.writes()
    assert read_current(keeping.home) == words


def test_nothing_is_kept_of_what_spark_has_not_taken(world: World) -> None:
    keeping = Keeping(world)
    not_started = Scene(WATCH, clock=world.clock).supervised
    keeping.running = replace(keeping.running, supervised=not_started)
    assert not keeping.writes()


def test_a_watch_that_was_forgotten_is_kept_again_once_it_runs(world: World) -> None:
    keeping = Keeping(world)
    assert keeping.writes()
    keeping.kept.forget(WATCH)
    assert read_current(keeping.home) is None
    assert keeping.writes()


def test_one_that_went_back_is_kept_with_why(world: World) -> None:
    keeping = Keeping(world)
    good = keeping.running.declared
    bad = replace(good, rules=(("Ann", "ACME", 0),))
    keeping.kept.go_back(bad, good, "line 3 is bad")
    assert read_current(keeping.home) == good
    assert refusal(keeping.home, bad) == "line 3 is bad"
