"""Asks from time to time whether the brokers answer and have the topics that are written to."""

from collections.abc import Callable, Collection, Mapping

from services.backbone.errors import Transient


class BrokerWatch:
    """Keeps the last answer, so that a readiness check never waits."""

    def __init__(self, topics: Collection[str], ask: Callable[[], Mapping[str, int]]) -> None:
        self._topics = frozenset(topics)
        self._ask = ask
        self._complaint: str | None = "Kafka has not been asked yet"

    def look(self) -> None:
        """Ask now; may wait for the answer."""
        try:
            missing = self._topics - self._ask().keys()
        except Transient as error:
            self._complaint = str(error)
            return
        names = ", ".join(sorted(missing))
        self._complaint = f"no topic {names}: run python -m services.topics" if missing else None

    def complaint(self) -> str | None:
        """Return what was wrong when last asked, or None."""
        return self._complaint
