"""Who fails to log in waits before the next try, whichever way it is made."""

import threading
from dataclasses import dataclass, field

from services.backbone.clock import Clock
from services.backbone.web.problems import Problem
from services.console.people.throttle import Throttle


@dataclass
class Brake:
    """Remembers failures of names and addresses; safe to use from several threads."""

    clock: Clock
    throttle: Throttle = field(default_factory=Throttle)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, callers: tuple[str, ...]) -> None:
        """Refuse who has to wait.

        Raises:
            Problem: 429.
        """
        now = self.clock.monotonic_seconds()
        with self._lock:
            wait = max(self.throttle.wait_seconds(each, now) for each in callers)
        if wait > 0:
            seconds = int(wait) + 1
            detail = f"too many failures; try again in {seconds} s"
            raise Problem(429, "slow_down", detail, {"Retry-After": str(seconds)})

    def failed(self, callers: tuple[str, ...]) -> None:
        """Note a failure."""
        now = self.clock.monotonic_seconds()
        with self._lock:
            for each in callers:
                self.throttle.failed(each, now)

    def succeeded(self, callers: tuple[str, ...]) -> None:
        """Forget the failures of those who are known now."""
        with self._lock:
            for each in callers:
                self.throttle.succeeded(each)
