"""A change that Spark is asked about while all that runs is looked after."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from auditor.change import Change
from auditor.fleet import Running
from auditor.trial import DEADLINE_SECONDS
from auditor.underway import UnderWay
from services.backbone.errors import Ended

LEFT_SECONDS_MAX: Final = 180.0
"""A trial that goes on for so long after its deadline ends the program: nothing else would."""
STOP_SECONDS_MAX: Final = 5.0
"""How long the end of the program waits for a trial."""


class Trial:
    """A trial on a thread of its own, which nobody waits for."""

    def __init__(
        self, watch: str, work: Callable[[threading.Event], object], now_seconds: float
    ) -> None:
        """Begin `work`, which ends soon once the event that it gets is set."""
        self._watch = watch
        self._broken_off = threading.Event()
        self._work = UnderWay(f"trial-{watch}", partial(work, self._broken_off), now_seconds)

    def break_off(self) -> None:
        """Let it end soon: nobody wants its outcome any more."""
        self._broken_off.set()

    def end(self) -> None:
        """Break it off, and give it some seconds to tidy up: the program ends."""
        self.break_off()
        self._work.is_over(STOP_SECONDS_MAX)

    def is_over(self, now_seconds: float, wait_seconds: float = 0.0) -> bool:
        """Tell whether it has ended, now or within so many seconds.

        Raises:
            Ended: it should have ended long ago; a new process can go on in its place.
        """
        if self._work.is_over(wait_seconds):
            return True
        if now_seconds - self._work.since_seconds > DEADLINE_SECONDS + LEFT_SECONDS_MAX:
            raise Ended(f"watch {self._watch}: its trial goes on after its time")
        return False

    def outcome(self) -> None:
        """Raise what the trial raised, once it is over."""
        self._work.outcome()


@dataclass(frozen=True, slots=True)
class Tried:
    """A step that begins if Spark takes what was prepared for it."""

    step: Change
    prepared: Running
    trial: Trial

    def taken(self) -> Running:
        """Return what was prepared; raise what the trial raised."""
        self.trial.outcome()
        return self.prepared
