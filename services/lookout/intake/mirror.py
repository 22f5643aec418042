"""A lookout as a mirror: whichever of two records an alert also publishes it."""

from collections.abc import Callable, Collection, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.intake import Accepted, NewAlert
from services.backbone.mirror import Distance
from services.contracts.records import Alert
from services.lookout.intake.pipeline import Ledger, Lookout
from services.lookout.outbox.publishing import Writer


def mirrored(lookout: Lookout, recorded: Callable[[Collection[str]], Set[str]]) -> Lookout:
    """Return the lookout as a mirror has it: it records and publishes what is left, and no more.

    `recorded` tells which alerts the other has recorded.
    What cannot be used is kept aside, copies are counted, and what a crash has left unpublished is
    published by the other lookout, or by either's relay, which nobody has to wait for.
    """
    distance = Distance()
    return replace(
        lookout,
        behind_seconds=distance.behind_seconds,
        ledger=_NewOnly(lookout.ledger, distance),
        writer=_OnlyTells(lookout.writer),
        dropped=_not_counted,
        recorded=partial(_found, recorded, distance),
    )


def _found(
    recorded: Callable[[Collection[str]], Set[str]], distance: Distance, ids: Collection[str]
) -> Set[str]:
    found = recorded(ids) if ids else frozenset[str]()
    distance.found(len(ids), len(found))
    return found


@dataclass(frozen=True)
class _OnlyTells:
    """Sends what is told of new deliveries, and keeps nothing aside: the other lookout does."""

    writer: Writer

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        """Start writing what is told; see `Writer`."""
        return self.writer.send(records)

    def write(self, records: Sequence[Outgoing]) -> None:
        """Leave what cannot be used to the other lookout, which reads it too."""


@dataclass(frozen=True)
class _NewOnly:
    """The ledger, without what others have recorded and are about to publish."""

    ledger: Ledger
    distance: Distance

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        accepted = self.ledger.accept(batch)
        self.distance.recorded(len(batch) - len(accepted.unstorable), len(accepted.new))
        return replace(accepted, left_over=[])

    def secure(self) -> None:
        self.ledger.secure()


def _not_counted(copies: Sequence[Alert]) -> None:
    """The other lookout counts the same copies."""
