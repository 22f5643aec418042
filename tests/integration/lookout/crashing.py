"""The lookout's stages on a real ledger, with a topic that is a list, and a crash where asked."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.intake import Accepted, Intake, NewAlert
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.database import Pool
from services.contracts.records import Alert
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.pipeline import Arrival, Lookout
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.outbox.publishing import Publisher
from services.lookout.routing import Routes


class Crash(BaseException):
    """The process is gone here."""


class Point(Enum):
    """Where a process may be gone."""

    BEFORE_RECORDING = "before the transaction"
    RECORDED = "after the transaction, before publishing"
    PUBLISHED = "after publishing, before the mark"
    MARKED = "after the mark, before the offset"


@dataclass
class Topics:
    """What was written, in the sequence of writing; `outcomes` are the answers to one batch, and
    topics of `lacking` are not there.
    """

    written: list[Outgoing] = field(default_factory=list)
    away: bool = False
    lacking: frozenset[str] = frozenset()
    outcomes: list[Trouble | None] | None = None

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        future: Future[list[Trouble | None]] = Future()
        there = [not self.away and each.topic not in self.lacking for each in records]
        usual: list[Trouble | None] = [None if one else Transient("away") for one in there]
        future.set_result(usual if self.outcomes is None else self.outcomes)
        self.written += [each for each, is_there in zip(records, there, strict=True) if is_there]
        return future

    def write(self, records: Sequence[Outgoing]) -> None:
        if self.away:
            raise Transient("away")
        self.written += records

    def on(self, prefix: str) -> list[Outgoing]:
        return [each for each in self.written if each.topic.startswith(prefix)]


@dataclass
class CrashingLedger:
    """The real intake and outbox, gone at one point."""

    intake: Intake
    outbox: Outbox
    crash: Point | None = None

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        self._gone_at(Point.BEFORE_RECORDING)
        accepted = self.intake.accept(batch)
        self._gone_at(Point.RECORDED)
        return accepted

    def secure(self) -> None:
        self.intake.secure()

    def mark_published(self, delivery_ids: Sequence[str]) -> None:
        self._gone_at(Point.PUBLISHED)
        self.outbox.mark_published(delivery_ids)
        self._gone_at(Point.MARKED)

    def _gone_at(self, point: Point) -> None:
        if self.crash is point:
            raise Crash


def started(pool: Pool, routes: Routes, written: Topics, crash: Point | None = None) -> Lookout:
    """Return a lookout that has just started and remembers nothing."""
    ledger = CrashingLedger(Intake(pool), Outbox(pool), crash)
    publisher = Publisher(written, ledger)
    clock = ManualClock()
    settled, circumstances = SettledAlerts(100), Circumstances(clock)
    return Lookout(lambda: routes, ledger, publisher, written, settled, circumstances, clock)


def arrivals(alerts: Sequence[Alert]) -> list[Arrival]:
    """Return alerts as they come from their topic."""
    return [Arrival(alert, alert.encode()) for alert in alerts]
