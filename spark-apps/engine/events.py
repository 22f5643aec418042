"""From records of a topic to its stream's events, marked as valid or not, without Kafka."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from engine.own_classes import java_column, own_classes
from services.contracts.fields import APPENDED_AT, HEARTBEAT_PREFIX
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import heartbeat

VALID = "_valid"
ROWS = "rows"
MALFORMED = "malformed"


def marked_events(
    records: DataFrame, stream: StreamDeclaration, keep: Iterable[str] = ("topic",)
) -> DataFrame:
    """Return the stream's columns, `appended_at`, and `_valid`: whether its declaration is kept.

    `records` has `value` (binary), `timestamp` and all that is to be kept; a column to `keep` gets
    a leading underscore, which no declared field has. `topic` must be among them.
    """
    kept = {name: f"_{name}" for name in keep}
    flat = records.select(
        from_json(records.sparkSession, "value", stream.spark_ddl()).alias("event"),
        F.col("timestamp").alias(APPENDED_AT),
        *(F.col(name).alias(mark) for name, mark in kept.items()),
    ).select("event.*", APPENDED_AT, *kept.values())
    return flat.withColumn(VALID, F.coalesce(_keeps_declaration(stream), F.lit(False)))


def from_json(spark: SparkSession, column: str, columns: str) -> Column:
    """Return a column of JSON in UTF-8 as a struct of `columns`, declared as in SQL.

    What is missing, malformed or of another type is null, as with Spark's own `from_json`, which
    takes twice as long: it makes a reader of characters for each value.
    """
    return Column(own_classes(spark).events.Json.struct(java_column(column), columns))


def counted(marked: DataFrame, observation: str) -> DataFrame:
    """Return the same rows; an observation of this name counts `rows` and `malformed`."""
    return marked.observe(
        observation,
        F.count(F.lit(1)).alias(ROWS),
        F.count_if(~F.col(VALID)).alias(MALFORMED),
    )


def _keeps_declaration(stream: StreamDeclaration) -> Column:
    """Heartbeats come from their own topic only, else anyone could divert an alert with a text."""
    beats = F.col("_topic") == heartbeat(stream.stream)
    keyed = F.col(stream.key).startswith(HEARTBEAT_PREFIX)
    ordinary = ~reduce(or_, map(_is_reserved, stream.free_texts()), F.lit(False))
    return F.expr(stream.spark_predicate()) & F.when(beats, keyed).otherwise(ordinary)


def _is_reserved(column: str) -> Column:
    value = F.col(column)
    # Few texts have the sign, and the others need not be made lower.
    inside = value.contains(HEARTBEAT_PREFIX[0]) & F.lower(value).contains(HEARTBEAT_PREFIX)
    return F.coalesce(inside, F.lit(False))
