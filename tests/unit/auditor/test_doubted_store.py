"""A checkpoint in a store is set aside only if the store answers, and the failure comes twice."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checkpoints.checkpoint import ASIDE, Checkpoint, fingerprint
from auditor.recovery.rebuilds import REBUILDS_WINDOW_SECONDS
from auditor.recovery.remedies import RealRemedies
from auditor.trouble import Failure
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from tests.unit.auditor.batches import STREAMS, WATCHES

SAID = "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state."


class Broken:
    """A watch whose checkpoint Spark cannot load."""

    def __init__(self, home: Path, store: str) -> None:
        wanted = fingerprint(WATCHES["over-purchase"], STREAMS, 2)
        self.checkpoint = Checkpoint("w", home, wanted, store)
        self.clock = ManualClock()
        recipe: Any = SimpleNamespace(
            checkpoint=self.checkpoint, declared=SimpleNamespace(name="w"), spark=None
        )
        self._remedies = RealRemedies(recipe, self.clock)

    def rebuild(self) -> None:
        self.checkpoint.claim(self.clock.now_ms())
        self._remedies.rebuild(Failure(SAID, SAID))

    def set_aside(self) -> int:
        return len(list((self.checkpoint.home / ASIDE).glob("*")))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Tell whether the store takes a file."""

    def set_to(answering: bool) -> None:
        def write(_spark: object, file: str, _content: bytes) -> None:
            if not answering:
                raise OSError(f"{file}: connection refused")

        monkeypatch.setattr("auditor.recovery.rebuilds.write_in", write)

    return set_to


def test_a_store_that_is_away_keeps_everything(
    tmp_path: Path, answers: Callable[[bool], None]
) -> None:
    broken = Broken(tmp_path, "s3a://bucket/a/w")
    answers(False)
    for _ in range(3):
        with pytest.raises(Transient, match="connection refused"):
            broken.rebuild()
    assert broken.set_aside() == 0


def test_what_fails_twice_is_set_aside(tmp_path: Path, answers: Callable[[bool], None]) -> None:
    broken = Broken(tmp_path, "s3a://bucket/a/w")
    answers(True)
    with pytest.raises(Transient, match="tried once more"):
        broken.rebuild()
    broken.rebuild()
    assert broken.set_aside() == 1


def test_a_failure_of_long_ago_does_not_count(
    tmp_path: Path, answers: Callable[[bool], None]
) -> None:
    broken = Broken(tmp_path, "s3a://bucket/a/w")
    answers(True)
    for _ in range(2):
        with pytest.raises(Transient, match="tried once more"):
            broken.rebuild()
        broken.clock.move(REBUILDS_WINDOW_SECONDS + 1)
    assert broken.set_aside() == 0


def test_on_a_disk_once_is_enough(tmp_path: Path, answers: Callable[[bool], None]) -> None:
    broken = Broken(tmp_path, "")
    answers(False)
    broken.rebuild()
    assert broken.set_aside() == 1
