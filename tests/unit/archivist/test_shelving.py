"""A batch is in the archive once, wherever its writer was killed; strangers are not continued."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from archivist import shelving
from archivist.shelving import check_history, shelve
from engine import folders
from services.backbone.errors import Refused
from tests.unit.archivist.deaths import Death, KilledError, dying_at
from tests.unit.archivist.filed import found, kept, once, over_days

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def batches(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[DataFrame]:
    """Two batches of four events, each for two days."""
    place = tmp_path_factory.mktemp("batches")
    return [
        kept(spark, place / str(batch), over_days(range(4 * batch, 4 * batch + 4), days=2))
        for batch in range(2)
    ]


def test_a_batch_is_there_once_wherever_it_was_killed(
    spark: SparkSession,
    tmp_path: Path,
    batches: list[DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelve(spark, str(tmp_path / "0"), batches[0], 0)
    steps, killed = 0, True
    while killed:
        steps += 1
        folder = Path(shutil.copytree(tmp_path / "0", tmp_path / str(steps)))
        with monkeypatch.context() as patch:
            dying_at(steps, patch)
            try:
                shelve(spark, str(folder), batches[1], 1)
                killed = False
            except KilledError:
                assert all(count == 1 for count in found(spark, folder).values())
        shelve(spark, str(folder), batches[1], 1)
        assert found(spark, folder) == once(*range(8))
        assert [path.name.split("-")[0] for path in (folder / "_batches").glob("[0-9]*")] == ["1"]
        assert not list((folder / "_staged").rglob("*.parquet"))
    assert steps > 12


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one(
    spark: SparkSession,
    tmp_path: Path,
    batches: list[DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    def failing(*_: object) -> Any:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(folders, "move_file", Death(3).around(folders.move_file))
        with pytest.raises(KilledError):
            shelve(spark, str(tmp_path), batches[1], 1)
    with monkeypatch.context() as patch:
        for name in ("listdir", "scandir"):
            patch.setattr(os, name, failing)
        with pytest.raises(OSError, match=os.strerror(number)):
            shelve(spark, str(tmp_path), batches[1], 1)
    shelve(spark, str(tmp_path), batches[1], 1)
    assert found(spark, tmp_path) == once(*range(4, 8))


def test_what_a_killed_attempt_left_is_not_moved_but_removed(
    spark: SparkSession, tmp_path: Path, batches: list[DataFrame]
) -> None:
    batches[0].write.partitionBy("date").parquet(str(tmp_path / "_staged" / "0-killed"))
    shelve(spark, str(tmp_path), batches[0], 0)
    assert found(spark, tmp_path) == once(*range(4))
    assert not list((tmp_path / "_staged").rglob("*.parquet"))


def test_a_batch_without_events_counts_too(
    spark: SparkSession, tmp_path: Path, batches: list[DataFrame]
) -> None:
    shelve(spark, str(tmp_path), batches[0].where("false"), 3)
    assert shelving.last_batch(spark, str(tmp_path)) == 3


def names(folder: Path, *batches: str) -> None:
    folder.mkdir(parents=True)
    for name in batches:
        (folder / name).touch()


@pytest.mark.parametrize("log", ["_batches/9-a1b2", "_spark_metadata/9.compact", "_earlier/log/9"])
def test_an_archive_without_its_checkpoint_is_refused(
    spark: SparkSession, tmp_path: Path, log: str
) -> None:
    archive, checkpoint = tmp_path / "archive", tmp_path / "checkpoint"
    kind, _, name = log.rpartition("/")
    names(archive / kind, name, f".{name}.crc")
    with pytest.raises(Refused, match=r"holds batches up to 9, .* only up to -1"):
        check_history(spark, str(archive), checkpoint)
    names(checkpoint / "offsets", "8", "9", ".10.crc")
    check_history(spark, str(archive), checkpoint)


def test_a_checkpoint_without_its_archive_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    archive, checkpoint = tmp_path / "archive", tmp_path / "checkpoint"
    names(checkpoint / "offsets", "8", "9")
    names(checkpoint / "commits", "8")
    with pytest.raises(Refused, match=r"archived batches up to 8, .* only up to -1: correct the"):
        check_history(spark, str(archive), checkpoint)
    names(archive / "_batches", "8-a1b2")
    check_history(spark, str(archive), checkpoint)


def test_a_new_place_is_taken(spark: SparkSession, tmp_path: Path) -> None:
    check_history(spark, str(tmp_path / "archive"), tmp_path / "checkpoint")
