"""Folders on a disk, or as the beginning of keys in an object store that Spark reaches."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from engine.failures import first_line
from engine.java import jvm_of


def is_remote(folder: str) -> bool:
    """Return whether a folder is an address in a store."""
    return "://" in folder


def names_in(spark: SparkSession, folder: str) -> list[str]:
    """Return the names in a folder; none where there is no such folder.

    Raises:
        OSError: the disk or the store does not answer, or does not let us in.
    """
    if not is_remote(folder):
        return _names_on_disk(folder)
    with _reached(spark, folder) as (path, system):
        if not system.exists(path):
            return []
        return [str(status.getPath().getName()) for status in system.listStatus(path)]


def _names_on_disk(folder: str) -> list[str]:
    """Path.glob takes a folder that cannot be read for an empty one."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_there(spark: SparkSession, place: str) -> bool:
    """Return whether there is a file or a folder.

    Raises:
        OSError: the store does not answer, or does not let us in.
    """
    with _reached(spark, place) as (path, system):
        return bool(system.exists(path))


def files_under(spark: SparkSession, folder: str) -> list[str]:
    """Return all files in a folder and in those within it, as paths from there.

    Raises:
        OSError: the disk or the store does not answer, or does not let us in.
    """
    with _reached(spark, folder) as (path, system):
        if not system.exists(path):
            return []
        root, found = system.makeQualified(path).toString(), system.listFiles(path, True)
        names = []
        while found.hasNext():
            names.append(str(found.next().getPath().toString()).removeprefix(f"{root}/"))
        return names


def move_file(spark: SparkSession, source: str, target: str) -> None:
    """Give a file another name, whole or not at all; nothing is done where the name is taken.

    Raises:
        OSError: the disk or the store does not take it, or there is no such file.
    """
    with _reached(spark, source) as (old, system), _reached(spark, target) as (new, _):
        if system.exists(new):
            return
        system.mkdirs(new.getParent())
        if not system.rename(old, new):
            raise OSError(f"{source} could not be moved to {target}")


def move_files(spark: SparkSession, source: str, target: str) -> None:
    """Move all that is in a folder to the same paths within another, and remove the first one.

    Done again after it was cut short it ends as if it had not been.

    Raises:
        OSError: as `move_file`.
    """
    for name in files_under(spark, source):
        move_file(spark, f"{source}/{name}", f"{target}/{name}")
    remove(spark, source)


def remove(spark: SparkSession, place: str) -> None:
    """Remove a file, or a folder with all that is in it; one that is not there is no error.

    Raises:
        OSError: the disk or the store does not let it go.
    """
    with _reached(spark, place) as (path, system):
        system.delete(path, True)


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
    """Write a small file, over what was there.

    Raises:
        OSError: the disk or the store does not take it.
    """
    with _reached(spark, file) as (path, system), closing(system.create(path, True)) as stream:
        stream.write(content)


@contextmanager
def _reached(spark: SparkSession, place: str) -> Iterator[tuple[Any, Any]]:
    """Give Hadoop's path and file system; their errors are raised as OSError."""
    jvm = jvm_of(spark)
    java: Any = spark.sparkContext._jsc  # noqa: SLF001 - PySpark has no way to Hadoop's settings
    try:
        path = jvm.org.apache.hadoop.fs.Path(place)
        yield path, path.getFileSystem(java.hadoopConfiguration())
    except Py4JJavaError as error:
        raise OSError(first_line(error)) from None
