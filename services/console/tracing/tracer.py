"""Reads on for every trace that is on: topics and ledger, once a moment, into lines."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.backbone.backoff import Backoff
from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.trail import Places
from services.backbone.ledger.answers.reading import LedgerReader
from services.backbone.log import logger
from services.backbone.service import Life
from services.backbone.settings import KafkaSettings
from services.console.tracing.alerts import ALERTS_LIMIT, KeyAlerts
from services.console.tracing.closing import READ_ON_SECONDS, cut_short, over
from services.console.tracing.lines import Line, lines_in, lines_of
from services.console.tracing.reading import (
    TOPICS_NOTE,
    OpenReading,
    Reading,
    TopicReading,
    is_in,
    is_read,
    over_at_ms,
)
from services.console.tracing.store import FOLLOWED_SECONDS, Trace, Traces
from services.contracts.declarations import AS_IT_RAN, BadDeclaration
from services.contracts.streams import load_streams

log = logger(__name__)

IDLE_SECONDS: Final = 1.0
"""Between two looks whether there is a trace at all: one small question to the ledger."""
BUSY_SECONDS: Final = 0.1
RECORDS_AT_ONCE: Final = 5000
READ_SECONDS: Final = 0.2
LEDGER_SECONDS: Final = 1.0
TOPICS_AGAIN_SECONDS: Final = 5.0
FAILED_AGAIN_SECONDS: Final = 5.0
CHECK_SECONDS: Final = 10.0
"""After so long without a record the brokers are asked whether they are there."""
AGAIN: Final = Backoff(first_seconds=0.5, limit_seconds=10.0)


def topic_reading(settings: KafkaSettings, streams_dir: Path) -> OpenReading:
    """Return what opens the reading of a trace, with the streams that are declared by then."""

    def opened(trace: Trace) -> Reading:
        try:
            streams = tuple(load_streams(streams_dir, AS_IT_RAN))
        except BadDeclaration as error:
            raise Transient(f"the declared streams: {error}") from None
        return TopicReading(settings, trace, streams)

    return opened


@dataclass
class _Following:
    """How far one trace has come in this process; all of it can be forgotten."""

    alerts: KeyAlerts
    reading: Reading | None = None
    ends: Places | None = None
    """Up to where topics are read, once nothing more can come that belongs to the trace."""
    topics_at: float = 0.0
    heard_at: float = 0.0
    trouble: str | None = None
    """Why topics could not be read at the last try."""
    ledger_at: float = 0.0
    written: set[str] = field(default_factory=set)

    def new(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines that this process has not written."""
        return [each for each in lines if each.line_id not in self.written]

    def close(self) -> None:
        """End reading topics."""
        if self.reading is not None:
            self.reading.close()
        self.reading = None


@dataclass
class Tracer:
    """Follows all traces; two of them, in two consoles, write each line once."""

    traces: Traces
    reader: LedgerReader
    opening: OpenReading
    life: Life
    _followings: dict[str, "_Following"] = field(default_factory=dict)
    _again_at: dict[str, float] = field(default_factory=dict)
    """When those are tried again that could not be followed, by their ids."""

    def follow_until_stopped(self) -> None:
        """Look for traces and read on, again and again; what is away is asked later."""
        self.life.health.add_note(TOPICS_NOTE, self.trouble)
        attempt, rng = 0, random.SystemRandom()
        while not self.life.stop.is_set():
            try:
                busy = self.round()
                attempt = 0
            except Trouble as error:
                log.warning("trace_waits", reason=str(error))
                attempt, busy = attempt + 1, False
            wait = AGAIN.seconds(attempt, rng) if attempt else IDLE_SECONDS
            self.life.clock.wait(self.life.stop, BUSY_SECONDS if busy else wait)
        self.close()

    def round(self) -> bool:
        """Read on for each trace; return whether there is any.

        Raises:
            Trouble: none that was tried could be followed.
        """
        followed = {each.trace_id: each for each in self._known()}
        for gone in self._followings.keys() - followed.keys():
            self._followings.pop(gone).close()
        now = self.life.clock.monotonic_seconds()
        self._again_at = {
            each: at for each, at in self._again_at.items() if each in followed and now < at
        }
        tried = [
            self._try(each) for each in followed.values() if each.trace_id not in self._again_at
        ]
        if (troubles := [each for each in tried if each]) and len(troubles) == len(tried):
            raise troubles[0]
        return bool(followed)

    def trouble(self) -> str | None:
        """Return why the topics of a trace cannot be read now; safe to ask from any thread."""
        told = (each.trouble for each in tuple(self._followings.values()))
        return next((each for each in told if each), None)

    def close(self) -> None:
        """End all reading; it goes on from the kept places."""
        for each in self._followings.values():
            each.close()
        self._followings.clear()

    def _known(self) -> list[Trace]:
        try:
            return self.traces.followed()
        except Trouble:
            self.close()  # A reading that nobody asks would fill its queue meanwhile.
            raise

    def _try(self, trace: Trace) -> Trouble | None:
        """Read on for a trace; what cannot be kept is forgotten, and read again another time."""
        try:
            if trace.trace_id not in self._followings:
                known = self.traces.alerts(trace.trace_id, ALERTS_LIMIT)
                self._followings[trace.trace_id] = _Following(KeyAlerts(trace.key, known))
            self._follow(trace, self._followings[trace.trace_id])
        except Trouble as error:
            log.warning("trace_fails", trace_id=trace.trace_id, reason=str(error))
            if trace.trace_id in self._followings:
                self._followings.pop(trace.trace_id).close()
            self._again_at[trace.trace_id] = (
                self.life.clock.monotonic_seconds() + FAILED_AGAIN_SECONDS
            )
            return error
        return None

    def _follow(self, trace: Trace, following: "_Following") -> None:
        found, places = self._from_topics(trace, following)
        following.alerts.add(found)
        lines = following.new([*found, *self._from_ledger(trace, following)])
        if not (lines or places):
            return
        if not self.traces.add(trace.trace_id, lines, places):
            log.info("trace_full", trace_id=trace.trace_id)
        following.written |= {each.line_id for each in lines}

    def _from_topics(self, trace: Trace, following: "_Following") -> tuple[list[Line], Places]:
        now_ms, now = self.life.clock.now_ms(), self.life.clock.monotonic_seconds()
        is_late = now_ms > trace.ends_at_ms + READ_ON_SECONDS * 1000
        if trace.is_closed or is_late:
            following.close()
            following.trouble = None
            return [] if trace.is_closed else [cut_short(now_ms)], {}
        if now < following.topics_at:
            return [], {}
        try:
            read = self._read_on(trace, following, now_ms)
            following.trouble = None
            return read
        except Trouble as error:
            log.warning("trace_without_topics", trace_id=trace.trace_id, reason=str(error))
            following.close()
            following.trouble = str(error)
            following.topics_at = now + TOPICS_AGAIN_SECONDS
            return [], {}

    def _read_on(
        self, trace: Trace, following: "_Following", now_ms: int
    ) -> tuple[list[Line], Places]:
        if following.reading is None:
            following.reading = self.opening(trace)
            following.heard_at = self.life.clock.monotonic_seconds()
        reading, over_at = following.reading, over_at_ms(trace)
        if now_ms >= over_at and following.ends is None:
            following.ends = reading.places_at(over_at)
            if not following.ends.keys() <= reading.places.keys():  # Topics were made meanwhile.
                following.close()
                return [], {}
        count, found = reading.read(RECORDS_AT_ONCE, READ_SECONDS)
        self._check(reading, following, count, now_ms)
        in_time = [each for each in found if is_in(trace, each)]
        lines = lines_of(in_time, trace.key, reading.streams)
        if following.ends is not None and is_read(reading.places, following.ends):
            lines.append(over(now_ms))
        return lines, reading.places if count else {}

    def _check(self, reading: Reading, following: "_Following", count: int, now_ms: int) -> None:
        now = self.life.clock.monotonic_seconds()
        if count:
            following.heard_at = now
        elif now >= following.heard_at + CHECK_SECONDS:
            # Without brokers a reading just finds nothing, so they are asked.
            reading.places_at(now_ms)
            following.heard_at = now

    def _from_ledger(self, trace: Trace, following: "_Following") -> list[Line]:
        now = self.life.clock.monotonic_seconds()
        if now < following.ledger_at:
            return []
        following.ledger_at = now + LEDGER_SECONDS
        ends = trace.ends_at_ms + int(FOLLOWED_SECONDS * 1000)
        lines: list[Line] = []
        following.alerts.search(self.reader)
        for alert_id in following.alerts.at_ms:
            detail = self.reader.alert(alert_id)
            if detail is not None:
                lines += lines_in(detail, trace.begun_at_ms, ends)
        return lines
