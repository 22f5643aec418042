"""The view `book`: each event with all that is kept of its key, as `book` of a watch declares.

The state is kept by a small Java class of ours (`java/`), since Real-time Mode runs no other: one
read and one write for each event, whatever windows would have cut, and nothing to search for at a
batch's end. An event's key is its stream's, so all its events come from one partition, in the
sequence in which they were appended.
"""

from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from engine.own_classes import own_classes
from engine.queries import check_select
from engine.selects import value
from services.backbone.errors import Refused
from services.contracts.fields import APPENDED_AT
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import (
    BOOK,
    BOOK_FORGOTTEN,
    BookDeclaration,
    WatchDeclaration,
)

SOURCE = "_source"
"""Column of the partition that an event came from, as one number."""

FULL = "full"
"""Observation: events whose book was full, so that its oldest events had to go."""

_AT_MS = "_at_ms"
_NUMBERS = ("bigint", "double")
_KINDS = ("string", "boolean", *_NUMBERS)


def check_book(watch: WatchDeclaration, stream: StreamDeclaration) -> None:
    """Refuse what is no plain SQL over one event.

    Raises:
        Refused: with what was found instead.
    """
    if watch.book is None:
        return
    for name, written in watch.book.events.items():
        what = f"watch {watch.watch}: book: {name}"
        sql = f"SELECT {written} AS {name} FROM `{stream.stream}`"  # noqa: S608 - held to one SELECT below
        check_select(what, sql, [stream.stream])


def book(spark: SparkSession, watch: WatchDeclaration, events: DataFrame, key: str) -> DataFrame:
    """Return a row for each event: key, `events`, the totals, `forgotten` and `appended_at`.

    `events` has the stream's columns, `key` among them, `appended_at` and `_source`.

    Raises:
        Refused: something is kept of a type that no book has, or is no value of an event; or our
            Java classes are missing.
        ValueError: the watch declares no book.
    """
    if watch.book is None:
        raise ValueError(f"watch {watch.watch} keeps no book")
    kept = [_value(spark, watch, *each).alias(each[0]) for each in watch.book.events.items()]
    at_ms = F.unix_millis(APPENDED_AT).alias(_AT_MS)
    each = events.select(key, SOURCE, at_ms, *kept)
    _check_kinds(watch, each)
    _check_totals(watch.watch, watch.book, each)
    totals = [list(parts) for parts in watch.book.parts_of_totals()]
    java = own_classes(spark).books.Books
    kept_rows = _counted(DataFrame(java.kept(_java(each), watch.kept_ms()), spark))
    return DataFrame(java.shown(_java(kept_rows), _java(each).schema(), totals), spark)


def _value(spark: SparkSession, watch: WatchDeclaration, name: str, written: str) -> Column:
    return value(spark, f"watch {watch.watch}: book: {name}", written)


def _counted(kept: DataFrame) -> DataFrame:
    """Count before anything is filtered out: a full book is told, whatever the SQL makes of it."""
    full = F.count_if(F.col(BOOK_FORGOTTEN) > 0).alias(FULL)
    return kept.observe(BOOK, full)


def _java(frame: DataFrame) -> Any:
    return frame._jdf  # noqa: SLF001 - PySpark has no way to hand a frame to a class of ours


def _check_kinds(watch: WatchDeclaration, each: DataFrame) -> None:
    for field in each.schema.fields[3:]:
        if (found := field.dataType.simpleString()) not in _KINDS:
            raise Refused(
                f"watch {watch.watch}: book: {field.name} is {found}; a book keeps "
                f"{', '.join(_KINDS)}: use CAST({field.name} AS …), for times unix_millis(…)"
            )


def _check_totals(watch: str, declared: BookDeclaration, each: DataFrame) -> None:
    kinds = {field.name: field.dataType.simpleString() for field in each.schema.fields}
    for name, function, column in declared.parts_of_totals():
        if function != "count" and kinds[column] not in _NUMBERS:
            raise Refused(
                f"watch {watch}: book: totals: {name} is {function} of {column}, which is "
                f"{kinds[column]}; that is had of {' and '.join(_NUMBERS)}, and count of all"
            )
