"""When changed files are taken, and when the thread that looks counts as stuck."""

from pathlib import Path

import pytest

from auditor.book import read_book
from auditor.settings import SHIPPED_WATCHES, AuditorSettings
from auditor.watching import Folders, Looked
from services.backbone.clock import ManualClock
from services.contracts.streams import SHIPPED_STREAMS


class Scene:
    """Two folders of declarations and a clock moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.streams, self.watches = folder / "streams", folder / "watches"
        for here, shipped in ((self.streams, SHIPPED_STREAMS), (self.watches, SHIPPED_WATCHES)):
            here.mkdir()
            for path in shipped.glob("*.yaml"):
                (here / path.name).write_text(path.read_text())
        settings = AuditorSettings(
            auditor_streams=self.streams,
            auditor_watches=self.watches,
            auditor_reload_delay_seconds=5,
        )
        self.folders = Folders(settings, self.clock, read_book(self.streams, self.watches))

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


def test_thread_that_looks_is_stuck_after_its_limit() -> None:
    clock = ManualClock()
    looked = Looked(clock)
    clock.move(300)
    assert looked.stuck() is None
    clock.move(1)
    assert looked.stuck() == "nobody looked after the watches for 301 s"
    looked.note()
    assert looked.stuck() is None
