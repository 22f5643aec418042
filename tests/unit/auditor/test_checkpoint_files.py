"""Checkpoint files have the rights that Hadoop asks for, and no program is started to set them."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from engine.java import jvm_of

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the system has no /proc"
)

PACKAGE = "org.apache.spark.sql.execution.streaming.checkpointing"
OF_SPARK = f"{PACKAGE}.FileSystemBasedCheckpointFileManager"
FAULTS_OF_CHILDREN = 8
"""Where /proc/PID/stat, after the name, counts page faults of children that have ended."""


def settings_of(spark: SparkSession) -> Any:
    """Return Hadoop's settings as Spark hands them to a manager of files."""
    return spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 - PySpark has no other way


def place(spark: SparkSession, path: Path) -> Any:
    return jvm_of(spark).org.apache.hadoop.fs.Path(path.as_uri())


def files_in(spark: SparkSession, folder: Path) -> Any:
    """Return what Spark uses for files in a folder."""
    manager = getattr(jvm_of(spark), f"{PACKAGE}.CheckpointFileManager")
    return manager.create(place(spark, folder), settings_of(spark))


def write(
    spark: SparkSession, files: Any, path: Path, content: bytes = b"done", *, replaces: bool = False
) -> None:
    """Write a file as Spark writes what belongs to a batch."""
    stream = files.createAtomic(place(spark, path), replaces)
    stream.write(content)
    stream.close()


def children_faults(spark: SparkSession) -> int:
    """Return page faults of programs that this Java has started and that have ended."""
    pid = jvm_of(spark).java.lang.ProcessHandle.current().pid()
    _, _, fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    return int(fields.split()[FAULTS_OF_CHILDREN])


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_batch_ends_without_a_program(spark: SparkSession, tmp_path: Path) -> None:
    files = files_in(spark, tmp_path)
    before = children_faults(spark)
    files.mkdirs(place(spark, tmp_path / "commits"))
    write(spark, files, tmp_path / "commits" / "0")
    assert children_faults(spark) == before
    assert (tmp_path / "commits" / "0").read_bytes() == b"done"
    assert (tmp_path / "commits" / ".0.crc").is_file()
    assert rights(tmp_path / "commits") == 0o755
    assert rights(tmp_path / "commits" / "0") == 0o644


def test_with_what_spark_has_it_does_not(spark: SparkSession, tmp_path: Path) -> None:
    """So the test above would see a program; once this fails, our own class is not needed."""
    files = getattr(jvm_of(spark), OF_SPARK)(place(spark, tmp_path), settings_of(spark))
    before = children_faults(spark)
    write(spark, files, tmp_path / "0")
    assert children_faults(spark) > before


def test_a_file_of_a_batch_done_again_replaces_the_one_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    for content in (b"first", b"again"):
        write(spark, files_in(spark, tmp_path), tmp_path / "1.zip", content, replaces=True)
    assert (tmp_path / "1.zip").read_bytes() == b"again"


def test_a_store_is_refused(spark: SparkSession) -> None:
    ours = jvm_of(spark).aldebaran.state.CheckpointFiles
    folder = jvm_of(spark).org.apache.hadoop.fs.Path("s3a://bucket/checkpoints")
    with pytest.raises(IllegalArgumentException, match="checkpoints in a store: leave"):
        ours(folder, settings_of(spark))
