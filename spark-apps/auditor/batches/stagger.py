"""When batches should end, so that two auditors never stand still at once: pure decisions.

Every watch of every auditor has a phase: its batches end when the wall clock, counted from the
epoch in whole periods, is at that part of a period. Two auditors with different parts need no word
from each other. Spark adds a pause of unknown length to each batch, so each batch gets its own
length: what is left until the phase after the pause that is expected.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

HALF: Final = 0.5
"""The part of a period that lies between the two auditors of a pair."""
FIRST_LEAST_SECONDS: Final = 5.0
"""Spark refuses to start a query with shorter batches."""
PAUSES_KEPT: Final = 5
FIRST_PAUSE_SECONDS: Final = 0.5
"""What a pause is taken to be until one was measured."""
START_UP_SECONDS: Final = 1.0
"""From starting a query until it reads."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The moments at which batches should end: `offset_seconds` into every period."""

    period_seconds: float
    offset_seconds: float

    def at_or_after(self, moment_seconds: float) -> float:
        """Return the first moment of this phase that is not before the given one."""
        periods = math.ceil((moment_seconds - self.offset_seconds) / self.period_seconds)
        return self.offset_seconds + periods * self.period_seconds

    def error_seconds(self, moment_seconds: float) -> float:
        """Return how far a moment lies behind the nearest of this phase; before it is negative."""
        half = self.period_seconds / 2
        return half - (self.offset_seconds + half - moment_seconds) % self.period_seconds


def phase_of(period_seconds: float, part: float, number: int, count: int) -> Phase:
    """Return the phase of watch `number` of `count` of the auditor whose share begins at `part`.

    The watches of one auditor are spread over half a period, so that no two boundaries of a pair
    fall together and load the processors at once.
    """
    offset = (part + HALF * number / count) % 1.0 * period_seconds
    return Phase(period_seconds, offset)


def phase_between(period_seconds: float, part: float, taken: Iterable[Phase]) -> Phase:
    """Return the phase of one more watch: the middle of the largest gap between those that run.

    The partner's lie half a period further, so the gap after the last one ends where the first is.
    """
    begin, half = part * period_seconds, HALF * period_seconds
    places = sorted((phase.offset_seconds - begin) % half for phase in taken)
    if not places:
        return phase_of(period_seconds, part, 0, 1)
    gaps = zip(places, [*places[1:], places[0] + half], strict=True)
    before, after = max(gaps, key=lambda gap: gap[1] - gap[0])
    return Phase(period_seconds, (begin + (before + after) / 2 % half) % period_seconds)


def length_seconds(
    phase: Phase, begin_seconds: float, pause_seconds: float, least_seconds: float = 0.0
) -> float:
    """Return how long a batch must read that begins then and is followed by such a pause.

    It is half a period at least and 1.5 periods at most: one batch corrects any error.
    """
    over = begin_seconds + pause_seconds
    return phase.at_or_after(over + max(phase.period_seconds / 2, least_seconds)) - over


def expected_pause_seconds(phase: Phase, measured_seconds: Sequence[float]) -> float:
    """Return the pause to plan with; one odd pause does not count, nor more than half a period."""
    if not measured_seconds:
        return FIRST_PAUSE_SECONDS
    usual = median(measured_seconds[-PAUSES_KEPT:])
    return min(max(usual, 0.0), phase.period_seconds / 2)


@dataclass(frozen=True, slots=True)
class Course:
    """What is known of one run of a query: when batches ended, and the lengths that were set.

    `ended_seconds` is when the last finished batch ended, or when the query was started;
    `running_seconds` is the length of the batch that runs, `next_seconds` of the one after it.
    The first pause is not kept, since it holds the start too.
    """

    ended_seconds: float
    running_seconds: float
    next_seconds: float
    first: bool = True
    pauses_seconds: tuple[float, ...] = ()


def begun(phase: Phase, now_seconds: float) -> Course:
    """Return the course of a query that starts now: its first batch already ends at its phase."""
    start = now_seconds + START_UP_SECONDS
    pause = FIRST_PAUSE_SECONDS
    running = length_seconds(phase, start, pause, FIRST_LEAST_SECONDS)
    following = length_seconds(phase, start + running + pause, pause)
    return Course(now_seconds, running, following)


def after_batch(
    phase: Phase, course: Course, took_seconds: float, ended_seconds: float, running_seconds: float
) -> Course:
    """Return the course after a batch ended; the next one runs by now, with the length given.

    That length is what Spark was told last; it is not the planned one if nobody came to tell it.
    """
    kept = () if course.first else (*course.pauses_seconds, took_seconds - course.running_seconds)
    pauses = kept[-PAUSES_KEPT:]
    following = _next_seconds(phase, ended_seconds, running_seconds, pauses)
    return Course(ended_seconds, running_seconds, following, False, pauses)


def moved(phase: Phase, course: Course) -> Course:
    """Return the course of the same run, with its next batch planned to end at another phase."""
    ended, running, pauses = course.ended_seconds, course.running_seconds, course.pauses_seconds
    return replace(course, next_seconds=_next_seconds(phase, ended, running, pauses))


def _next_seconds(
    phase: Phase, ended_seconds: float, running_seconds: float, pauses_seconds: Sequence[float]
) -> float:
    """Return the length of the batch after the one that began at that end and runs so long."""
    expected = expected_pause_seconds(phase, pauses_seconds)
    return length_seconds(phase, ended_seconds + running_seconds + expected, expected)
