"""Publishing: from the outbox to the channels' topics, and out of the outbox."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, Protocol

from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.outbox import OutboxEntry
from services.backbone.log import logger
from services.backbone.portions import portions
from services.contracts import topics
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from services.lookout import metrics

PART_LIMIT_DELIVERIES: Final = 2000
PART_LIMIT_BYTES: Final = 8 * 1024 * 1024

log = logger(__name__)


class Writer(Protocol):
    """What writes to Kafka."""

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        """Start writing; the future tells for each record None or what went wrong."""

    def write(self, records: Sequence[Outgoing]) -> None:
        """Write and wait; raises Transient or Refused."""


class Marks(Protocol):
    """What takes deliveries out of the outbox."""

    def mark_published(self, delivery_ids: Sequence[str]) -> None:
        """Note that their topics have them."""


class Publisher:
    """Writes outbox entries to `deliveries.<channel>` and marks those that the brokers have."""

    def __init__(self, writer: Writer, marks: Marks) -> None:
        self._writer = writer
        self._marks = marks

    def publish(self, entries: Sequence[OutboxEntry]) -> None:
        """Do as `published` does, whatever the brokers take."""
        for _ in self.published(entries):
            pass

    def published(self, entries: Sequence[OutboxEntry]) -> Iterator[list[str]]:
        """Publish and mark, part by part; a crash in between publishes some again, ids unchanged.

        Yields the ids of those that the brokers have. A delivery that they refuse for good stays
        in the outbox, is logged and counted.

        Raises:
            Transient: some are not known to be published; they stay in the outbox.
        """
        for part in parts(entries):
            taken, away = self._mark(part, self._send(part).result())
            if taken:
                yield taken
            if away:
                raise away[0]

    def hand_over(self, entries: Sequence[OutboxEntry]) -> None:
        """Start to publish, and mark what the brokers have when they answer; needs `LaterMarks`.

        For who must not stand still while they are away: the relay sees to what they do not take.
        """
        for part in parts(entries):
            self._send(part).add_done_callback(partial(self._answered, part))

    def _send(self, part: Sequence[OutboxEntry]) -> "Future[list[Trouble | None]]":
        return self._writer.send([_outgoing(entry) for entry in part])

    def _answered(
        self, part: Sequence[OutboxEntry], answer: "Future[list[Trouble | None]]"
    ) -> None:
        _, away = self._mark(part, answer.result())
        if away:
            log.warning("left_to_the_relay", count=len(away), reason=str(away[0]))

    def _mark(
        self, part: Sequence[OutboxEntry], outcomes: Sequence[Trouble | None]
    ) -> tuple[list[str], list[Transient]]:
        """Mark what the brokers have; return it, and what keeps them from the others for now."""
        told = list(zip(part, outcomes, strict=True))
        taken = [entry.delivery_id for entry, each in told if each is None]
        self._marks.mark_published(taken)
        for entry, outcome in told:
            if outcome is not None and not isinstance(outcome, Transient):
                _refused(entry, outcome)
        return taken, [
            Transient(f"{topics.deliveries(entry.channel)}: {outcome}")
            for entry, outcome in told
            if isinstance(outcome, Transient)
        ]


def parts(entries: Sequence[OutboxEntry]) -> Iterator[list[OutboxEntry]]:
    """Cut entries into parts that the queue to Kafka takes at once."""
    most = PART_LIMIT_BYTES, PART_LIMIT_DELIVERIES
    return portions(entries, lambda entry: len(entry.value), *most)


def goes_now(new: NewDelivery) -> bool:
    """Tell whether a new delivery waits for nothing."""
    return new.suppression is None


def event_of(new: NewDelivery, now_ms: int) -> Outgoing:
    """Return what is told of a new delivery on `delivery-events`."""
    delivery, waits = new.delivery, new.suppression
    event = DeliveryEvent(
        delivery_id=delivery.delivery_id,
        alert_id=delivery.alert.alert_id,
        channel=delivery.channel,
        recipient=delivery.recipient,
        after=State.PENDING if waits is None else State.SUPPRESSED,
        reason="" if waits is None else waits.why,
        at_ms=now_ms,
    )
    return Outgoing(topics.DELIVERY_EVENTS, delivery.delivery_id, event.encode())


def _outgoing(entry: OutboxEntry) -> Outgoing:
    return Outgoing(topics.deliveries(entry.channel), entry.delivery_id, entry.value)


def _refused(entry: OutboxEntry, outcome: Trouble) -> None:
    metrics.REFUSED.labels(entry.channel).inc()
    log.error(
        "delivery_not_publishable",
        delivery_id=entry.delivery_id,
        channel=entry.channel,
        reason=str(outcome),
    )
