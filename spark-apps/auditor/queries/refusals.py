"""What Spark says where it refuses a query, and what to write instead."""

import re
from typing import Final

from pyspark.errors import AnalysisException, PySparkException

from auditor.trouble import Trouble, judge, outside
from engine.failures import first_line, whole_text
from engine.queries import plain
from services.backbone.errors import Refused, Transient

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
