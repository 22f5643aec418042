"""An archive of a version before, whose log lists what counts, is taken over whole."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from archivist import earlier
from archivist.earlier import take_over
from archivist.shelving import last_batch, shelve
from engine import folders
from services.backbone.errors import Refused
from tests.unit.archivist.deaths import Death, KilledError
from tests.unit.archivist.filed import found, once, over_days, written_before
from tests.unit.archivist.histories import archived

pytestmark = pytest.mark.spark

BATCHES = 12
"""More than the ten after which Spark sums its log up."""


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with what killed batches left on a day of its own and beside what counts."""
    place = tmp_path_factory.mktemp("before")
    folder, _ = written_before(spark, place, [[n, n + 100] for n in range(BATCHES)])
    log = {path.name for path in (folder / "_spark_metadata").glob("[0-9]*")}
    assert {"9.compact", "11"} <= log
    for summed_up in range(9):
        (folder / "_spark_metadata" / str(summed_up)).unlink()
    day = next(folder.glob("date=*"))
    file = next(day.glob("part-*.parquet"))
    shutil.copy(file, day / "part-of-a-killed-batch.parquet")
    (folder / "date=2027-01-01").mkdir()
    shutil.copy(file, folder / "date=2027-01-01" / "part-alone.parquet")
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy of that archive at the same address, as its log names addresses."""
    return Path(shutil.copytree(written, tmp_path / "archive"))


ALL = once(*range(BATCHES), *range(100, 100 + BATCHES))


def test_only_what_the_log_names_is_left(spark: SparkSession, folder: Path) -> None:
    take_over(spark, str(folder))
    assert found(spark, folder) == ALL
    assert last_batch(spark, str(folder)) == BATCHES - 1
    aside = {path.name for path in (folder / "_earlier").rglob("part-*.parquet")}
    assert aside == {"part-of-a-killed-batch.parquet", "part-alone.parquet"}
    assert (folder / "_earlier" / "log" / "11").exists()


def test_it_is_continued(spark: SparkSession, folder: Path) -> None:
    take_over(spark, str(folder))
    shelve(spark, str(folder), archived(spark, over_days([11])), 11)
    shelve(spark, str(folder), archived(spark, over_days([12])), 12)
    assert found(spark, folder) == ALL + once(12)


def test_it_is_taken_over_whole_wherever_it_was_killed(
    spark: SparkSession, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, killed = 0, True
    while killed:
        steps += 1
        folder = Path(shutil.copytree(written, tmp_path / str(steps)))
        with monkeypatch.context() as patch:
            death = Death(steps)
            for module, name in (
                *((earlier, one) for one in ("write_in", "move_file", "name_batch", "move_files")),
                (folders, "move_file"),
            ):
                patch.setattr(module, name, death.around(getattr(module, name)))
            try:
                take_over(spark, str(folder))
                killed = False
            except KilledError:
                pass
        take_over(spark, str(folder))
        assert found(spark, folder) == ALL
        assert not (folder / "_spark_metadata").exists()
    assert steps > 8


@pytest.mark.parametrize("missing", ["9.compact", "10"])
def test_a_log_with_a_gap_is_refused(spark: SparkSession, folder: Path, missing: str) -> None:
    (folder / "_spark_metadata" / missing).unlink()
    with pytest.raises(Refused, match="files are missing between"):
        take_over(spark, str(folder))
    assert (folder / "date=2027-01-01" / "part-alone.parquet").exists()


def test_a_log_that_is_not_understood_moves_nothing(spark: SparkSession, folder: Path) -> None:
    last = folder / "_spark_metadata" / "11"
    last.write_text(last.read_text().replace("date=", "date%3D"))
    (folder / "_spark_metadata" / ".11.crc").unlink()
    with pytest.raises(Refused, match="names no file of a day, so nothing is moved"):
        take_over(spark, str(folder))
    assert not list((folder / "_earlier").rglob("part-*"))


def test_before_the_first_batch_nothing_counts(spark: SparkSession, folder: Path) -> None:
    for file in (folder / "_spark_metadata").glob("[0-9]*"):
        file.unlink()
    take_over(spark, str(folder))
    assert last_batch(spark, str(folder)) == -1
    assert not any(folder.glob("date=*/*.parquet"))


def test_a_new_archive_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    shelve(spark, str(tmp_path), archived(spark, over_days([1])), 0)
    take_over(spark, str(tmp_path))
    take_over(spark, str(tmp_path / "none"))
    assert found(spark, tmp_path) == once(1)
    assert not (tmp_path / "_earlier").exists()
