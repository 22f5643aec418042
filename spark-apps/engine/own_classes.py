"""Our own Java classes (`spark-apps/java`), as Python calls them."""

from functools import reduce
from typing import Any, Final

from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from engine.java import jvm_of
from services.backbone.errors import Refused

NEWEST: Final = "aldebaran.sql.Select"
"""The class that was added last: who has it has all others."""
MISSING: Final = (
    "our own Java classes are missing, or of another version than this program: run `make setup`, "
    "and set ALDEBARAN_AUDITOR_JARS to the "
    "folder of jars that it makes, which is .tools/jars/spark; the archivist has its own, "
    "ALDEBARAN_ARCHIVIST_JARS"
)


def own_classes(spark: SparkSession) -> Any:
    """Return the package `aldebaran`.

    Raises:
        Refused: Spark does not find our classes; the message says what to set.
    """
    require(spark, NEWEST)
    return jvm_of(spark).aldebaran


def require(spark: SparkSession, name: str) -> None:
    """Look for a class of ours, by its whole name, before Spark itself is to find it.

    Raises:
        Refused: Spark does not find it; the message says what to set.
    """
    # What py4j does not find it takes for a package.
    if not isinstance(reduce(getattr, name.split("."), jvm_of(spark)), JavaClass):
        raise Refused(MISSING)


def java_column(name: str) -> Any:
    """Return a column as our classes take it; PySpark has no way to hand it over."""
    return F.col(name)._jc  # noqa: SLF001 - as told above
