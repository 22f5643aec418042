"""When changed files are taken, and what an auditor starts with."""

from pathlib import Path

import pytest

from auditor import watching
from auditor.book import read_book
from auditor.job import Scene as JobScene
from auditor.settings import SHIPPED_WATCHES, AuditorSettings
from auditor.watching import Folders, Opening, open_fleet
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused
from tests.unit.declarations import copied


class Scene:
    """Two folders of declarations and a clock moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.streams, self.watches = copied(folder, SHIPPED_WATCHES)
        self.settings = AuditorSettings(
            auditor_streams=self.streams,
            auditor_watches=self.watches,
            auditor_reload_delay_seconds=5,
        )
        self.book = read_book(self.streams, self.watches)
        self.folders = Folders(self.settings, self.clock, self.book)

    def write(self, text: str) -> None:
        (self.watches / "new.yaml").write_text(text)

    def changed(self, seconds: float) -> set[str] | None:
        self.clock.move(seconds)
        book = self.folders.changed()
        return None if book is None else set(book.problems)


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


def test_empty_folder_is_told_and_changes_nothing(scene: Scene) -> None:
    for path in scene.watches.glob("*.yaml"):
        path.unlink()
    scene.changed(1)
    assert scene.changed(5) is None
    assert "no watch is declared" in str(scene.folders.problem)


def test_a_watch_that_ran_and_cannot_start_makes_the_auditor_not_ready(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "prepare", _refuse)
    job = JobScene(None, scene.settings, scene.clock)  # type: ignore[arg-type] # no Spark here
    opened = Opening(scene.book, scene.book.wanted(), frozenset({"over-purchase"}))
    fleet = open_fleet(job, opened)
    assert fleet.running == {}
    # The other one is new: what is not taken of it is a note, and no watch is lost.
    assert fleet.not_ready() == "watch over-purchase cannot start: too few slots"


def _refuse(*_: object) -> None:
    raise Refused("too few slots")
