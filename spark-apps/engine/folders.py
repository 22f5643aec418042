"""Folders on a disk, or as the beginning of keys in an object store that Spark reaches."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from engine.restarts import first_line


def is_remote(folder: str) -> bool:
    """Return whether a folder is an address in a store."""
    return "://" in folder


def names_in(spark: SparkSession, folder: str) -> list[str]:
    """Return the names in a folder; none where there is no such folder.

    Raises:
        OSError: the store does not answer, or does not let us in.
    """
    if not is_remote(folder):
        return [path.name for path in Path(folder).glob("*")]
    with _reached(spark, folder) as (path, system):
        if not system.exists(path):
            return []
        return [str(status.getPath().getName()) for status in system.listStatus(path)]


def text_of(spark: SparkSession, file: str) -> str:
    """Return what is written in a small file.

    Raises:
        OSError: it is not there, or cannot be read.
    """
    if not is_remote(file):
        return Path(file).read_text()
    with _reached(spark, file) as (path, system), closing(system.open(path)) as stream:
        return bytes(stream.readAllBytes()).decode()


def write_in(spark: SparkSession, file: str, content: bytes) -> None:
    """Write a small file of a store, over what was there.

    Raises:
        OSError: the store does not take it.
    """
    with _reached(spark, file) as (path, system), closing(system.create(path, True)) as stream:
        stream.write(content)


@contextmanager
def _reached(spark: SparkSession, place: str) -> Iterator[tuple[Any, Any]]:
    """Give Hadoop's path and file system; their errors are raised as OSError."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no way to Hadoop's file systems
    java: Any = spark.sparkContext._jsc  # noqa: SLF001 - the same
    try:
        path = jvm.org.apache.hadoop.fs.Path(place)
        yield path, path.getFileSystem(java.hadoopConfiguration())
    except Py4JJavaError as error:
        raise OSError(first_line(error)) from None
