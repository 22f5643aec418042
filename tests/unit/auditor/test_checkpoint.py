"""A checkpoint is continued by the version that wrote it; what cannot be trusted is set aside."""

import errno
import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from auditor.checkpoints.checkpoint import ASIDE, Checkpoint, Fingerprint, fingerprint
from services.backbone.errors import Refused, Transient, Trouble
from tests.unit.auditor.batches import STREAMS, WATCHES
from tests.unit.auditor.failing import BY_A_PERSON, PASSING, fail

WATCH = WATCHES["over-purchase"]
WANTED = fingerprint(WATCH, STREAMS, 2)
NOW_MS = 1_700_000_000_000


def of(home: Path, wanted: Fingerprint = WANTED) -> Checkpoint:
    return Checkpoint("w", home, wanted)


def claimed(home: Path) -> Checkpoint:
    """A checkpoint in which Spark has kept something."""
    checkpoint = of(home)
    checkpoint.claim(NOW_MS)
    checkpoint.spark.mkdir()
    (checkpoint.spark / "metadata").write_text("kept")
    return checkpoint


def aside(home: Path) -> list[Path]:
    return sorted((home / ASIDE).glob("*")) if (home / ASIDE).exists() else []


def test_same_version_continues(tmp_path: Path) -> None:
    claimed(tmp_path)
    of(tmp_path).claim(NOW_MS)
    assert (of(tmp_path).spark / "metadata").read_text() == "kept"
    assert aside(tmp_path) == []


def test_texts_may_change() -> None:
    changed = WATCH.model_copy(
        update={"summary": "other", "rule": "other", "sql": WATCH.sql.replace("\n", "\n  ")}
    )
    assert fingerprint(changed, STREAMS, 2) == WANTED


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sql": WATCH.sql + " AND requested > 5"}, ["sql", "white space"]),
        ({"durations": WATCH.durations | {"early": "2 hours"}}, ["arguments"]),
        ({"watermark": "1 hour"}, ["watermark"]),
    ],
)
def test_another_version_has_another_folder(
    tmp_path: Path, change: dict[str, object], named: list[str]
) -> None:
    other = fingerprint(WATCH.model_copy(update=change), STREAMS, 2)
    assert WANTED.differences(other) == named
    first, second = claimed(tmp_path), of(tmp_path, other)
    second.claim(NOW_MS)
    assert first.folder != second.folder
    assert (first.spark / "metadata").exists()
    assert not second.spark.exists()


def test_other_shuffle_partitions_are_another_version() -> None:
    assert WANTED.differences(fingerprint(WATCH, STREAMS, 3)) == ["shuffle partitions"]


@pytest.mark.parametrize("note", [None, "{", "[]", "", json.dumps(asdict(WANTED) | {"sql": "x"})])
def test_checkpoint_without_or_with_a_wrong_note_is_set_aside(
    tmp_path: Path, note: str | None
) -> None:
    checkpoint = claimed(tmp_path)
    (checkpoint.folder / "watch.json").unlink()
    if note is not None:
        (checkpoint.folder / "watch.json").write_text(note)
    of(tmp_path).claim(NOW_MS)
    (kept,) = aside(tmp_path)
    assert kept.name == f"20231114T221320.000000Z-{WANTED.id}"
    assert (kept / "spark" / "metadata").read_text() == "kept"
    assert not checkpoint.spark.exists()
    of(tmp_path).claim(NOW_MS)
    assert aside(tmp_path) == [kept]


def test_start_that_was_cut_short_begins_again(tmp_path: Path) -> None:
    checkpoint = of(tmp_path)
    checkpoint.folder.mkdir()
    checkpoint.claim(NOW_MS)
    assert json.loads((checkpoint.folder / "watch.json").read_text()) == asdict(WANTED)
    assert aside(tmp_path) == []


def test_checkpoint_of_the_earlier_layout_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "metadata").write_text("kept")
    (tmp_path / "watch.json").write_text(json.dumps(asdict(WANTED)))
    of(tmp_path).claim(NOW_MS)
    assert (of(tmp_path).spark / "metadata").read_text() == "kept"
    assert not (tmp_path / "spark").exists()


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="checkpoint folder"):
        of(tmp_path / "file" / "w").claim(NOW_MS)


FILES = ("watch.json", "store.json")


@pytest.mark.parametrize("number", [*PASSING, *BY_A_PERSON])
@pytest.mark.parametrize("method", ["read_text", "stat"])
@pytest.mark.parametrize("name", FILES)
def test_what_cannot_be_read_just_now_is_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, method: str, number: int
) -> None:
    checkpoint = in_store(tmp_path)
    checkpoint.claim(NOW_MS)
    before = checkpoint.location()
    with monkeypatch.context() as patched:
        fail(patched, method, name, number)
        with pytest.raises(told_as(number), match=os.strerror(number)):
            checkpoint.claim(NOW_MS + 1)
    checkpoint.claim(NOW_MS + 2)
    assert checkpoint.location() == before
    assert aside(tmp_path) == []


def told_as(number: int) -> type[Trouble]:
    return Refused if number in BY_A_PERSON else Transient


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, *PASSING, *BY_A_PERSON])
def test_a_note_that_cannot_be_written_is_told_by_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fail(monkeypatch, "open", "watch.new", number)
    with pytest.raises(told_as(number), match=os.strerror(number)):
        of(tmp_path).claim(NOW_MS)


@pytest.mark.parametrize("number", [*PASSING, *BY_A_PERSON])
def test_a_part_of_a_store_that_cannot_be_read_just_now_ends_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    in_store(tmp_path).claim(NOW_MS)
    fail(monkeypatch, "read_text", "store.json", number)
    with pytest.raises(told_as(number), match=os.strerror(number)):
        in_store(tmp_path).location()


def test_a_disk_that_takes_nothing_and_gives_nothing_back_ends_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, "open", "tried.new", errno.ENOSPC)
    fail(monkeypatch, "unlink", "tried.new", errno.EIO)
    with pytest.raises(Transient, match=os.strerror(errno.ENOSPC)):
        of(tmp_path).try_to_write()


def test_what_was_tried_to_be_written_is_removed(tmp_path: Path) -> None:
    of(tmp_path).try_to_write()
    assert list(tmp_path.iterdir()) == []


STORE = "s3a://bucket/a/w"


def in_store(home: Path) -> Checkpoint:
    return Checkpoint("w", home, WANTED, STORE)


def test_a_part_in_a_store_is_found_again(tmp_path: Path) -> None:
    checkpoint = in_store(tmp_path)
    checkpoint.claim(NOW_MS)
    assert checkpoint.location() == f"{STORE}/{WANTED.id}/{NOW_MS}"
    in_store(tmp_path).claim(NOW_MS + 1)
    assert in_store(tmp_path).location() == checkpoint.location()


def test_a_part_in_a_store_is_set_aside_by_leaving_it(tmp_path: Path) -> None:
    checkpoint = in_store(tmp_path)
    checkpoint.claim(NOW_MS)
    before = checkpoint.location()
    checkpoint.set_aside("broken", NOW_MS + 1)
    checkpoint.claim(NOW_MS + 2)
    assert checkpoint.location() == f"{STORE}/{WANTED.id}/{NOW_MS + 2}" != before
    assert len(aside(tmp_path)) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"since_ms": null}'])
def test_a_note_that_cannot_be_read_is_set_aside(tmp_path: Path, content: str) -> None:
    checkpoint = in_store(tmp_path)
    checkpoint.claim(NOW_MS)
    (checkpoint.folder / "store.json").write_text(content)
    with pytest.raises(ValueError, match=r"store\.json"):
        checkpoint.location()
    checkpoint.claim(NOW_MS + 1)
    assert checkpoint.location() == f"{STORE}/{WANTED.id}/{NOW_MS + 1}"
    assert len(aside(tmp_path)) == 1


def test_another_query_never_takes_a_part_of_a_store(tmp_path: Path) -> None:
    checkpoint = in_store(tmp_path)
    checkpoint.claim(NOW_MS)
    (checkpoint.folder / "watch.json").write_text(json.dumps(asdict(WANTED) | {"sql": "other"}))
    checkpoint.claim(NOW_MS + 1)
    assert checkpoint.location() == f"{STORE}/{WANTED.id}/{NOW_MS + 1}"


def test_without_a_claim_there_is_no_part(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"store\.json"):
        in_store(tmp_path).location()


def test_what_lies_on_the_disk_stays_when_a_store_is_named(tmp_path: Path) -> None:
    claimed(tmp_path)
    in_store(tmp_path).claim(NOW_MS)
    assert in_store(tmp_path).location().startswith(STORE)
    of(tmp_path).claim(NOW_MS)
    assert of(tmp_path).location() == str(of(tmp_path).spark)
    assert aside(tmp_path) == []
