"""The loop: send what is due, read answers at once, count what is missed."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

import orjson

from services.backbone.errors import Trouble
from services.backbone.kafka.consumer import Incoming
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.log import logger
from services.backbone.seldom import Seldom
from services.backbone.service import Life
from services.contracts.records import Alert, Malformed
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import heartbeat
from services.contracts.watches import WatchDeclaration
from services.heartbeat.beat_ids import answered_beat, beat_id
from services.heartbeat.beats import Beats, Missed
from services.heartbeat.declared import Following
from services.heartbeat.hearing import Hearing
from services.heartbeat.metrics import (
    ANSWER_AGE,
    DISAGREEMENTS,
    FIRST_ANSWER,
    IN_STEP,
    LATENCY,
    MALFORMED,
    MISSED,
    SENT,
    UNSENT,
    forget,
)
from services.heartbeat.rhythm import Rhythm
from services.heartbeat.watched import Watched

BATCH_LIMIT: Final = 500
POLL_SECONDS: Final = 0.2
SILENCE_LIMIT_SECONDS: Final = 30.0
STUCK_LIMIT_SECONDS: Final = 30.0
LOOK_EVERY_SECONDS: Final = 1.0

log = logger(__name__)


def beat_records(
    watch: WatchDeclaration, streams: Mapping[str, StreamDeclaration], beat: str
) -> list[Outgoing]:
    """Return the records of one beat, in the sequence to send them."""
    return [
        Outgoing(heartbeat(stream), str(event[streams[stream].key]), orjson.dumps(event))
        for stream, event in watch.beat_events(beat)
    ]


@dataclass
class Pulse:
    """Sends and listens on one thread; health may be asked from others."""

    run: str
    following: Following
    interval_seconds: float
    beats: Beats
    answers: Hearing
    producer: Producer
    life: Life
    _number: int = 0
    _turned: float = field(init=False)
    _looked: float = field(init=False)
    _watched: Watched = field(init=False)
    _in_step: set[tuple[str, str]] = field(default_factory=set)
    _seldom: Seldom = field(default_factory=Seldom)

    def __post_init__(self) -> None:
        self._turned = self._looked = self._now()
        self._watched = Watched(self.following.now.watches)

    def beat_until_stopped(self) -> None:
        """Work until the life's stop."""
        self._listen_first()
        rhythm = self._rhythm()
        while not self.life.stop.is_set():
            if self._has_changed():
                rhythm = self._rhythm()
            for watch in rhythm.due(self._now()):
                self._send(watch)
            self._read(min(POLL_SECONDS, rhythm.wait_seconds(self._now())))
            self._count_missed()

    def silent(self) -> str | None:
        """Name the watches that no auditor answers for."""
        now, limit = self._now(), SILENCE_LIMIT_SECONDS + self.interval_seconds
        silent = self.beats.silent(self._watched.expected(now), now, limit)
        return f"no answer in time for {', '.join(silent)}" if silent else None

    def one_is_missing(self) -> str | None:
        """Name the auditors that do not answer, though nothing is late while another does."""
        now = self._now()
        missing = self.beats.out_of_step(self._watched.expected(now), now)
        named = ", ".join(f"{auditor} ({watch})" for watch, auditor in missing)
        return f"auditors that do not answer in time: {named}" if missing else None

    def stuck(self) -> str | None:
        """Say so if the loop does not turn."""
        still = self._now() - self._turned
        return f"the loop stands still for {still:.0f} s" if still > STUCK_LIMIT_SECONDS else None

    def _listen_first(self) -> None:
        """Wait until answers can be read, else the first beats would seem missed."""
        while not self.life.stop.is_set() and not self.answers.consumer.assigned():
            self._read(POLL_SECONDS)
        self._read(POLL_SECONDS)

    def _rhythm(self) -> Rhythm:
        return Rhythm(self._watched.names(), self.interval_seconds, self._now())

    def _has_changed(self) -> bool:
        """Follow the declarations; what has ended is forgotten."""
        now = self._now()
        if now - self._looked < LOOK_EVERY_SECONDS:
            return False
        self._looked = now
        if not self.following.changed():
            return False
        for watch in self._watched.take(self.following.now.watches, now):
            for auditor in self.beats.forget(watch) | self.beats.expected:
                forget(watch, auditor)
        return True

    def _send(self, watch: str) -> None:
        self._number += 1
        beat = beat_id(self.run, self._number)
        declared = self.following.now
        records = beat_records(declared.watches[watch], declared.streams[watch], beat)
        self.beats.sent(beat, watch, self._now())
        SENT.labels(watch=watch).inc()
        answer = self.producer.send(records)
        answer.add_done_callback(lambda done: _note_unsent(watch, beat, done))

    def _read(self, wait_seconds: float) -> None:
        self._turned = self._now()
        for incoming in self.answers.batch(BATCH_LIMIT, wait_seconds):
            self._take(incoming, self._now())

    def _take(self, incoming: Incoming, now: float) -> None:
        try:
            answer = Alert.decode(incoming.value)
        except Malformed as error:
            MALFORMED.inc()
            log.error("answer_malformed", offset=incoming.offset, reason=str(error))
            return
        beat = answered_beat(answer)
        latency = self.beats.answered(
            beat or "", answer.watch, answer.auditor, now, answer.declared
        )
        if latency is not None:
            LATENCY.labels(watch=answer.watch, auditor=answer.auditor).observe(latency)
            if self.beats.answers(beat or "") == 1:
                FIRST_ANSWER.labels(watch=answer.watch).observe(latency)

    def _count_missed(self) -> None:
        now = self._now()
        expected = self._watched.expected(now)
        for missed in self.beats.missed(now):
            if missed.watch not in expected:
                continue
            MISSED.labels(watch=missed.watch, auditor=missed.auditor).inc()
            self._tell_missed(missed, now)
        for (watch, auditor), age in self.beats.ages(now).items():
            ANSWER_AGE.labels(watch=watch, auditor=auditor).set(age)
        self._show_who_is_in_step(now, expected)

    def _tell_missed(self, missed: Missed, now: float) -> None:
        """Log a missed beat; one that is dead misses each, for as long as it is dead."""
        self._seldom.tell(
            log.warning,
            "beat_missed",
            now,
            kind=f"{missed.watch} {missed.auditor}",
            between=log.debug,
            watch=missed.watch,
            auditor=missed.auditor,
            event_id=missed.beat,
        )

    def _show_who_is_in_step(self, now: float, expected: tuple[str, ...]) -> None:
        """Log each change only; which is the first sight of everybody too."""
        missing = set(self.beats.out_of_step(expected, now))
        auditors = self.beats.auditors() | self.beats.expected
        in_step = {(w, a) for w in expected for a in auditors} - missing
        for pairs, value in ((missing, 0), (in_step, 1)):
            for watch, auditor in pairs:
                IN_STEP.labels(watch=watch, auditor=auditor).set(value)
                # A counter that begins with the first one looks to Prometheus as if none had come.
                DISAGREEMENTS.labels(watch=watch, auditor=auditor)
        for watch, auditor in sorted(in_step - self._in_step):
            log.info("auditor_in_step", watch=watch, auditor=auditor)
        for watch, auditor in sorted(self._in_step & missing):
            log.error("auditor_out_of_step", watch=watch, auditor=auditor)
        self._in_step = in_step

    def _now(self) -> float:
        return self.life.clock.monotonic_seconds()


def _note_unsent(watch: str, beat: str, done: "Future[list[Trouble | None]]") -> None:
    troubles: Sequence[Trouble] = [each for each in done.result() if each is not None]
    if troubles:
        UNSENT.labels(watch=watch).inc()
        log.warning("beat_not_sent", watch=watch, event_id=beat, reason=str(troubles[0]))
