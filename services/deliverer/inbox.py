"""Reads the channel's topic on a thread of its own; the topic only wakes, the ledger decides.

An offset is committed when every delivery up to it is known to have a row in the ledger. From
then on nothing depends on the message: what was not claimed at once is found by its row.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.log import logger
from services.backbone.loop import ConsumerLoop
from services.backbone.reading import Reading
from services.backbone.service import Life
from services.backbone.settings import KafkaSettings
from services.contracts import topics
from services.contracts.records import Delivery, Rejected
from services.deliverer import metrics
from services.deliverer.dispatcher import Dispatcher

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

    channel: str
    dispatcher: Dispatcher
    producer: Producer
    life: Life
    loop: asyncio.AbstractEventLoop
    reading: Reading

    def run(self, settings: KafkaSettings) -> None:
        """Read until the life's stop; blocks, so call it on a thread."""
        group = f"{PROGRAM}-{self.channel}"
        topic = topics.deliveries(self.channel)
        consumer = Consumer(settings, PROGRAM, group=group, topics=[topic])
        try:
            ConsumerLoop(
                PROGRAM,
                consumer,
                self.producer,
                Arrival.decode,
                self._step,
                self.life,
                batch_limit=BATCH_LIMIT,
                on_turn=lambda: self.reading.turn(consumer),
            ).run()
        finally:
            consumer.close()

    def _step(self, batch: Sequence[Arrival]) -> None:
        own = [arrival.delivery for arrival in batch if arrival.delivery.channel == self.channel]
        taken = asyncio.run_coroutine_threadsafe(self.dispatcher.take(own), self.loop)
        unknown = taken.result()
        lost = [
            arrival
            for arrival in batch
            if arrival.delivery.channel != self.channel or arrival.delivery.delivery_id in unknown
        ]
        if lost:
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
