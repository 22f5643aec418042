"""What a checkpoint says about how far its query has come, against what the brokers keep."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from auditor.checkpoints.offsets import committed, lost, unread
from auditor.checkpoints.ranges import Range


def note(folder: Path, batch: int, offsets: dict[str, dict[str, int]], done: bool = True) -> None:
    for name in ("offsets", "commits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lines = ["v1", json.dumps({"batchWatermarkMs": 0}), json.dumps(offsets)]
    (folder / "offsets" / str(batch)).write_text("\n".join(lines))
    (folder / "offsets" / f".{batch}.crc").write_text("")
    if done:
        (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')


@pytest.mark.spark
def test_newest_committed_batch_counts(spark: SparkSession, tmp_path: Path) -> None:
    assert committed(spark, str(tmp_path)) == {}
    note(tmp_path, 9, {"t": {"0": 5}})
    note(tmp_path, 10, {"t": {"0": 7, "1": 2}, "t.heartbeat": {"0": 1}})
    note(tmp_path, 11, {"t": {"0": 9, "1": 9}}, done=False)
    assert committed(spark, str(tmp_path)) == {"t": {0: 7, 1: 2}, "t.heartbeat": {0: 1}}


@pytest.mark.spark
def test_half_a_note_cannot_be_read(spark: SparkSession, tmp_path: Path) -> None:
    note(tmp_path, 0, {"t": {"0": 5}})
    path = tmp_path / "offsets" / "0"
    path.write_text(path.read_text()[:-3])
    with pytest.raises(ValueError, match="Expecting"):
        committed(spark, str(tmp_path))


BEGIN = {"t": {0: 3, 1: 0}, "h": {0: 0}}
END = {"t": {0: 9, 1: 4}, "h": {0: 0}}


def test_unread_is_what_was_not_committed_and_is_kept() -> None:
    assert unread({}, BEGIN, END) == [Range("t", 0, 3, 9), Range("t", 1, 0, 4)]
    assert unread({"t": {0: 9, 1: 1}}, BEGIN, END) == [Range("t", 1, 1, 4)]
    assert unread({"t": {0: 1, 1: 4}}, BEGIN, END) == [Range("t", 0, 3, 9)]


def test_lost_is_what_was_not_committed_and_is_deleted() -> None:
    assert lost({}, BEGIN) == []
    assert lost({"t": {0: 3, 1: 1}}, BEGIN) == []
    assert lost({"t": {0: 1, 1: 1}, "gone": {0: 4}}, BEGIN) == [Range("t", 0, 1, 3)]
