"""Judges why a query ended, from what Spark says; what is done about it stands elsewhere."""

import re
from enum import StrEnum
from typing import Final


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


# Tried on Spark 4.3.0, one by one: docs/recovery.md says what each fault looks like.
_FULL: Final = ("No space left on device", "Disk quota exceeded", "File too large")
_STORE: Final = ("SdkClientException", "AWSServiceIOException", "Status Code: 5")
"""An object store that is away says so within what Spark calls a state that cannot be loaded."""
OUT_OF_RANGE: Final = "OffsetOutOfRangeException"
"""Real-time Mode never looks for lost records itself: its reader ends with Kafka's own word."""
_LOST: Final = (
    "KAFKA_DATA_LOSS",
    "ata may have been lost",
    "ata may have been missed",
    OUT_OF_RANGE,
)
_CHECKPOINT: Final = (
    "[CANNOT_LOAD_STATE_STORE",
    "[STREAMING_CHECKPOINT_",
    "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY",
    "Incomplete log file",
    # Spark reads its own notes with Jackson, and events without it.
    "StreamReadFeature",
)
_REFUSED: Final = ("[STREAMING_REAL_TIME_MODE", "[STREAMING_STATEFUL_OPERATOR", "[STATE_STORE_KEY")
_SIGNS: Final = (
    (Trouble.OUTSIDE, (*_FULL, *_STORE)),
    (Trouble.LOST_RECORDS, _LOST),
    (Trouble.CHECKPOINT, _CHECKPOINT),
    (Trouble.REFUSED, _REFUSED),
)
NO_SLOTS: Final = "[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT]"
"""What Spark says while an executor that was lost is not back."""
_DATA_STATE: Final = re.compile(r"SQLSTATE: (?:22|21|P0)[0-9A-Z]{3}")
"""SQL's classes for what is wrong with a value: 22 data, 21 cardinality, P0 raised by the SQL."""


def judge(text: str) -> Trouble:
    """Return what kind of failure Spark's message tells of; what it hides comes from outside.

    A record can hide itself: when one task fails on it, Spark may report another task, which lost
    its connection to the first.
    """
    for trouble, signs in _SIGNS:
        if any(sign in text for sign in signs):
            return trouble
    return Trouble.RECORD if _DATA_STATE.search(text) else Trouble.OUTSIDE
