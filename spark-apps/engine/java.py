"""Tells whether Java is there: once it has ended, nothing of Spark's can be done any more."""

from typing import Any, Final

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import SparkSession

BROKEN_OFF: Final = (Py4JError, OSError)
"""What py4j raises where Java ends within a call, or before it."""
JAVA_GONE: Final = (ConnectionRefusedError, Py4JNetworkError)
"""What py4j raises once nobody is there; of others' refused connections Java tells in words."""


def has_ended(spark: SparkSession) -> bool:
    """Ask Java itself: of a call that its end broke off py4j says no more than of others."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark does not tell
    try:
        jvm.java.lang.System.nanoTime()
    except BROKEN_OFF:
        return True
    return False
