"""Judges why a query ended, from what Spark says; what is done about it stands elsewhere."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.failures import first_line, whole_text
from engine.losses import OUT_OF_RANGE
from engine.losses import SIGNS as LOST


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known of how a query ended."""

    reason: str
    """A line for people; of a task's end it often lacks what that ended for."""
    text: str
    """All that Spark says, by which it is judged."""

    @classmethod
    def of(cls, error: Exception | None) -> "Failure":
        """Return what this error tells."""
        return cls(first_line(error), whole_text(error))


class Trouble(StrEnum):
    """The kinds of failure that differ in what helps."""

    REFUSED = "refused"
    """Spark will never run this query: a person has to change it."""
    RECORD = "record"
    """The SQL fails on what a record says: trying the same again fails again."""
    LOST_RECORDS = "lost-records"
    """Records were deleted before they were read: the rest can still be judged."""
    CHECKPOINT = "checkpoint"
    """What the query kept cannot be read: it has to be built again from the topic."""
    OUTSIDE = "outside"
    """Brokers, disk, memory, or anything not known: the same try may succeed later."""


# Tried on Spark 4.3.0, or read in its list of errors: docs/reports/recovery.md names each.
NO_SLOTS: Final = "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT]"
"""What Spark says while an executor that was lost is not back."""
_NOT_BEGUN: Final = (
    ("an executor is missing, Spark asks for another", re.compile(re.escape(NO_SLOTS))),
    ("another program uses the same checkpoint", re.compile("are concurrently using")),
)
_AROUND_STATE: Final = (
    (
        "the disk takes no more",
        re.compile(
            "No space left on device|Disk quota exceeded|File too large|Read-only file system"
            r"|mkdir of \S+ failed|STREAMING_CHECKPOINT_LOG_WRITE_FAILURE"
        ),
    ),
    (
        "the store does not answer",
        re.compile("SdkClientException|AWSServiceIOException|Status Code: 5"),
    ),
    ("too many files are open", re.compile("Too many open files")),
    ("memory is short", re.compile("OutOfMemoryError|_STORE_PROVIDER_OUT_OF_MEMORY")),
    ("a task that should have ended holds the state", re.compile("UNRELEASED_THREAD_ERROR")),
)
"""Spark says these within what it calls a state that cannot be loaded, though nothing is broken."""
_ELSEWHERE: Final = (
    (
        "the brokers do not do what they are asked",
        # A task that is ended since another one failed reports that it was interrupted.
        re.compile(
            r"org\.apache\.kafka\.common\.errors\.(?!Interrupt|Wakeup)"
            "|Failed to construct kafka|Failed to create new KafkaAdminClient"
        ),
    ),
    ("an executor was lost", re.compile("ExecutorLostFailure")),
    (
        "tasks do not reach each other",
        # Spark's own shuffle, and ours (Lane.java).
        re.compile(r"\[STREAMING_SHUFFLE_WRITER_CONNECTION_TIMEOUT\]|has not begun here for"),
    ),
)
_OUTSIDE: Final = (*_NOT_BEGUN, *_AROUND_STATE, *_ELSEWHERE)

_UNKNOWN: Final = ("FAILED_TO_GET_CHANGELOG_WRITER", "INVALID_CHANGE_LOG_WRITER_VERSION")
"""Parts of CANNOT_LOAD_STATE_STORE about what is written next, not about what was kept."""
_CHECKPOINT: Final = (
    "[CANNOT_LOAD_STATE_STORE",
    "_ROW_FORMAT_VALIDATION_FAILURE",
    "[STREAMING_CHECKPOINT_",
    "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY",
    "Incomplete log file",
    # Spark reads its own notes with Jackson, and events without it.
    "StreamReadFeature",
)
_REFUSED: Final = ("[STREAMING_REAL_TIME_MODE", "[STREAMING_STATEFUL_OPERATOR", "[STATE_STORE_KEY")
_SIGNS: Final = (
    (Trouble.LOST_RECORDS, LOST),
    (Trouble.OUTSIDE, _UNKNOWN),
    (Trouble.CHECKPOINT, _CHECKPOINT),
    (Trouble.REFUSED, _REFUSED),
)
_DATA_STATE: Final = re.compile(r"SQLSTATE: (?:22|21|P0)[0-9A-Z]{3}")
"""SQL's classes for what is wrong with a value: 22 data, 21 cardinality, P0 raised by the SQL."""
_CONDITION: Final = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\]")
_WRAPPING: Final = "STREAM_FAILED"
"""The condition that each query ends with, before what it ended for."""
_OF_NO_VALUE: Final = re.compile("KAFKA_|STREAMING_|STATE_STORE_|CANNOT_(?:LOAD|WRITE)_STATE_STORE")
"""Conditions that may be of those classes, or quote others, and tell nothing of a value."""
_OF_VALUES: Final = ("DUPLICATED_MAP_KEY", "INVALID_FORMAT", "COLLECTION_SIZE_LIMIT_EXCEEDED")
"""Conditions about a value that are of other classes."""
_PATTERN: Final = "java.util.regex.PatternSyntaxException"
"""What RLIKE says of a pattern that a column holds, in Java's words."""
_JAVA: Final = re.compile(r"\b(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b")
_AROUND_RECORDS: Final = re.compile(
    r"\bjava\.(?:io|net|nio)\.[\w.$]*(?:Exception|Error)|Timeout|Interrupt|RejectedExecution"
    r"|org\.apache\.kafka\.|io\.netty\.|OutOfMemory|StackOverflow|java\.lang\.InternalError"
    r"|ClassNotFound|NoClassDefFound|LinkError|LinkageError"
    r"|FetchFailed|TaskKilled|TaskResultLost|ExecutorLost|JOB_CANCELLED|stopped SparkContext"
    r"|INTERNAL_ERROR_[A-Z]|SQLSTATE: (?:08|53|57|58)|\[(?:KAFKA|STREAMING|STATE_STORE)_"
)
"""What tells of brokers, disk, memory, executors, the program or its end, if of any one thing."""


def judge(text: str) -> Trouble:
    """Return what kind of failure Spark's message tells of; what it hides comes from outside.

    A record can hide itself: when one task fails on it, Spark may report another task, which lost
    its connection to the first. What a value says stands in the message, and counts for nothing.
    """
    if _is_of_a_value(text):
        return Trouble.RECORD
    if _named(text, _AROUND_STATE):
        return Trouble.OUTSIDE
    for trouble, signs in _SIGNS:
        if any(sign in text for sign in signs):
            return trouble
    is_of_data = _DATA_STATE.search(text) is not None or _PATTERN in text
    return Trouble.RECORD if is_of_data else Trouble.OUTSIDE


def _is_of_a_value(text: str) -> bool:
    """Tell whether what Spark names first is wrong with a value, which its message then quotes."""
    first = _named_first(text)
    if not first or _OF_NO_VALUE.match(first):
        return False
    return first.partition(".")[0] in _OF_VALUES or _DATA_STATE.search(text) is not None


def _named_first(text: str) -> str:
    named = (found[1] for found in _CONDITION.finditer(text))
    return next((each for each in named if each != _WRAPPING), "")


def may_hide_a_record(text: str) -> bool:
    """Tell whether a failure that names no value may be a record's: it names nothing else either.

    Whatever names brokers, a disk, memory, an executor or an end that was asked for is none.
    """
    is_unknown = judge(text) is Trouble.OUTSIDE and outside(text) is None
    return is_unknown and _AROUND_RECORDS.search(text) is None


def kinds(text: str) -> frozenset[str]:
    """Return Spark's and Java's names of what a message tells: two alike have the same."""
    return frozenset(_JAVA.findall(text)) | {_named_first(text)}


def is_gap(text: str) -> bool:
    """Tell whether the reader met records that are gone, in what judges as LOST_RECORDS."""
    return OUT_OF_RANGE in text


def not_begun(text: str) -> str | None:
    """Return what kept a query from reading even one record, None if it may have read some."""
    return _named(text, _NOT_BEGUN)


def outside(text: str) -> str | None:
    """Return what Spark's message blames outside the watch, None where it names nothing such.

    Wrong SQL and a broken checkpoint name none of it. A record may stand behind it all the same,
    for example one that takes an executor's memory.
    """
    return _named(text, _OUTSIDE)


def _named(text: str, faults: tuple[tuple[str, re.Pattern[str]], ...]) -> str | None:
    return next((told for told, signs in faults if signs.search(text)), None)
