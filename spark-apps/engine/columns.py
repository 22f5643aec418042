"""Columns of JSON records, as Spark expressions."""

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

SHORT_TEXT_MAX: Final = 512
"""Characters of a `ShortText` of `services.contracts.records`."""

RECORD_LIMIT_BYTES: Final = 900_000
"""Under the topic's limit: a record that the broker refuses would stop the query."""

KEEP_NULLS: Final = {"ignoreNullFields": "false"}
"""Option of `to_json`: a field without a value is written as null."""


def text(column: str) -> Column:
    """Return a column as text; null is empty."""
    return F.coalesce(F.col(f"`{column}`").cast("string"), F.lit(""))


def short(column: str) -> Column:
    """Return a column as text of at most `SHORT_TEXT_MAX` characters, under its own name."""
    return short_text(text(column)).alias(column)


def short_text(value: Column) -> Column:
    """Return the first `SHORT_TEXT_MAX` characters of a text."""
    return F.substring(value, 1, SHORT_TEXT_MAX)


def now_ms() -> Column:
    """Return the JVM's clock; the time functions of SQL stand still during a batch."""
    return F.reflect(F.lit("java.lang.System"), F.lit("currentTimeMillis")).cast("long")


def short_enough(whole: Column, otherwise: Column) -> Column:
    """Return the JSON text `whole` as bytes, or `otherwise` where a broker might refuse it."""
    fits = F.octet_length(whole) <= RECORD_LIMIT_BYTES
    return F.when(fits, whole).otherwise(otherwise).cast("binary")
