"""Declared SQL on its way into Spark: judged as Spark itself has read it, and run as judged.

`engine.queries` looks at it before, without Spark, but reads it with a parser of its own: what that
one takes for a comment, Spark may run.
"""

from collections.abc import Collection, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession

from engine.java import session_of
from engine.own_classes import own_classes
from services.backbone.errors import Refused


def selected(
    spark: SparkSession,
    what: str,
    sql: str,
    tables: Collection[str],
    arguments: Mapping[str, Any],
) -> DataFrame:
    """Return the rows of one SELECT over these views; `arguments` are its `:name` markers.

    Raises:
        Refused: it does anything else; the message begins with `what`.
        PySparkException: Spark cannot read it.
    """
    read = own_classes(spark).sql.Select.query(session_of(spark), sql, dict(arguments))
    _hold(what, read, tables)
    return DataFrame(read.rows(), spark)


def value(spark: SparkSession, what: str, sql: str) -> Column:
    """Return a value that is made of one row's columns.

    Raises:
        Refused: it does anything else; the message begins with `what`.
        PySparkException: Spark cannot read it.
    """
    read = own_classes(spark).sql.Select.value(session_of(spark), sql)
    _hold(what, read, ())
    return Column(read.column())


def _hold(what: str, read: Any, tables: Collection[str]) -> None:
    if refusal := read.refusal(list(tables)):
        raise Refused(f"{what}: the SQL {refusal}")
