"""Java behind a session: its classes, and whether it is still there."""

from collections.abc import Iterator
from typing import Any, Final

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import SparkSession

BROKEN_OFF: Final = (Py4JError, OSError)
"""What py4j raises where Java ends within a call, or before it."""
JAVA_GONE: Final = (ConnectionRefusedError, Py4JNetworkError)
"""What py4j raises once nobody is there; of others' refused connections Java tells in words."""


def jvm_of(spark: SparkSession) -> Any:
    """Return Java, whose classes are its attributes: `jvm_of(spark).java.lang.System`."""
    return spark._jvm  # noqa: SLF001 - PySpark has no public way to what it does not wrap


def session_of(spark: SparkSession) -> Any:
    """Return Java's own session, for what PySpark does not wrap."""
    return spark._jsparkSession  # noqa: SLF001 - as above


def is_of(spark: SparkSession, thing: Any, kind: str) -> bool:
    """Return whether a thing of Java's is of this class or trait, by its whole name."""
    return bool(is_instance_of(spark.sparkContext._gateway, thing, kind))  # noqa: SLF001 - as above


def each_of(listed: Any) -> Iterator[Any]:
    """Yield what a list or sequence of Scala's holds."""
    for number in range(listed.size()):
        yield listed.apply(number)


def has_ended(spark: SparkSession) -> bool:
    """Return whether nothing of Spark's can be done any more.

    Asks Java itself: of a call that its end broke off py4j says no more than of others.
    """
    try:
        jvm_of(spark).java.lang.System.nanoTime()
    except BROKEN_OFF:
        return True
    return False
