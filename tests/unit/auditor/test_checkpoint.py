"""A checkpoint is continued by the query that wrote it and by no other."""

from pathlib import Path

import pytest

from auditor.checkpoint import claim, fingerprint
from services.backbone.errors import Refused
from tests.unit.auditor.batches import STREAMS, WATCHES

WATCH = WATCHES["over-purchase"]
WANTED = fingerprint(WATCH, STREAMS, 2)


def test_same_query_continues(tmp_path: Path) -> None:
    assert claim(tmp_path / "w", "w", WANTED) == tmp_path / "w" / "spark"
    assert claim(tmp_path / "w", "w", WANTED) == tmp_path / "w" / "spark"


def test_texts_may_change() -> None:
    changed = WATCH.model_copy(
        update={"summary": "other", "rule": "other", "sql": WATCH.sql.replace("\n", "\n  ")}
    )
    assert fingerprint(changed, STREAMS, 2) == WANTED


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sql": WATCH.sql + " AND requested > 5"}, "sql"),
        ({"durations": WATCH.durations | {"early": "2 hours"}}, "arguments"),
        ({"watermark": "1 hour"}, "watermark"),
    ],
)
def test_another_query_is_refused(tmp_path: Path, change: dict[str, object], named: str) -> None:
    claim(tmp_path, "w", WANTED)
    other = fingerprint(WATCH.model_copy(update=change), STREAMS, 2)
    with pytest.raises(Refused, match=rf"another query \(changed: {named}\).*move the folder"):
        claim(tmp_path, "w", other)


def test_other_shuffle_partitions_are_refused(tmp_path: Path) -> None:
    claim(tmp_path, "w", WANTED)
    with pytest.raises(Refused, match="shuffle partitions"):
        claim(tmp_path, "w", fingerprint(WATCH, STREAMS, 3))


def test_checkpoint_without_or_with_a_broken_note_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    with pytest.raises(Refused, match="is missing"):
        claim(tmp_path, "w", WANTED)
    (tmp_path / "watch.json").write_text("{")
    with pytest.raises(Refused, match="cannot be read"):
        claim(tmp_path, "w", WANTED)


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="checkpoint folder"):
        claim(tmp_path / "file" / "w", "w", WANTED)
