"""Reads the channel's topic on a thread of its own; the topic only wakes, the ledger decides.

An offset is committed when every delivery up to it is known to have a row in the ledger. From
then on nothing depends on the message: what was not claimed at once is found by its row. A mirror
claims beside another deliverer what both are told of (docs/decisions/0018-mirrored-deliverers.md).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.log import logger
from services.backbone.loop import ConsumerLoop
from services.backbone.mirror import LeftToTheOther, open_consumer
from services.backbone.reading import Reading
from services.backbone.service import Life
from services.contracts import topics
from services.contracts.records import Delivery, Rejected
from services.deliverer import metrics
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.settings import DelivererSettings

log = logger(__name__)

PROGRAM = "deliverer"
BATCH_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Arrival:
    """A delivery as it came: read, and as bytes."""

    delivery: Delivery
    original: bytes

    @classmethod
    def decode(cls, value: bytes) -> "Arrival":
        """Read a message.

        Raises:
            Malformed: with the place and the reason.
        """
        return cls(Delivery.decode(value), value)


@dataclass(frozen=True)
class Inbox:
    """Hands what the topic tells to the event loop, one bounded batch after the other."""

    settings: DelivererSettings
    dispatcher: Dispatcher
    producer: Producer
    life: Life
    loop: asyncio.AbstractEventLoop
    reading: Reading

    @property
    def channel(self) -> str:
        """The channel whose deliveries are read."""
        return self.settings.channel

    def run(self) -> None:
        """Read until the life's stop; blocks, so call it on a thread."""
        topic = topics.deliveries(self.channel)
        consumer = open_consumer(self.settings, PROGRAM, f"{PROGRAM}-{self.channel}", topic)
        try:
            ConsumerLoop(
                PROGRAM,
                consumer,
                LeftToTheOther() if self.settings.is_mirror else self.producer,
                Arrival.decode,
                self._step,
                self.life,
                batch_limit=BATCH_LIMIT,
                on_turn=lambda: self.reading.turn(consumer),
                behind_seconds=self.settings.behind_seconds,
            ).run()
        finally:
            consumer.close()

    def _step(self, batch: Sequence[Arrival]) -> None:
        own = [arrival.delivery for arrival in batch if arrival.delivery.channel == self.channel]
        is_mirror = self.settings.is_mirror
        take = self.dispatcher.take_left if is_mirror else self.dispatcher.take
        unknown = asyncio.run_coroutine_threadsafe(take(own), self.loop).result()
        lost = [
            arrival
            for arrival in batch
            if arrival.delivery.channel != self.channel or arrival.delivery.delivery_id in unknown
        ]
        if lost and not is_mirror:
            self.producer.write([self._rejected(arrival) for arrival in lost])

    def _rejected(self, arrival: Arrival) -> Outgoing:
        """Keep aside what the ledger does not know: without a row nobody may send it."""
        delivery = arrival.delivery
        log.error(
            "not_in_ledger", delivery_id=delivery.delivery_id, alert_id=delivery.alert.alert_id
        )
        metrics.NOT_IN_LEDGER.inc()
        topic = topics.deliveries(self.channel)
        record = Rejected.of(
            topic=topic,
            source=PROGRAM,
            reason="not in the ledger",
            detail=f"the ledger has no row {delivery.delivery_id} of channel {self.channel}",
            original=arrival.original,
            at_ms=self.life.clock.now_ms(),
        )
        return Outgoing(topics.rejected(topic), delivery.delivery_id, record.encode())
