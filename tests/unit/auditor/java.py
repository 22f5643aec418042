"""Java's classes, as tests reach them."""

from typing import Any

from pyspark.sql import SparkSession


def jvm_of(spark: SparkSession) -> Any:
    """Return Java behind a session."""
    return spark._jvm  # noqa: SLF001 - PySpark has no other way to Java's own classes
