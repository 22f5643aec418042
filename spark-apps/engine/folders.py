"""Folders that Spark can reach: on a disk, or as the beginning of keys in an object store."""

from typing import Any

from pyspark.sql import SparkSession


def names_in(spark: SparkSession, folder: str) -> list[str]:
    """Return the names in a folder; none where there is no such folder.

    Raises:
        Py4JJavaError: with Java's own error, where the folder's place cannot be asked.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no way to Hadoop's file systems
    java: Any = spark.sparkContext._jsc  # noqa: SLF001 - the same
    path = jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(java.hadoopConfiguration())
    if not system.exists(path):
        return []
    return [str(status.getPath().getName()) for status in system.listStatus(path)]
