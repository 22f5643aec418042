"""The mirror: a lookout that reads every alert beside another, so that nobody waits for a dead one.

Each reads topic `alerts` in a group of its own; whichever records an alert also publishes it
(docs/decisions/0017-mirrored-lookouts.md). All that is not urgent a mirror leaves to the other.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final

from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.intake import Accepted, NewAlert
from services.contracts.records import Alert
from services.lookout.pipeline import Ledger, Lookout
from services.lookout.publishing import Writer

GROUP_SUFFIX: Final = "-mirror"


def mirrored(lookout: Lookout) -> Lookout:
    """Return the lookout as a mirror has it: it records and publishes what is new, and no more.

    What cannot be used is kept aside, copies are counted, and what a crash has left unpublished is
    published by the other lookout, or by either's relay, which nobody has to wait for.
    """
    return replace(
        lookout,
        ledger=_NewOnly(lookout.ledger),
        writer=_OnlyTells(lookout.writer),
        dropped=_not_counted,
    )


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

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        return replace(self.ledger.accept(batch), left_over=[])

    def secure(self) -> None:
        self.ledger.secure()


def _not_counted(copies: Sequence[Alert]) -> None:
    """The other lookout counts the same copies."""
