"""From findings to alert records: key, value and topic of a Kafka message, all in Spark SQL."""

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, FloatType

from auditor.queries.guards import RULE
from engine.columns import KEEP_NULLS, now_ms, short, short_enough, short_text, text
from engine.ids import digest
from engine.own_classes import java_column, own_classes
from services.contracts.fields import APPENDED_AT, HEARTBEAT_PREFIX
from services.contracts.records import Severity
from services.contracts.summaries import template_parts
from services.contracts.topics import ALERTS, HEARTBEATS
from services.contracts.watches import SeverityColumn, WatchDeclaration

EVENT_IDS_MAX = 500
SUMMARY_MAX = 4096

PLAIN = "0.#########"
"""How a summary writes a number of ordinary size that has a fraction, or could have one."""
ORDINARY_LEAST, ORDINARY_MOST = 1e-6, 999_999_999_999_999.0


def told_once(found: DataFrame, watch: WatchDeclaration) -> DataFrame:
    """Return the first finding of each alert in each task of a batch, and all about heartbeats.

    What is found again would be formatted, written, read and dropped by its id.
    """
    named = found.withColumn("_id", alert_id(watch.watch, watch.key))
    is_first = own_classes(found.sparkSession).alerts.Once.first(java_column("_id"))
    return named.where(_is_beat(watch.key) | Column(is_first)).drop("_id")


def alert_messages(
    found: DataFrame, watch: WatchDeclaration, auditor: str, declared: str
) -> DataFrame:
    """Return `key`, `value` (JSON of `services.contracts.records.Alert`) and `topic` per finding.

    Findings about heartbeats go to the topic of heartbeats, all others to alerts. A record that
    would be too long keeps its key and summary, and loses its values and event ids.
    """
    by = F.lit(auditor).alias("auditor"), F.lit(declared).alias("declared")
    prepared = found.select(
        "*",
        alert_id(watch.watch, watch.key).alias("_id"),
        F.to_json(_alert(found, watch, by, whole=True), KEEP_NULLS).alias("_whole"),
    )
    cut = F.to_json(_alert(found, watch, by, whole=False), KEEP_NULLS)
    return prepared.select(
        F.col("_id").cast("binary").alias("key"),
        short_enough(F.col("_whole"), cut).alias("value"),
        F.when(_is_beat(watch.key), HEARTBEATS).otherwise(ALERTS).alias("topic"),
    )


def alert_id(watch: str, key: Iterable[str]) -> Column:
    """Return the SQL form of `services.contracts.ids.alert_id`."""
    return digest(F.lit("alert"), F.lit(watch), *(text(column) for column in key))


def value_columns(columns: Iterable[str], watch: WatchDeclaration) -> list[str]:
    """Return the result columns that have no other part in the alert."""
    severity = watch.severity.column if isinstance(watch.severity, SeverityColumn) else None
    taken = {*watch.key, *watch.labels, APPENDED_AT, watch.event_ids, severity}
    return [column for column in columns if column not in taken]


def _alert(found: DataFrame, watch: WatchDeclaration, by: Iterable[Column], whole: bool) -> Column:
    values = [F.col(f"`{name}`") for name in value_columns(found.columns, watch) if whole]
    no_ids = F.array().cast("array<string>")
    return F.struct(
        F.lit(1).alias("version"),
        alert_id(watch.watch, watch.key).alias("alert_id"),
        F.lit(watch.watch).alias("watch"),
        _severity(watch).alias("severity"),
        F.substring(_summary(found, watch.summary), 1, SUMMARY_MAX).alias("summary"),
        F.struct(*(short(column) for column in watch.key)).alias("key"),
        F.struct(*(short(column) for column in watch.labels)).alias("labels"),
        F.struct(F.lit(watch.rule).alias(RULE), *values).alias("values"),
        (_event_ids(watch.event_ids, no_ids) if whole else no_ids).alias("event_ids"),
        _appended_at_ms().alias("appended_at_ms"),
        now_ms().alias("detected_at_ms"),
        *by,
    )


def _appended_at_ms() -> Column:
    """An aggregate with a filter may find no event: no alert is lost for a time that is empty."""
    return F.coalesce(F.unix_millis(APPENDED_AT), now_ms())


def _event_ids(column: str | None, otherwise: Column) -> Column:
    """The record takes texts of a limited length: no alert is lost for an id that has none."""
    if column is None:
        return otherwise
    given = F.slice(F.filter(F.col(column), F.isnotnull), 1, EVENT_IDS_MAX)
    return F.coalesce(F.transform(given, short_text), otherwise)


def _severity(watch: WatchDeclaration) -> Column:
    """Anything unknown is critical: an alert is never lost for its severity's spelling."""
    if not isinstance(watch.severity, SeverityColumn):
        return F.lit(watch.severity.value)
    given = F.lower(text(watch.severity.column))
    known = given.isin([severity.value for severity in Severity])
    return F.when(known, given).otherwise(Severity.CRITICAL.value)


def _summary(found: DataFrame, template: str) -> Column:
    pieces: list[Column] = []
    for before, column in template_parts(template):
        pieces += [F.lit(before)] + ([_shown(found, column)] if column else [])
    return F.concat(*pieces)


def _shown(found: DataFrame, column: str) -> Column:
    """Spark writes twelve million as 1.2E7, which nobody should have to read."""
    written = text(column)
    if not isinstance(found.schema[column].dataType, FloatType | DoubleType):
        return written
    # By way of its text, as a float of 1.1 is not the double 1.1.
    number = F.col(f"`{column}`").cast("string").cast("double")
    is_ordinary = (number == 0) | F.abs(number).between(ORDINARY_LEAST, ORDINARY_MOST)
    plain = F.call_function("format_number", number, F.lit(PLAIN))
    return F.when(is_ordinary, plain).otherwise(written)


def _is_beat(key: Iterable[str]) -> Column:
    starts = [text(column).startswith(HEARTBEAT_PREFIX) for column in key]
    return reduce(lambda one, other: one | other, starts)
