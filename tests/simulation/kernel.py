"""Virtual time: one heap of happenings, and processes that are stopped, resumed and killed.

Nothing here waits. Time jumps to the next happening, so minutes pass in microseconds, and the same
choices always make the same history.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

START_MS: Final = 1_795_000_000_000
"""The wall clock when a history begins."""
HAPPENINGS_LIMIT: Final = 40_000
"""A history with more of them is caught in a loop."""

Action = Callable[[], object]


class Died(BaseException):
    """Unwinds a killed process's code; no handler for errors catches it."""


class Violation(Exception):
    """A promise was broken, or the code under test has a bug."""


@dataclass
class Process:
    """One running program; a restarted one is another process of the same `slot`."""

    slot: str
    alive: bool = True
    stopped: bool = False
    wall_shift_seconds: float = 0.0
    backlog: deque[Action] = field(default_factory=deque)
    """What happened to it while it was stopped."""
    drain: Action = lambda: None
    """Runs what has become ready inside the process."""
    on_missing: list[Action] = field(default_factory=list)
    """Called when it is killed or stopped: nobody hears of it from now on."""
    on_resumed: list[Action] = field(default_factory=list)
    resumed_at: float = 0.0

    def run(self, action: Action) -> None:
        """Let something happen inside the process, now or when it is resumed."""
        if self.stopped:
            self.backlog.append(action)
        elif self.alive:
            action()
            self.drain()

    def resume(self) -> None:
        """Go on after a stop, with all that has happened meanwhile."""
        self.stopped = False
        while self.backlog and self.alive and not self.stopped:
            self.backlog.popleft()()
        if self.alive:
            self.drain()


class Kernel:
    """The clock and what is to happen when."""

    def __init__(self, trace: Callable[[float, str, str], None] | None = None) -> None:
        self.now = 0.0
        self.happened = 0
        self._trace = trace
        self._heap: list[tuple[float, int, Action, Process | None]] = []
        self._count = 0

    def at(self, when: float, action: Action, process: Process | None = None) -> None:
        """Let `action` happen at a time, inside a process if one is named."""
        self._count += 1
        heapq.heappush(self._heap, (max(when, self.now), self._count, action, process))

    def after(self, seconds: float, action: Action, process: Process | None = None) -> None:
        """Let `action` happen some time from now."""
        self.at(self.now + seconds, action, process)

    def run(self, until: float) -> None:
        """Let everything happen up to a time; may be called by what happens (see Lookouts)."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            when, _, action, process = heapq.heappop(heap)
            self.now = max(self.now, when)
            self.happened += 1
            if self.happened > HAPPENINGS_LIMIT:
                raise Violation(f"over {HAPPENINGS_LIMIT} happenings: caught in a loop")
            if process is None:
                action()
            else:
                process.run(action)
        self.now = max(self.now, until)

    def kill(self, process: Process) -> None:
        """End a process between two instructions; what it has told others stands."""
        if process.alive:
            process.alive = False
            self.tell(process.slot, "dies")
            for each in process.on_missing:
                each()

    def stop(self, process: Process, seconds: float) -> None:
        """Stop a process for a while, as SIGSTOP and SIGCONT do."""
        if not process.alive:
            return
        process.stopped = True
        process.resumed_at = max(process.resumed_at, self.now + seconds)
        self.tell(process.slot, f"is stopped for {seconds:g} s")
        self.at(process.resumed_at, lambda: self._resume(process))
        for each in process.on_missing:
            each()

    def _resume(self, process: Process) -> None:
        if process.alive and process.stopped and self.now >= process.resumed_at:
            self.tell(process.slot, "goes on")
            process.resume()
            for each in process.on_resumed:
                each()

    @property
    def traced(self) -> bool:
        """Whether a timeline is kept."""
        return self._trace is not None

    def tell(self, who: str, what: str) -> None:
        """Add a line to the timeline, if one is kept."""
        if self._trace is not None:
            self._trace(self.now, who, what)


@dataclass(frozen=True)
class ProcessClock:
    """A process's clocks: the steady one is the kernel's, the wall clock may have jumped."""

    kernel: Kernel
    process: Process

    def now_ms(self) -> int:
        """Return milliseconds since 1970 (UTC)."""
        return START_MS + int((self.kernel.now + self.process.wall_shift_seconds) * 1000)

    def monotonic_seconds(self) -> float:
        """Return seconds that never go back."""
        return 1000.0 + self.kernel.now

    def awake_seconds(self) -> float:
        """Return the same: no machine sleeps here."""
        return self.monotonic_seconds()

    def wait(self, stop: "asyncio.Event | object", seconds: float) -> bool:
        """Refuse: no simulated code may block."""
        raise Violation(f"a simulated process would block for {seconds} s")
