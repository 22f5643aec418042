"""One run: takes messages from the history at their times, hands them over, counts answers."""

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from services.backbone.errors import Transient
from services.backbone.service import Life
from services.simulator.dials import Dials
from services.simulator.history import Message
from services.simulator.metrics import LAG
from services.simulator.pace import Pace
from services.simulator.sending import Sender, Settled
from services.simulator.tally import Tally

TICK_SECONDS: Final = 0.001
"""Shortest wait: messages that fall due within it leave together."""
IDLE_SECONDS: Final = 0.2
STOP_DRAIN_SECONDS: Final = 4.0
"""How long a stopped run waits for answers; less than every program's time to drain."""
QUIET_LIMIT_SECONDS: Final = 5.0
"""A target that owes answers for longer makes the program not ready."""


@dataclass
class Course:
    """The state of a run; `go` is called once, the rest may be asked from other threads."""

    dials: Dials
    life: Life
    sender: Sender
    tally: Tally
    messages: Iterator[Message]
    answer_timeout_seconds: float
    lag_seconds_max: float = 0.0
    sent: int = 0
    started: float = field(init=False)
    last_answer: float = field(init=False)
    last_turn: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.last_answer = self.last_turn = self._now()

    def go(self) -> None:
        """Send until a bound or the stop; then wait for the answers that are still open.

        Raises:
            Transient: the run came to its bound, but the target never gave some answers.
            Refused: the target takes nothing of this kind.
        """
        try:
            while batch := self._next_batch():
                self._hand_over(batch)
            self._drain()
        finally:
            for settled in self.sender.close():
                self._count(settled)
            self.tally.close()
        unanswered = self.sent - sum(map(sum, self.tally.outcomes[:2]))
        if unanswered and not self.life.stop.is_set():
            raise Transient(f"{unanswered} messages are without an answer")

    def elapsed_seconds(self) -> float:
        """Return the seconds since the start."""
        return self._now() - self.started

    def quiet(self) -> str | None:
        """Say so if the target owes answers for too long."""
        silent = self._now() - self.last_answer
        if not self.sender.waiting() or silent < QUIET_LIMIT_SECONDS:
            return None
        return f"no answer for {silent:.0f} s"

    def stuck(self) -> str | None:
        """Say so if the loop itself does not turn."""
        still = self._now() - self.last_turn
        return f"the loop stands still for {still:.0f} s" if still > 30 else None

    def _next_batch(self) -> list[Message]:
        """Wait for the next messages' time; empty at the end of the run."""
        pace = Pace(self.dials.rate)
        while not self.life.stop.is_set():
            elapsed = self._turn()
            room = (self.dials.events or math.inf) - self.sent
            if room <= 0 or elapsed >= (self.dials.seconds or math.inf):
                break
            if due := min(pace.due(elapsed, self.sent), self.dials.batch_limit, room):
                return list(islice(self.messages, int(due)))
            wait = pace.intended_seconds(self.sent, elapsed) - elapsed
            self._wait(min(max(wait, TICK_SECONDS), IDLE_SECONDS))
        return []

    def _hand_over(self, batch: list[Message]) -> None:
        """Start the batch as soon as there is room; being late shows as lag."""
        while not self.sender.start(batch):
            self._turn()
            if self._wait(TICK_SECONDS):
                return
        elapsed = self.elapsed_seconds()
        lag = max(0.0, elapsed - Pace(self.dials.rate).intended_seconds(self.sent, elapsed))
        self.lag_seconds_max = max(self.lag_seconds_max, lag)
        LAG.observe(lag)
        self.tally.start(batch)
        self.sent += len(batch)

    def _drain(self) -> None:
        """Wait for open answers: long if the run ended by itself, briefly if it was stopped."""
        begun = self._now()
        never = threading.Event()  # waiting on a stop that is set would spin
        while True:
            waited = self._turn() + self.started - begun
            stopping = self.life.stop.is_set()
            limit = STOP_DRAIN_SECONDS if stopping else self.answer_timeout_seconds
            if not self.sender.waiting() or waited > limit:
                return
            self.life.clock.wait(never, TICK_SECONDS * 10)

    def _turn(self) -> float:
        for settled in self.sender.collect():
            self._count(settled)
            self.last_answer = self._now()
        if not self.sender.waiting():
            self.last_answer = self._now()
        self.last_turn = self._now()
        return self.last_turn - self.started

    def _count(self, settled: Settled) -> None:
        settle = self.tally.settle
        for message, outcome in zip(settled.messages, settled.outcomes, strict=True):
            settle(message, outcome)

    def _wait(self, seconds: float) -> bool:
        return self.life.clock.wait(self.life.stop, seconds)

    def _now(self) -> float:
        return self.life.clock.monotonic_seconds()
