"""Refuses at start what cannot work, and says what to do instead."""

from typing import Final

from pyspark.sql.types import ArrayType, DataType, StringType, StructType, TimestampType

from engine.queries import check_select, moments
from services.backbone.errors import Refused
from services.contracts.fields import APPENDED_AT
from services.contracts.records import SHORT_LIMIT_CHARACTERS
from services.contracts.watches import SeverityColumn, WatchDeclaration

COLUMNS_MAX: Final = 64
RULE: Final = "rule"
"""Name of the alert's value that holds the watch's rule."""
_SHOWN_CHARACTERS: Final = 40


def check_sql(watch: WatchDeclaration) -> None:
    """Refuse SQL that is not one SELECT over the watch's streams; Spark would run commands.

    Raises:
        Refused: with what was found instead.
    """
    check_select(f"watch {watch.watch}", watch.sql, watch.tables())


def check_reads(watch: WatchDeclaration) -> None:
    """Refuse a stream that is listed and not read: nothing would ever be read of it.

    Raises:
        Refused: with the stream.
    """
    read = check_select(f"watch {watch.watch}", watch.sql, watch.tables())
    if not watch.book and (unread := [name for name in watch.streams if name not in read]):
        raise Refused(
            f"watch {watch.watch}: the SQL reads no {', '.join(unread)}: "
            "take it out of `streams`, or read it"
        )


def check_moments(watch: WatchDeclaration) -> None:
    """Refuse words for a day or a moment that stay what they were when the query began.

    Raises:
        Refused: with the words.
    """
    if found := list(moments(watch.sql)):
        raise Refused(
            f"watch {watch.watch}: the SQL has {', '.join(found)}, which stays what it was when "
            "the query began: call now(), under `key` take what events say, such as "
            "to_date(min(appended_at))"
        )


def check_columns(watch: WatchDeclaration, schema: StructType) -> None:
    """Refuse a watch that names a column that its SQL does not return, or of a wrong type.

    Raises:
        Refused: with the columns that there are.
    """
    types: dict[str, DataType] = {field.name: field.dataType for field in schema.fields}
    if len(types) != len(schema.fields):
        raise Refused(f"watch {watch.watch}: the SQL returns two columns of one name; use AS")
    if unknown := _named_columns(watch) - types.keys():
        raise Refused(
            f"watch {watch.watch}: the SQL does not return {', '.join(sorted(unknown))}; "
            f"it returns: {', '.join(types)}"
        )
    if len(types) > COLUMNS_MAX or RULE in types:
        raise Refused(
            f"watch {watch.watch}: the SQL returns {len(types)} columns, at most {COLUMNS_MAX}, "
            f"none of them named {RULE}"
        )
    if long := [name for name in types if len(name) > SHORT_LIMIT_CHARACTERS]:
        raise Refused(
            f"watch {watch.watch}: name the column that begins {long[0][:_SHOWN_CHARACTERS]!r} "
            f"with AS; a name has at most {SHORT_LIMIT_CHARACTERS} characters"
        )
    if not isinstance(types[APPENDED_AT], TimestampType):
        raise Refused(
            f"watch {watch.watch}: {APPENDED_AT} must be the newest event's append time, "
            f"for example max({APPENDED_AT}) AS {APPENDED_AT}"
        )
    if watch.event_ids and types[watch.event_ids] != ArrayType(StringType()):
        _check_text_array(watch, types[watch.event_ids])


def _check_text_array(watch: WatchDeclaration, found: DataType) -> None:
    if not (isinstance(found, ArrayType) and isinstance(found.elementType, StringType)):
        raise Refused(
            f"watch {watch.watch}: {watch.event_ids} must be an array of strings, "
            f"it is {found.simpleString()}"
        )


def _named_columns(watch: WatchDeclaration) -> set[str]:
    named = {APPENDED_AT, *watch.key, *watch.labels, *watch.summary_columns()}
    if isinstance(watch.severity, SeverityColumn):
        named.add(watch.severity.column)
    return named | ({watch.event_ids} if watch.event_ids else set())
