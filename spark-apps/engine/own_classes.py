"""Our own Java classes (`spark-apps/java`), as Python calls them."""

from typing import Any, Final

from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from services.backbone.errors import Refused

MISSING: Final = (
    "our own Java classes are missing: run `make setup`, and set ALDEBARAN_AUDITOR_JARS to the "
    "folder of jars that it makes, which is .tools/jars/spark; the archivist has its own, "
    "ALDEBARAN_ARCHIVIST_JARS"
)


def own_classes(spark: SparkSession) -> Any:
    """Return the package `aldebaran`.

    Raises:
        Refused: Spark does not find our classes; the message says what to set.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no way to call a class of ours
    # What py4j does not find it takes for a package.
    if not isinstance(jvm.aldebaran.events.Json, JavaClass):
        raise Refused(MISSING)
    return jvm.aldebaran


def java_column(name: str) -> Any:
    """Return a column as our classes take it; PySpark has no way to hand it over."""
    return F.col(name)._jc  # noqa: SLF001 - as told above
