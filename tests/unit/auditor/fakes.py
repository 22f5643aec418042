"""Queries and remedies that do as they are told, to try supervision without Spark."""

import random
import threading
from typing import Any, ClassVar

from auditor.batches.boundaries import Boundaries
from auditor.batches.following import Batches
from auditor.batches.progress import Pulse
from auditor.batches.stagger import Phase
from auditor.cost import Cost, Job
from auditor.supervision import Supervised, Watched
from auditor.trouble import Failure
from engine.restarts import Failures, RestartLimit
from services.backbone.backoff import Backoff
from services.backbone.clock import ManualClock
from services.backbone.errors import Transient


def failures(most: int) -> Failures:
    """Decides with short waits, and gives up after so many failures."""
    limit = RestartLimit(most, 600, Backoff(first_seconds=1, limit_seconds=8))
    return Failures(limit, random.Random(1))


class FakeQuery:
    """A query that runs until it is told what to fail with."""

    runId = "run"
    status: ClassVar = {"isTriggerActive": True, "isDataAvailable": True}

    def __init__(self) -> None:
        self.isActive = True
        self.error: Exception | None = None
        self.reports: list[Any] = []
        self.unstoppable: Exception | None = None
        self.written = 0
        """How many reports were asked for."""

    @property
    def recentProgress(self) -> list[Any]:
        self.written += len(self.reports)
        return self.reports

    @property
    def lastProgress(self) -> Any:
        self.written += len(self.reports[-1:])
        return self.reports[-1] if self.reports else None

    def exception(self) -> Exception | None:
        return self.error

    def stop(self) -> None:
        if self.unstoppable:
            raise self.unstoppable
        self.isActive = False

    def fail(self, text: str) -> None:
        self.error, self.isActive = RuntimeError(text), False


class FakeJobs:
    """Jobs that ended, added by hand."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def ended(self, run_id: str, after: int) -> list[Job]:
        return [each for each in self.jobs if each.number > after]


PATIENCE_SECONDS = 20.0
"""How long a test waits for another thread before it takes it for lost."""


class FakeRemedies:
    """Notes what was asked for, and raises what it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_end = threading.Event()
        """A remedy takes until this is set, as it is at first."""
        self.may_end.set()
        self.ends_when_broken_off = True
        self.text = ""
        """All that was said of the last failure that was suspected to hide something."""
        self.error: Exception | None = None

    def _note(self, what: str) -> None:
        self.asked.append(what)
        assert self.may_end.wait(PATIENCE_SECONDS)
        if self.error:
            raise self.error

    def break_off(self) -> None:
        if self.ends_when_broken_off:
            self.error = Transient("broken off")
            self.may_end.set()

    def spare(self, failure: Failure) -> None:
        self._note("spare")

    def accept_loss(self, failure: Failure) -> None:
        self.text = failure.text
        self._note("accept loss")

    def rebuild(self, failure: Failure) -> None:
        self._note("rebuild")

    def suspect(self, failure: Failure) -> None:
        self.text = failure.text
        self._note("suspect")


class Scene:
    """One supervised watch, with a clock moved by hand."""

    def __init__(self, name: str = "w", most: int = 2, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.queries: list[FakeQuery] = []
        self.refusal: Exception | None = None
        self.remedies = FakeRemedies()
        watched = Watched(name, self._start, self.remedies)  # type: ignore[arg-type] # a fake query
        pulse = Pulse(name, 60, self.clock.awake_seconds())
        self.told: list[float] = []
        boundaries = Boundaries(name, Phase(30, 0), self._tell, self.clock)
        batches = Batches(name, boundaries, pulse, Cost(FakeJobs()), self.clock)
        self.supervised = Supervised(watched, batches, failures(most), self.clock)

    def _start(self, batch_seconds: float) -> FakeQuery:
        if self.refusal:
            raise self.refusal
        self.queries.append(FakeQuery())
        return self.queries[-1]

    def _tell(self, _: object, seconds: float) -> None:
        self.told.append(seconds)

    def look(self, seconds: float = 0) -> None:
        """Look after the watch, and once more when what is done for it is over, if it may end."""
        self.clock.move(seconds)
        self.supervised.look()
        if self.remedies.may_end.is_set():
            self.settle()

    def settle(self) -> None:
        """Wait for what is done for the watch, and look at what came of it."""
        assert self.supervised.settles(PATIENCE_SECONDS)
        self.supervised.look()

    def fail(self, text: str) -> None:
        self.queries[-1].fail(text)
        self.look()

    @property
    def runs(self) -> bool:
        return bool(self.queries) and self.queries[-1].isActive
