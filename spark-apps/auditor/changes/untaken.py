"""Changes that are not taken: some are rejected until a file changes, some wait for another try."""

import random
from collections.abc import Callable, Mapping
from typing import TypeVar

from auditor import metrics
from auditor.changes.postponed import Postponed
from auditor.fleet import Fleet
from engine.brokers import MissingTopic
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger

_Ready = TypeVar("_Ready")

log = logger(__name__)


class Untaken:
    """Which watches' changes are not taken, and why; the health page's thread may ask for notes."""

    def __init__(self, fleet: Fleet, clock: Clock) -> None:
        self._fleet = fleet
        self._clock = clock
        self._rejected: Mapping[str, str] = {}
        self._postponed = Postponed(random.Random())  # noqa: S311 - jitter, not secrecy

    def judge(self, watch: str, work: Callable[[], _Ready]) -> _Ready | None:
        """Return what the work returns; None where the change has to wait or is rejected."""
        try:
            return work()
        except (Transient, MissingTopic) as error:
            self.postpone(watch, str(error))
        except Refused as error:
            self.reject(watch, str(error))
        return None

    def reject(self, watch: str, reason: str) -> None:
        """Let this watch's change be until a file changes or another rule is replaced."""
        self._postponed.settle(watch)
        self._rejected = {**self._rejected, watch: reason}
        self._explain(watch, reason)
        metrics.REJECTED.labels(watch).inc()
        goes_on = watch in self._fleet.running
        log.error("change_rejected", watch=watch, reason=reason, old_goes_on=goes_on)

    def postpone(self, watch: str, reason: str, *, lasting: bool = False) -> None:
        """Let this watch's change wait; `lasting` as for `Postponed.add`."""
        now = self._clock.monotonic_seconds()
        wait_seconds = round(self._postponed.add(watch, reason, now, lasting=lasting), 1)
        self._explain(watch, reason)
        log.warning("change_waits", watch=watch, reason=reason, wait_seconds=wait_seconds)

    def may_try(self, watch: str) -> bool:
        """Tell whether this watch's change is neither rejected nor too early."""
        now = self._clock.monotonic_seconds()
        return watch not in self._rejected and not self._postponed.waits(watch, now)

    def begin(self, watch: str) -> None:
        """Note that this watch's change could be tried."""
        self._postponed.begin(watch)

    def settle(self, watch: str) -> None:
        """Note that this watch's change is done."""
        self._postponed.settle(watch)

    def try_all_again(self) -> None:
        """What was refused for want of slots, or could not be tried, may go now."""
        self._rejected = {}
        self._postponed.clear()

    def notes(self) -> list[str]:
        """Say what is not taken, and why."""
        return [*self._rejected.values(), *self._postponed.notes()]

    def _explain(self, watch: str, reason: str) -> None:
        if watch in self._fleet.missing:
            self._fleet.miss(watch, reason)
