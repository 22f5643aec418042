"""Counts what the bus channel wrote, record by record."""

import uuid
from collections import Counter

from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Consumer
from services.backbone.settings import KafkaSettings

QUIET_POLLS = 5
POLL_SECONDS = 0.2


class Notifications:
    """Reads one topic from its beginning; keeps count over outages of brokers."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        settings = KafkaSettings(kafka_bootstrap_servers=bootstrap)
        self._consumer = Consumer(settings, "chaos", group=uuid.uuid4().hex, topics=[topic])
        self._counts: Counter[str] = Counter()

    def counted(self) -> Counter[str]:
        """Read on until nothing comes any more; return the records per delivery id so far."""
        quiet = 0
        while not self._consumer.assigned() or quiet < QUIET_POLLS:
            batch = self._polled()
            quiet = 0 if batch else quiet + 1
            self._counts.update(batch)
        return Counter(self._counts)

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _polled(self) -> list[str]:
        try:
            batch = self._consumer.batch(500, POLL_SECONDS)
        except Transient:
            return []
        return [(each.key or b"").decode() for each in batch]
