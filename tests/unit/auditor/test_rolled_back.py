"""What an older program begins anew after a roll back goes on at the next upgrade."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from auditor.checkpoint import ASIDE, Checkpoint, fingerprint
from services.backbone.errors import Transient
from tests.unit.auditor.batches import STREAMS
from tests.unit.auditor.before import (
    EARLIER,
    NOW_MS,
    STORE,
    WANTED,
    WITHOUT_BOOK,
    without_book,
    written_before,
)
from tests.unit.auditor.failing import fail

EARLY, NOW, LATE = 1_000, 2_000, 3_000
"""When a note was written, in seconds."""


def begun(folder: Path, kept: str, at: int) -> None:
    """Let its note be of that second, and Spark have kept something."""
    (folder / "spark").mkdir(exist_ok=True)
    (folder / "spark" / "metadata").write_text(kept)
    os.utime(folder / "watch.json", (at, at))


def renamed(home: Path, store: str = "") -> Checkpoint:
    """What an earlier release wrote, under its name of today."""
    written_before(home, store=bool(store))
    checkpoint = Checkpoint("w", home, WANTED, store)
    checkpoint.take_over(NOW_MS)
    checkpoint.claim(NOW_MS)
    begun(checkpoint.folder, "old", NOW)
    return checkpoint


def rolled_back(home: Path, store: str, at: int = LATE) -> None:
    """An older program did not trust what it found, or did not find it, and began anew."""
    link = home / EARLIER.id
    (home / ASIDE).mkdir(exist_ok=True)
    link.rename(home / ASIDE / f"20261130-{link.name}")
    begun(written_before(home, store=bool(store)), "built again", at)


@pytest.mark.parametrize("store", ["", STORE])
@pytest.mark.parametrize("has_links", [True, False])
def test_what_was_built_again_after_a_roll_back_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool, store: str
) -> None:
    if not has_links:
        fail(monkeypatch, "symlink_to", EARLIER.id, errno.EPERM)
    checkpoint = renamed(tmp_path, store)
    if has_links:
        rolled_back(tmp_path, store)
    else:
        begun(written_before(tmp_path, store=bool(store)), "built again", LATE)
    for _ in range(2):
        checkpoint.take_over(NOW_MS + 1)
        checkpoint.claim(NOW_MS + 1)
        assert (checkpoint.spark / "metadata").read_text() == "built again"
    outrun = [one for one in (tmp_path / ASIDE).iterdir() if one.name.endswith(WANTED.id)]
    assert [(one / "spark" / "metadata").read_text() for one in outrun] == ["old"]
    assert not store or checkpoint.location() == f"{STORE}/{EARLIER.id}/7"


def test_what_was_built_again_goes_on_where_its_taking_over_was_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = renamed(tmp_path)
    rolled_back(tmp_path, "")
    with monkeypatch.context() as patched:
        fail(patched, "rename", EARLIER.id, errno.EIO)
        with pytest.raises(Transient):
            checkpoint.take_over(NOW_MS)
    checkpoint.take_over(NOW_MS + 1)
    assert (checkpoint.spark / "metadata").read_text() == "built again"


def of_another_query(before: Path) -> None:
    (before / "watch.json").write_text(json.dumps(without_book(EARLIER) | {"sql": "other"}))


def of_this_release(before: Path) -> None:
    (before / "watch.json").write_text(json.dumps(asdict(EARLIER)))


def without_state(before: Path) -> None:
    (before / "spark" / "metadata").unlink()
    (before / "spark").rmdir()


def as_it_is(_: Path) -> None:
    """An older program's, with state."""


@pytest.mark.parametrize(
    ("becomes", "at"),
    [
        (of_another_query, LATE),
        (of_this_release, LATE),
        (without_state, LATE),
        # A book that was paused at the upgrade, or a rule taken back, began anew beside it.
        (as_it_is, EARLY),
        (as_it_is, NOW),
    ],
)
def test_nothing_else_takes_the_place_of_what_runs(
    tmp_path: Path, becomes: Callable[[Path], None], at: int
) -> None:
    before = written_before(tmp_path)
    checkpoint = Checkpoint("w", tmp_path, WANTED)
    checkpoint.claim(NOW_MS)
    begun(checkpoint.folder, "good", NOW)
    becomes(before)
    os.utime(before / "watch.json", (at, at))
    checkpoint.take_over(NOW_MS)
    checkpoint.claim(NOW_MS)
    assert (checkpoint.spark / "metadata").read_text() == "good"
    assert before.is_dir()
    assert not (tmp_path / ASIDE).exists()


def test_what_was_started_since_is_newer_than_what_an_older_program_began(tmp_path: Path) -> None:
    """After the roll back another rule ran, and this one was taken back by today's release."""
    checkpoint = renamed(tmp_path)
    rolled_back(tmp_path, "", at=LATE)
    checkpoint.claim(NOW_MS)
    checkpoint.take_over(NOW_MS)
    assert (checkpoint.spark / "metadata").read_text() == "old"


def test_a_version_that_kept_its_name_is_never_in_its_own_way(tmp_path: Path) -> None:
    wanted = fingerprint(WITHOUT_BOOK, STREAMS, 2)
    written_before(tmp_path, wanted)
    checkpoint = Checkpoint("w", tmp_path, wanted)
    for _ in range(2):
        checkpoint.take_over(NOW_MS)
        checkpoint.claim(NOW_MS)
    assert (checkpoint.spark / "metadata").read_text() == "kept"
    assert [one.name for one in tmp_path.iterdir()] == [wanted.id]


def test_where_nothing_was_there_is_nothing_taken_over(tmp_path: Path) -> None:
    checkpoint = Checkpoint("w", tmp_path, WANTED)
    for _ in range(2):
        checkpoint.take_over(NOW_MS)
        checkpoint.claim(NOW_MS)
    assert [one.name for one in tmp_path.iterdir()] == [WANTED.id]
