"""Refuses at start what cannot work, and says what to do instead."""

import re
from collections.abc import Mapping
from typing import Final

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.types import ArrayType, DataType, StringType, StructType, TimestampType

from auditor.trouble import Trouble, judge, outside
from engine.queries import check_select, plain
from engine.restarts import first_line, whole_text
from services.backbone.errors import Refused, Transient
from services.contracts.fields import APPENDED_AT
from services.contracts.records import SHORT_LIMIT_CHARACTERS
from services.contracts.topics import heartbeat
from services.contracts.watches import SeverityColumn, WatchDeclaration

COLUMNS_MAX: Final = 64
RULE: Final = "rule"
"""Name of the alert's value that holds the watch's rule."""
_SHOWN_CHARACTERS: Final = 40

_CONDITION: Final = re.compile(r"\[([A-Z_0-9]+(?:\.[A-Z_0-9]+)?)\]")

ADVICE: Final = {
    "UNRESOLVED_COLUMN": "correct the column's name; a stream's columns stand in its YAML file",
    "TABLE_OR_VIEW_NOT_FOUND": "name only streams that the watch lists under `streams`",
    "UNBOUND_SQL_PARAMETER": "declare the name under `parameters` or `durations`",
    "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION": "use at most DECIMAL(38, 10), or DOUBLE",
    "KAFKA_DATA_SOURCE_NOT_ENABLED": (
        "set ALDEBARAN_AUDITOR_JARS to the folder of the Kafka connector's jars, "
        "which is .tools/jars/spark after `make setup`"
    ),
    "STREAMING_OUTPUT_MODE": "use tumbling or sliding windows instead of session windows",
    "WRITE_STREAM_NOT_ALLOWED": "select from a stream; this query reads none",
    "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING": "use GROUP BY with window() instead of OVER",
    "STREAMING_REAL_TIME_MODE.IDENTICAL_SOURCES_IN_UNION_NOT_SUPPORTED": (
        "read each stream once; use conditions in one aggregate instead of a union"
    ),
    "STREAMING_REAL_TIME_MODE.OPERATOR_OR_SINK_NOT_IN_ALLOWLIST": (
        "say it with one GROUP BY; joins of streams and similar need micro-batches"
    ),
}
_GENERAL_ADVICE: Final = "docs/watches.md lists what Real-time Mode takes"
_LEGACY_ADVICE: Final = {
    "Distinct aggregations": "use size(collect_set(x)) for few values, else approx_count_distinct",
    "Sorting": "do not sort: alerts leave as they are found",
    "Limits": "leave out LIMIT",
}


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


def topics_of(watch: WatchDeclaration) -> list[str]:
    """Return every topic that the watch subscribes to."""
    return [topic for stream in watch.streams for topic in (stream, heartbeat(stream))]


def slots_needed(watch: WatchDeclaration, partitions: Mapping[str, int], shuffled: int) -> int:
    """Return how many tasks of the watch run at once; `shuffled` counts those after shuffles."""
    return sum(partitions[topic] for topic in topics_of(watch)) + shuffled


def with_another(running: Mapping[str, int], watch: str, slots: int) -> dict[str, int]:
    """Return the slots by watch with one more; a changed rule comes beside the old one."""
    shown = f"{watch} beside itself" if watch in running else watch
    return {**running, shown: slots}


def check_slots(needed: Mapping[str, int], slots: int) -> None:
    """Refuse to start with too few slots: Real-time Mode would wait for ever, silently.

    Raises:
        Refused: with the number that is needed, by watch.
    """
    total = sum(needed.values())
    if slots >= total:
        return
    by_watch = ", ".join(f"{watch} {count}" for watch, count in needed.items())
    raise Refused(
        f"{total} slots are needed at once (input partitions and shuffle partitions: {by_watch}), "
        f"there are {slots}: set ALDEBARAN_AUDITOR_SLOTS={total} or more, or run fewer watches"
    )


def judgement(watch: str, error: Exception) -> Refused | Transient:
    """Return what a failure of a trial or rehearsal says: of the watch, or of what all need."""
    text = whole_text(error)
    # Spark quotes the SQL that it analyses, and values that it fails on: they may name any trouble.
    is_of_sql = isinstance(error, AnalysisException) or judge(text) is Trouble.RECORD
    if is_of_sql or (cause := outside(text)) is None:
        return refusal(watch, error)
    return Transient(f"watch {watch}: it could not be tried, {cause}: {first_line(error)}")


def refusal(watch: str, error: Exception) -> Refused:
    """Translate Spark's refusal of a query."""
    return Refused(f"watch {watch}: {plain(error)}; what to do: {_advice(error)}")


def _advice(error: Exception) -> str:
    text = str(error)
    found = _CONDITION.search(text)
    named = error.getCondition() if isinstance(error, PySparkException) else None
    condition = named or (found[1] if found else "")
    for known in (condition, condition.partition(".")[0]):
        if known in ADVICE:
            return ADVICE[known]
    legacy = [advice for start, advice in _LEGACY_ADVICE.items() if text.startswith(start)]
    return legacy[0] if legacy else _GENERAL_ADVICE
