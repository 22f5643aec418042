"""The keeper: does what time asks for, such as releasing what was silenced, on its own thread."""

import math
import threading
from collections.abc import Sequence
from typing import Final, Protocol

from services.backbone.errors import Transient
from services.backbone.log import logger
from services.backbone.service import Life
from services.lookout import metrics

TURNS_LIMIT: Final = 20
"""Turns of one duty in a row, so that none keeps the others waiting."""

log = logger(__name__)


class Duty(Protocol):
    """One thing to look after; it waits for Postgres, and never for Kafka."""

    @property
    def name(self) -> str:
        """A short word for logs and metrics."""

    def do(self) -> int:
        """Do one bounded turn; return how much was done, 0 if nothing is left for now.

        Raises:
            Transient: Postgres is away; the next round tries again.
        """


class Keeper:
    """Does its duties one after the other, every `interval_seconds`.

    By the first go the others, and what comes in: it is done anew also within a round that takes
    longer. A duty that meets an outage does not stop the others. Two keepers at once, in two
    lookouts, share the work: each duty takes rows that the other has not locked.
    """

    def __init__(self, duties: Sequence[Duty], life: Life, interval_seconds: float) -> None:
        self._duties = duties
        self._life = life
        self._interval_seconds = interval_seconds
        self._refreshed_at = -math.inf
        self._troubles: dict[str, str] = {}
        self._bug: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def start(self) -> None:
        """Begin; ends with the life."""
        self._thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Wait for the duty in hand; raise what has ended the thread, if it was a bug."""
        self._thread.join(timeout_seconds)
        if self._bug is not None:
            raise self._bug

    def trouble(self) -> str | None:
        """Return what the duties have met in their last turns; None if all went well."""
        return "; ".join(f"{name}: {why}" for name, why in sorted(self._troubles.items())) or None

    def round(self) -> None:
        """Do every duty until nothing is left for it, or its turns are over."""
        for duty in self._duties:
            self._try(duty)

    def _try(self, duty: Duty) -> None:
        try:
            self._do(duty)
            self._troubles.pop(duty.name, None)
        except Transient as error:
            self._troubles = self._troubles | {duty.name: str(error)}
            log.warning("duty_tries_again", duty=duty.name, reason=str(error))

    def _do(self, duty: Duty) -> None:
        for _ in range(TURNS_LIMIT):
            self._refresh_before(duty)
            with metrics.DUTY_SECONDS.labels(duty.name).time():
                done = duty.do()
            metrics.DUTY_ROWS.labels(duty.name).inc(done)
            if done == 0 or self._life.stop.is_set():
                return

    def _refresh_before(self, duty: Duty) -> None:
        first, now = self._duties[0], self._life.clock.monotonic_seconds()
        if duty is first:
            self._refreshed_at = now
        elif now - self._refreshed_at >= self._interval_seconds:
            self._try(first)

    def _run(self) -> None:
        try:
            while not self._life.stop.is_set():
                self.round()
                self._life.clock.wait(self._life.stop, self._interval_seconds)
        except Exception as error:  # handed to the main thread, which ends the program with it
            self._bug = error
            self._life.stop.set()
