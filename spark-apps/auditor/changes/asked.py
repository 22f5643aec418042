"""A change that Spark is asked about while all that runs is looked after."""

import threading
from functools import partial
from typing import Final

from auditor.changes.change import Change
from auditor.changes.means import TRIALS, Means
from auditor.fleet import Running
from auditor.queries.trial import DEADLINE_SECONDS
from auditor.underway import UnderWay
from services.backbone.errors import Ended

TRIALS_SECONDS_MAX: Final = len(TRIALS) * DEADLINE_SECONDS
LEFT_SECONDS_MAX: Final = 180.0
"""Whatever goes on for so long after that ends the program: nothing else would."""
STOP_SECONDS_MAX: Final = 5.0
"""How long the end of the program waits for a trial."""


class Asked:
    """A step that begins if Spark takes what was prepared for it; a thread of its own asks."""

    def __init__(self, means: Means, step: Change, prepared: Running, now_seconds: float) -> None:
        """Begin to ask."""
        self.step = step
        self.prepared = prepared
        self._broken_off = threading.Event()
        ask = partial(means.try_out, prepared.declared, self._broken_off)
        self._asking = UnderWay(f"trial-{step.watch}", ask, now_seconds)

    @property
    def watch(self) -> str:
        """The watch that is to change."""
        return self.step.watch

    def break_off(self) -> None:
        """Let it end soon: nobody wants the answer any more."""
        self._broken_off.set()

    def end(self) -> None:
        """Break it off, and give it some seconds to tidy up: the program ends."""
        self.break_off()
        self._asking.is_over(STOP_SECONDS_MAX)

    def is_over(self, now_seconds: float, wait_seconds: float = 0.0) -> bool:
        """Tell whether it has ended, now or within so many seconds.

        Raises:
            Ended: it should have ended long ago; a new process can go on in its place.
        """
        if self._asking.is_over(wait_seconds):
            return True
        asked_seconds = now_seconds - self._asking.since_seconds
        if asked_seconds > TRIALS_SECONDS_MAX + LEFT_SECONDS_MAX:
            raise Ended(f"watch {self.step.watch}: its trial goes on after its time")
        return False

    def taken(self) -> Running:
        """Return what was prepared, once it is over; raise what Spark has against it."""
        self._asking.outcome()
        return self.prepared
