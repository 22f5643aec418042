"""Counts what the bus channel wrote, record by record."""

from collections import Counter

from services.backbone.settings import KafkaSettings
from tests.topic import WholeTopic


class Notifications:
    """Reads one topic from its beginning; keeps count over outages of brokers."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = WholeTopic(KafkaSettings(kafka_bootstrap_servers=bootstrap), topic)
        self._counts: Counter[str] = Counter()

    def counted(self) -> Counter[str]:
        """Read all that the brokers have; return the records per delivery id so far."""
        self._counts.update((each.key or b"").decode() for each in self._topic.read())
        return Counter(self._counts)

    def close(self) -> None:
        """Leave the group."""
        self._topic.close()
