"""Which of the recent events are read: a span of time, cut to as many as are allowed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from auditor.checkpoints.offsets import Offsets, behind
from engine.brokers import OffsetsSince

EXACT_MS: Final = 1000
"""A cut span may be shorter by so much than it need be."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The records to read: from `begins` to before `ends`; `wanted` counts the uncut span's."""

    since_ms: int
    until_ms: int
    begins: Offsets
    ends: Offsets
    wanted: int

    @property
    def records(self) -> int:
        """How many records lie in it."""
        return behind(self.begins, self.ends)


def reading(offsets_since: OffsetsSince, since_ms: int, until_ms: int, limit: int) -> Reading:
    """Return the span, begun later where more than `limit` records lie in it.

    It is cut by time, not by partition, so that no partition is read further back than another.

    Raises:
        Transient: the brokers do not answer.
    """
    ends = offsets_since(until_ms)
    begins = offsets_since(since_ms)
    wanted = behind(begins, ends)
    if wanted <= limit:
        return Reading(since_ms, until_ms, begins, ends, wanted)
    too_many_ms, few_ms = since_ms, until_ms
    begins = ends
    while few_ms - too_many_ms > EXACT_MS:
        middle_ms = (too_many_ms + few_ms) // 2
        found = offsets_since(middle_ms)
        if behind(found, ends) > limit:
            too_many_ms = middle_ms
        else:
            few_ms, begins = middle_ms, found
    return Reading(few_ms, until_ms, begins, ends, wanted)


def of_topics(reading: Reading, topics: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """Return where these topics begin, as Spark's source takes it."""
    return {
        topic: {str(number): offset for number, offset in reading.begins[topic].items()}
        for topic in topics
    }
