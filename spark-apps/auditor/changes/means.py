"""What changes need of Spark and of the brokers; tests of changes pass means of their own."""

import threading
from dataclasses import dataclass
from typing import Final, Protocol

from auditor.batches.stagger import Phase
from auditor.changes.answers import Answers, Listening
from auditor.changes.candidate import Candidate
from auditor.fleet import Running
from auditor.job import Scene, prepare
from auditor.queries.declared import Declared
from auditor.queries.scrutiny import scrutinize
from auditor.queries.trial import try_beats, try_out
from services.backbone.log import logger

log = logger(__name__)

TRIALS: Final = (try_out, try_beats)
"""One on empty streams, one on a heartbeat; each has the whole `trial.DEADLINE_SECONDS`."""


class Means(Protocol):
    """By what a change is prepared, tried, compared with what runs, and seen to judge."""

    def prepare(self, declared: Declared, phase: Phase) -> Running:
        """Check a watch by itself, and return it under supervision, not yet started.

        Raises:
            Refused, Transient: as `auditor.job.prepare`.
        """

    def try_out(self, declared: Declared, broken_off: threading.Event) -> None:
        """Ask Spark whether it takes a watch; called on a thread of its own.

        Raises:
            Refused: it does not.
            Transient: it cannot be asked now, or this was broken off.
        """

    def compare(self, running: Running) -> Candidate:
        """Return what lets a changed rule catch up beside the one that it will replace."""

    def listen(self) -> Listening:
        """Return what hears the answers to heartbeats from its first question on."""


@dataclass(frozen=True, slots=True)
class RealMeans:
    """The means of an auditor that runs."""

    scene: Scene

    def prepare(self, declared: Declared, phase: Phase) -> Running:
        """Look at Spark's plan and the brokers' topics."""
        return prepare(self.scene, declared, phase)

    def try_out(self, declared: Declared, broken_off: threading.Event) -> None:
        """Let Spark plan it and run it, without brokers."""
        scene = self.scene
        for remark in scrutinize(scene.spark, declared):
            log.warning("watch_doubtful", watch=declared.name, reason=remark)
        for trial in TRIALS:
            trial(scene.spark, declared, scene.clock, broken_off)

    def compare(self, running: Running) -> Candidate:
        """Hold its commits against the brokers' offsets."""
        return Candidate(self.scene, running)

    def listen(self) -> Listening:
        """Read them from their topic."""
        return Answers(self.scene.spark, self.scene.settings.kafka_client_options())
