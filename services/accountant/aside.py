"""Reads what lookouts have set aside, and keeps of what it was in the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.accountant.reader import Reader
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Incoming
from services.backbone.ledger.accounting.completeness import Completeness
from services.contracts import topics

REJECTED: Final = topics.rejected(topics.ALERTS)
BATCH_LIMIT: Final = 1000
ASK_TIMEOUT_SECONDS: Final = 3.0


@dataclass
class Aside:
    """Topic `alerts.rejected`, of which the ledger is told what each record is about."""

    completeness: Completeness
    reader: Reader
    admin: TopicAdmin
    _batch: Sequence[Incoming] = ()

    def read(self) -> None:
        """Take what is there, without waiting; what is not kept yet stays in hand.

        Raises:
            Transient, Refused, Ended: as a consumer.
        """
        if self._batch:
            self.reader.idle(0.0)
        else:
            self._batch = self.reader.batch(BATCH_LIMIT, 0.0)

    def keep(self) -> None:
        """Tell the ledger of what is in hand.

        Raises:
            Transient: Postgres is away; the same is kept later.
        """
        if self._batch:
            self.completeness.keep_aside(keys(self._batch))
            self.reader.consumer.commit(self._batch)
            self._batch = ()

    def wanted(self, before: int | None) -> int | None:
        """Return how many records are to be given out until all is read that was set aside by now,
        or by when `before` was the answer; None: it is, by this member of the group or by others.

        Raises:
            Transient, Refused: the brokers do not say.
        """
        consumer = self.reader.consumer
        if before is not None and consumer.given() >= before:
            return None
        count = self.admin.partitions().get(REJECTED, 0)
        places = [(REJECTED, number) for number in range(count)]
        unread = consumer.unread(places, ASK_TIMEOUT_SECONDS) if places else {}
        wanted = consumer.given() + sum(unread.values()) if before is None else before
        return wanted if unread else None


def keys(records: Sequence[Incoming]) -> list[str]:
    """Return by what the ledger knows what was set aside."""
    return [(each.key or b"").decode(errors="replace") for each in records]
