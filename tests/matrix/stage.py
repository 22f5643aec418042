"""One cell of the matrix: a channel, its provider, a ledger, and deliverers that come and go."""

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from services.contracts.records import Delivery, Severity
from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.waiting import until
from tests.matrix.crashing import Point
from tests.matrix.peer import Peer, Taken
from tests.postgres import OwnPostgres
from tests.unit.deliverer.builders import delivery

SEND_TIMEOUT_SECONDS = 3
LEASE_SECONDS = 6
DELIVERED = frozenset({State.SENT, State.CONFIRMED})
AT_REST = frozenset({State.SENT, State.CONFIRMED, State.HELD, State.FAILED})


@dataclass(frozen=True)
class Cell:
    """What became of the deliveries; counts of deliveries, and of messages that came again."""

    far_end: str
    fault: str
    deliveries: int
    sent: int
    in_doubt: int
    """Deliveries that were in doubt at some time."""
    held: int
    failed: int
    repeats_marked: int
    repeats_same_key: int
    """Unmarked repeats, where the receiver drops them by key; elsewhere they are forbidden."""
    repeats_unmarked: int
    missing: int
    """Deliveries that count as sent and were never taken; forbidden."""
    failed_though_taken: int
    """Deliveries that count as failed and were taken; forbidden."""
    problem: str = ""
    """What was waited for in vain before the count."""


@dataclass
class Stage:
    """Plays one cell."""

    far_end: str
    peer: Peer
    ledger: Ledger
    bus: Bus
    postgres: OwnPostgres
    folder: Path
    sent: list[Delivery] = field(default_factory=list)
    started: list[DelivererProcess] = field(default_factory=list)

    def begin(self, count: int = 6) -> None:
        """Record deliveries, half of them critical, and tell each of them twice."""
        channel, recipient = self.peer.channel, self.peer.recipient
        kinds = [Severity.CRITICAL, Severity.WARNING]
        self.sent = [
            delivery(number, channel, recipient, severity=kinds[number % 2])
            for number in range(count)
        ]
        self.ledger.add(*self.sent)
        self.bus.tell([*self.sent, *self.sent])

    def deliverer(self, point: Point | None = None) -> DelivererProcess:
        """Start a deliverer; one with a point may be gone before it is ready."""
        environment = {
            "ALDEBARAN_CHANNEL": self.peer.channel,
            "ALDEBARAN_POSTGRES_URL": self.ledger.url,
            "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": self.bus.settings.kafka_bootstrap_servers,
            "ALDEBARAN_INSTANCE": f"matrix-{len(self.started)}",
            "ALDEBARAN_SEND_TIMEOUT_SECONDS": str(SEND_TIMEOUT_SECONDS),
            "ALDEBARAN_LEASE_SECONDS": str(LEASE_SECONDS),
            "ALDEBARAN_RETRY_FIRST_SECONDS": "0.1",
            "ALDEBARAN_RETRY_LIMIT_SECONDS": "0.5",
            "ALDEBARAN_BREAKER_FIRST_SECONDS": "0.1",
            "ALDEBARAN_BREAKER_LIMIT_SECONDS": "0.5",
            "ALDEBARAN_SWEEP_SECONDS": "0.1",
            "ALDEBARAN_IN_DOUBT_DEADLINE_SECONDS": "2",
            **self.peer.settings,
        }
        log_file = self.folder / f"deliverer-{len(self.started)}.log"
        one = DelivererProcess(environment, log_file)
        if point is not None:
            one.module, one.arguments = "tests.matrix.crashing", (point,)
        self.started.append(one)
        return one.start(ready=point is None)

    def gone(self, one: DelivererProcess) -> None:
        """Wait until a process has ended itself."""
        assert one.process is not None
        assert one.process.wait(120) == -signal.SIGKILL, one.log_file.read_text()[-2000:]

    def taken(self) -> Taken:
        """Return what the provider has."""
        return self.peer.taken(self.sent)

    def enough_taken(self) -> bool:
        """Tell whether the provider has every delivery, or all that it takes while silent."""
        taken = self.taken()
        enough = any if self.peer.silent_after_first else all
        return enough(taken.of(each.delivery_id) for each in self.sent)

    def wait(self, condition: Callable[[], object], name: str) -> None:
        """Wait for a condition; say how everything stands if it does not come."""
        try:
            until(condition, name)
        except AssertionError as late:
            raise AssertionError(f"{late}; {Counter(self.ledger.states().values())}") from None

    def come_to_rest(self) -> str:
        """Wait until all is at rest and shown; return what did not come, or nothing."""
        try:
            self.wait(self.at_rest, "at rest")
            self.wait(self.all_there, "what counts as sent is there")
        except AssertionError as late:
            return str(late)
        return ""

    def at_rest(self) -> bool:
        """Tell whether nothing happens by itself any more."""
        return {State(each) for each in self.ledger.states().values()} <= AT_REST

    def all_there(self) -> bool:
        """Tell whether the provider shows everything that counts as sent; some show it late."""
        states, taken = self.ledger.states(), self.taken()
        return all(taken.of(name) for name, state in states.items() if State(state) in DELIVERED)

    def end(self) -> None:
        """Kill whatever still runs."""
        for each in self.started:
            each.kill()

    def cell(self, fault: str, dedupes: bool) -> Cell:
        """Count once all is at rest, or does not get there."""
        problem = self.come_to_rest()
        states = self.ledger.states()
        taken = self.taken()
        marks = {each.delivery_id: taken.of(each.delivery_id) for each in self.sent}
        unmarked = sum(not mark for each in marks.values() for mark in each[1:])
        return Cell(
            far_end=self.far_end,
            fault=fault,
            deliveries=len(self.sent),
            sent=sum(State(state) in DELIVERED for state in states.values()),
            in_doubt=len(self._doubted()),
            held=sum(state == State.HELD for state in states.values()),
            failed=sum(state == State.FAILED for state in states.values()),
            repeats_marked=sum(sum(each[1:]) for each in marks.values()),
            repeats_same_key=unmarked if dedupes else 0,
            repeats_unmarked=0 if dedupes else unmarked,
            missing=sum(
                State(states[name]) in DELIVERED and not each for name, each in marks.items()
            ),
            failed_though_taken=sum(
                states[name] == State.FAILED and bool(each) for name, each in marks.items()
            ),
            problem=problem,
        )

    def _doubted(self) -> set[str]:
        """Return who was in doubt: as recorded, or as told where a late answer has replaced it."""
        rows = self.ledger.rows("SELECT delivery_id FROM attempts WHERE outcome = 'IN_DOUBT'")
        swept = [each for one in self.started for each in one.logged("delivery_swept")]
        told = {str(each["delivery_id"]) for each in swept if each["after"] == State.IN_DOUBT}
        return told | {row["delivery_id"] for row in rows}
