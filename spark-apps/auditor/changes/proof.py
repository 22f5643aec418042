"""Tells when a query that was started in another's place has shown that it judges."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from auditor.changes.answers import Listening, who_answers
from auditor.fleet import Running
from auditor.job import Scene
from services.backbone.log import logger

QUIET_SECONDS_MAX: Final = 30.0
"""So long after its first batch began a query is waited for while nobody answers to heartbeats.

Without them nothing shows that it judges before a batch ends; on a crowded node the first event was
judged 25 s after its batch had begun.
"""
BEHIND_SECONDS_MAX: Final = 180.0
"""So long it is waited for while another auditor answers and it does not, which then surely judges
nothing yet; as long as an auditor that is told to stop waits for its partner."""

log = logger(__name__)


class Verdict(StrEnum):
    """Whether the next query may be stopped."""

    WAIT = "wait"
    """Not yet: this one may not judge."""
    JUDGES = "judges"
    """It has answered to a heartbeat that came after it took over; where nobody answers to any, a
    batch of it has ended."""
    QUIET = "quiet"
    """It has read for as long as it is waited for, though nothing has shown that it judges."""
    HOPELESS = "hopeless"
    """It has stopped, or fails again and again: others must not wait for it."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a query that took over."""

    is_hopeless: bool
    """Whether it has stopped, or fails again and again."""
    reading_seconds: float | None
    """Time since its first batch began, however often it was started since then; None before that,
    and while no batch of it runs."""
    has_ended_batch: bool
    """Whether a batch of the query that runs has ended."""
    answers: bool
    """Whether it has answered to a heartbeat that came after it took over."""
    others_answer: bool
    """Whether another auditor has, so that there are heartbeats."""


def decide(known: Known) -> Verdict:
    """Return what follows from what is known; a query that does not read proves nothing."""
    if known.is_hopeless:
        return Verdict.HOPELESS
    if known.reading_seconds is None:
        return Verdict.WAIT
    # While another answers, one that has ended a batch and does not answer still works off what
    # came before.
    if known.answers or (known.has_ended_batch and not known.others_answer):
        return Verdict.JUDGES
    limit_seconds = BEHIND_SECONDS_MAX if known.others_answer else QUIET_SECONDS_MAX
    return Verdict.QUIET if known.reading_seconds >= limit_seconds else Verdict.WAIT


class Proof:
    """Watches one query from the moment at which the one before it has been stopped."""

    def __init__(self, scene: Scene, running: Running, answers: Listening) -> None:
        self._clock = scene.clock
        self._auditor = scene.settings.auditor_id
        self._watch = running.declared.watch
        self._supervised = running.supervised
        self._since_ms = scene.clock.now_ms()
        self._reading_since_seconds: float | None = None
        self._answers = answers
        self._answering: frozenset[str] = frozenset()

    @property
    def watch(self) -> str:
        """The watch whose query it is."""
        return self._watch.watch

    def verdict(self) -> Verdict:
        """Look once, for a moment; what is not WAIT is the last word, and told to the log."""
        found = decide(self._known())
        if found is not Verdict.WAIT:
            self.end()
            seconds = round((self._clock.now_ms() - self._since_ms) / 1000, 1)
            watch = self.watch
            log.info("change_settled", watch=watch, verdict=found.value, after_seconds=seconds)
        return found

    def end(self) -> None:
        """Look no more."""
        self._answers.close()

    def _known(self) -> Known:
        supervised = self._supervised
        reading_seconds = self._reading_seconds()
        if reading_seconds is not None:
            self._listen()
        return Known(
            supervised.stopped is not None or supervised.record.failing is not None,
            reading_seconds,
            supervised.batches.has_ended_one,
            self._auditor in self._answering,
            bool(self._answering - {self._auditor}),
        )

    def _reading_seconds(self) -> float | None:
        """Count on over failures, else one that fails now and then would be waited for for ever."""
        if self._supervised.not_ready() is not None:
            return None
        now = self._clock.monotonic_seconds()
        if self._reading_since_seconds is None:
            self._reading_since_seconds = now
        return now - self._reading_since_seconds

    def _listen(self) -> None:
        if self._watch.heartbeat is not None:
            fresh = who_answers(self._answers.fresh(), self._watch.watch, self._since_ms)
            self._answering = self._answering.union(fresh)
