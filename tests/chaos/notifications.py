"""Counts what the bus channel wrote, record by record."""

import uuid
from collections import Counter

from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Consumer, Ends
from services.backbone.settings import KafkaSettings

POLL_SECONDS = 0.2
ASK_TIMEOUT_SECONDS = 5.0


class Notifications:
    """Reads one topic from its beginning; keeps count over outages of brokers."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        settings = KafkaSettings(kafka_bootstrap_servers=bootstrap)
        self._consumer = Consumer(settings, "chaos", group=uuid.uuid4().hex, topics=[topic])
        self._counts: Counter[str] = Counter()
        self._read: Ends = {}

    def counted(self) -> Counter[str]:
        """Read all that the brokers have; return the records per delivery id so far.

        Silence is not the end: after an outage the client takes a while to come back.
        """
        ends = self._ends()
        while any(self._read.get(place, 0) < end for place, end in ends.items()):
            self._take()
        return Counter(self._counts)

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _ends(self) -> Ends:
        while True:
            self._take()
            try:
                return self._consumer.ends(ASK_TIMEOUT_SECONDS)
            except Transient:
                continue

    def _take(self) -> None:
        try:
            batch = self._consumer.batch(500, POLL_SECONDS)
        except Transient:
            return
        for each in batch:
            self._counts[(each.key or b"").decode()] += 1
            self._read[each.topic, each.partition] = each.offset + 1
