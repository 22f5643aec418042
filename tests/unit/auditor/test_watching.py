"""When changed files are taken, and what an auditor starts with."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from auditor.batches.stagger import Phase
from auditor.changes.change import Change, Kind, changes
from auditor.fleet import Running
from auditor.job import Scene as JobScene
from auditor.queries.current import keep
from auditor.queries.declared import Declared, Face, read_declarations
from auditor.settings import AuditorSettings
from auditor.watching import Folders, Opening, open_fleet, read_opening
from engine.brokers import MissingTopic
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused
from services.contracts.watches import SHIPPED_WATCHES, WatchDeclaration
from tests.unit.auditor.fakes import Scene as Supervision
from tests.unit.declarations import copied

LABEL = "no_such_column"


class Scene:
    """Two folders of declarations and a clock moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.streams, self.watches = copied(folder, SHIPPED_WATCHES)
        self.settings = AuditorSettings(
            auditor_streams=self.streams,
            auditor_watches=self.watches,
            auditor_checkpoints=folder / "kept",
            auditor_reload_delay_seconds=5,
        )
        self.declarations = read_declarations(self.streams, self.watches)
        self.folders = Folders(self.settings, self.clock, self.declarations)

    def job(self) -> JobScene:
        return JobScene(None, self.settings, self.clock)  # type: ignore[arg-type] # no Spark here

    def opened(self, *ran: str) -> Opening:
        return Opening(self.declarations, self.declarations.wanted(), frozenset(ran))

    def ran(self, *watches: str) -> None:
        """Note that these watches ran last."""
        for name in watches:
            keep(self.settings.checkpoints_here() / name, self.declarations.watches[name])

    def label_more(self, watch: str) -> None:
        """Declare a label for which the watch's SQL has no column."""
        path = self.watches / f"{watch}.yaml"
        before = path.read_text()
        path.write_text(before.replace("\nlabels: [", f"\nlabels: [{LABEL}, "))
        assert path.read_text() != before

    def write(self, text: str) -> None:
        (self.watches / "new.yaml").write_text(text)

    def changed(self, seconds: float) -> set[str] | None:
        self.clock.move(seconds)
        declarations = self.folders.changed()
        return None if declarations is None else set(declarations.problems)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_nothing_changes_without_a_change(scene: Scene) -> None:
    assert scene.changed(0) is None
    assert scene.changed(100) is None


def test_change_is_taken_once_and_when_it_has_settled(scene: Scene) -> None:
    scene.write("half a fi")
    assert scene.changed(1) is None
    scene.write("half a file")
    assert scene.changed(4) is None
    assert scene.changed(4) is None
    assert scene.changed(1) == {"new.yaml"}
    assert scene.changed(100) is None


def test_bad_stream_is_told_and_changes_nothing(scene: Scene) -> None:
    path = scene.streams / "trades.yaml"
    good = path.read_text()
    path.write_text("{")
    assert scene.changed(1) is None
    assert scene.changed(5) is None
    assert "trades.yaml" in str(scene.folders.problem)
    path.write_text(good)
    assert scene.changed(1) is None
    assert scene.changed(5) == set()
    assert scene.folders.problem is None


def test_sql_that_the_parser_does_not_foresee_spoils_no_other_watch(scene: Scene) -> None:
    shipped = (scene.watches / "unusual-volume.yaml").read_text()
    odd = shipped.replace("SELECT client,", "SELECT map('a', stock, 'b') AS m, client,", 1)
    scene.write(odd.replace("watch: unusual-volume", "watch: odd"))
    read = read_declarations(scene.streams, scene.watches)
    assert read.watches == scene.declarations.watches
    assert "watch odd: the SQL cannot be read" in read.problems["new.yaml"]


def test_what_nobody_foresaw_of_a_file_spoils_no_other(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meets_the_unforeseen(watch: WatchDeclaration, *_: object) -> None:
        if watch.book is not None:
            raise KeyError("x")

    monkeypatch.setattr("auditor.queries.declared.check_book", meets_the_unforeseen)
    read = read_declarations(scene.streams, scene.watches)
    assert set(read.watches) == {"unusual-volume"}
    assert read.problems == {
        "over-purchase.yaml": "over-purchase.yaml: it cannot be read: KeyError('x')"
    }


def test_empty_folder_is_told_and_changes_nothing(scene: Scene) -> None:
    for path in scene.watches.glob("*.yaml"):
        path.unlink()
    scene.changed(1)
    assert scene.changed(5) is None
    assert "no watch is declared" in str(scene.folders.problem)


def test_bad_stream_at_a_start_is_a_note_and_what_ran_last_goes_on(scene: Scene) -> None:
    scene.ran(*scene.declarations.watches)
    path = scene.streams / "trades.yaml"
    good = path.read_text()
    path.write_text("{")
    opened = read_opening(scene.settings)
    assert opened.first == scene.declarations.watches
    assert opened.ran == set(scene.declarations.watches)
    assert "trades.yaml" in " ".join(opened.declarations.problems.values())
    # Nothing is taken for removed, and the mended file is taken as any change is.
    assert all(opened.declarations.may_want(name) for name in opened.first)
    scene.folders = Folders(scene.settings, scene.clock, opened.declarations)
    path.write_text(good)
    assert scene.changed(1) is None
    assert scene.changed(5) == set()


def faces(declared: Mapping[str, Declared]) -> dict[str, Face]:
    return {name: one.face(2) for name, one in declared.items()}


def test_empty_folder_at_a_start_ends_nothing_that_ran(scene: Scene) -> None:
    scene.ran("over-purchase")
    for path in scene.watches.glob("*.yaml"):
        path.unlink()
    assert set(read_opening(scene.settings).first) == {"over-purchase"}


@pytest.mark.parametrize("paused", [True, False])
def test_what_was_removed_or_paused_while_nobody_ran_comes_back_with_no_bad_file(
    scene: Scene, paused: bool
) -> None:
    scene.ran("over-purchase", "unusual-volume")
    path = scene.watches / "unusual-volume.yaml"
    path.write_text(path.read_text() + "paused: true\n") if paused else path.unlink()
    open_fleet(scene.job(), _most_slots, read_opening(scene.settings))
    path.write_text("half a fi")
    assert read_opening(scene.settings).ran == {"over-purchase"}


def test_bad_stream_at_the_first_start_of_all_is_refused(scene: Scene) -> None:
    (scene.streams / "trades.yaml").write_text("{")
    with pytest.raises(Refused, match=r"trades\.yaml"):
        read_opening(scene.settings)


def test_a_watch_that_ran_and_cannot_start_makes_the_auditor_not_ready(scene: Scene) -> None:
    fleet = open_fleet(scene.job(), _refuse, scene.opened("over-purchase"))
    assert fleet.running == {}
    # The other one is new: the reload tries it, and what it does not take is a note.
    assert fleet.not_ready() == "watch over-purchase cannot start: too few slots"


def test_what_ran_and_can_be_read_nowhere_makes_the_auditor_not_ready(scene: Scene) -> None:
    """A stream was declared in a way that is refused now, and so was what ran of it."""
    scene.ran("over-purchase", "unusual-volume")
    (scene.settings.checkpoints_here() / "unusual-volume" / "current.json").write_text("{}")
    trades = scene.streams / "trades.yaml"
    good = trades.read_text()
    trades.write_text("{")
    fleet = open_fleet(scene.job(), _most_slots, read_opening(scene.settings))
    assert set(fleet.running) == {"over-purchase"}
    assert set(fleet.missing) == {"unusual-volume"}
    trades.write_text(good)
    assert read_opening(scene.settings).lost == frozenset()


def test_new_words_that_are_refused_leave_the_watch_with_those_before(scene: Scene) -> None:
    scene.ran("over-purchase", "unusual-volume")
    scene.label_more("over-purchase")
    opened = read_opening(scene.settings)
    before = scene.declarations.watches
    assert opened.first["over-purchase"] != before["over-purchase"]
    fleet = open_fleet(scene.job(), _only_shipped_labels, opened)
    assert {name: one.declared for name, one in fleet.running.items()} == before
    assert fleet.missing == {}
    # So the reload meets the refused words again.
    declared = faces(opened.declarations.wanted())
    assert changes(faces(before), declared, ()) == [Change(Kind.CONTINUE, "over-purchase")]


def test_a_summary_that_ran_goes_on_where_it_is_refused_now(scene: Scene) -> None:
    """An upgrade that refuses words which only mislead leaves nobody without the watch."""
    scene.ran("over-purchase", "unusual-volume")
    path = scene.watches / "over-purchase.yaml"
    path.write_text(path.read_text().replace("{client}", "{{ client }}"))
    note = scene.settings.checkpoints_here() / "over-purchase" / "current.json"
    note.write_text(note.read_text().replace("{client}", "{{ client }}"))
    opened = read_opening(scene.settings)
    assert "single braces" in opened.declarations.problems["over-purchase.yaml"]
    fleet = open_fleet(scene.job(), _few_slots, opened)
    assert set(fleet.running) == {"over-purchase", "unusual-volume"}
    assert "{{ client }}" in fleet.running["over-purchase"].declared.watch.summary
    assert fleet.missing == {}


def test_new_words_wait_for_a_topic_with_their_watch(scene: Scene) -> None:
    asked: list[Declared] = []

    def prepare(declared: Declared, _: object) -> Running:
        asked.append(declared)
        raise MissingTopic("topic trades does not exist")

    scene.ran("over-purchase")
    scene.label_more("over-purchase")
    opened = read_opening(scene.settings)
    fleet = open_fleet(scene.job(), prepare, opened)
    assert asked == [opened.first["over-purchase"]]
    assert fleet.missing == {"over-purchase": "topic trades does not exist"}


def _only_shipped_labels(declared: Declared, phase: Phase) -> Running:
    if LABEL in declared.watch.labels:
        raise Refused(f"the SQL does not return {LABEL}")
    return _few_slots(declared, phase)


def _refuse(*_: object) -> Running:
    raise Refused("too few slots")


def test_a_new_watch_is_left_to_the_reload_which_has_spark_try_it(scene: Scene) -> None:
    """Started untried, one that Real-time Mode refuses would make the auditor not ready."""
    for ran in scene.declarations.watches:
        fleet = open_fleet(scene.job(), _few_slots, scene.opened(ran))
        assert set(fleet.running) == {ran}
        assert fleet.missing == {}


def _most_slots(declared: Declared, phase: Phase) -> Running:
    return _with_slots(AuditorSettings().auditor_slots - 1, declared, phase)


def _few_slots(declared: Declared, phase: Phase) -> Running:
    return _with_slots(1, declared, phase)


def _with_slots(slots: int, declared: Declared, phase: Phase) -> Running:
    supervised = Supervision(declared.name).supervised
    return Running(declared, None, supervised, slots, phase)  # type: ignore[arg-type] # not started
