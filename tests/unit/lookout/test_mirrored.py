"""A mirror learns from each batch how far to stay behind the other lookout."""

from collections.abc import Collection, Sequence, Set
from concurrent.futures import Future
from functools import partial
from typing import cast

from services.backbone.clock import ManualClock
from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.outbox import OutboxEntry
from services.backbone.mirror import BEHIND_SECONDS
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.mirror import mirrored
from services.lookout.intake.pipeline import Arrival, Lookout
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.outbox.publishing import Publisher
from tests.simulation.lookouts import routes
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.tables import Tables
from tests.unit.deliverer.builders import FOUND_AT_MS, delivery

COUNT = 50
BATCH = [Arrival(one.alert, one.alert.encode()) for one in map(delivery, range(COUNT))]


class Quiet:
    """Publishes and writes nothing."""

    def publish(self, entries: Sequence[OutboxEntry]) -> None:
        """Do nothing."""

    def write(self, records: Sequence[Outgoing]) -> None:
        """Do nothing."""

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        return Future()


def lookout(tables: Tables) -> Lookout:
    clock, quiet = ManualClock(FOUND_AT_MS), Quiet()
    current, settled = partial(routes, False), SettledAlerts(10 * COUNT)
    publisher = cast(Publisher, quiet)
    ledger = MemoryIntake(tables)
    return Lookout(current, ledger, publisher, quiet, settled, Circumstances(clock), clock)


def nothing(asked: Collection[str]) -> Set[str]:
    return frozenset()


def test_one_that_is_alone_does_not_wait() -> None:
    tables = Tables(lambda: FOUND_AT_MS / 1000)
    mirror = mirrored(lookout(tables), MemoryIntake(tables).recorded)
    mirror(BATCH)
    assert len(tables.alerts) == COUNT
    assert mirror.behind_seconds(COUNT) == BEHIND_SECONDS


def test_one_that_did_what_the_other_did_falls_back_until_it_finds_things_done() -> None:
    tables = Tables(lambda: FOUND_AT_MS / 1000)
    mirror = mirrored(lookout(tables), nothing)
    lookout(tables)(BATCH)
    mirror(BATCH)
    fallen_back = mirror.behind_seconds(COUNT)
    assert fallen_back > BEHIND_SECONDS
    mirror(BATCH)  # settled: it need not ask, and learns all the same
    assert BEHIND_SECONDS < mirror.behind_seconds(COUNT) < fallen_back
