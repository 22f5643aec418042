"""Time, passed in: programs take a Clock, tests take one that they move by hand."""

import threading
import time
from typing import Final, Protocol

# Where the system has it, a clock that goes on while the whole machine is suspended.
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """What a program may ask about time."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 (UTC)."""

    def monotonic_seconds(self) -> float:
        """Return seconds that never go back, for measuring spans."""

    def awake_seconds(self) -> float:
        """Return seconds that stand still while the machine is suspended, as its programs do."""

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait until `stop` is set or the seconds are over; return whether it is set."""


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 (UTC)."""
        return time.time_ns() // 1_000_000

    def monotonic_seconds(self) -> float:
        """Return seconds that never go back."""
        return time.clock_gettime(_STEADY)

    def awake_seconds(self) -> float:
        """Return seconds by the clock that waits, and Java's timers, go by."""
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait until `stop` is set or the seconds are over; return whether it is set."""
        return stop.wait(seconds)


class ManualClock:
    """A clock that stands still until it is moved; waiting moves it."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms
        self._asleep_seconds = 0.0

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self._now_ms += int(seconds * 1000)

    def sleep(self, seconds: float) -> None:
        """Let time pass while the machine is suspended."""
        self.move(seconds)
        self._asleep_seconds += seconds

    def now_ms(self) -> int:
        """Return milliseconds since 1970 (UTC)."""
        return self._now_ms

    def monotonic_seconds(self) -> float:
        """Return seconds that never go back."""
        return self._now_ms / 1000

    def awake_seconds(self) -> float:
        """Return seconds that stand still in `sleep`."""
        return self.monotonic_seconds() - self._asleep_seconds

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Let the seconds pass at once; return whether `stop` is set."""
        self.move(seconds)
        return stop.is_set()
