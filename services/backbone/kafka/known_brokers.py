"""Notices a client that has forgotten every broker, a fault of librdkafka (its issue 5301).

A broker that its controller has fenced, at its start or under load, answers that there are topics
and no brokers. The client then drops all brokers, those of its settings too, and mostly never asks
anybody again. Only a new client finds them.
"""

from typing import Any, Final

import orjson

TELL_EVERY_MS: Final = 2000
FORGOTTEN_TIMES: Final = 2
"""So often in a row a client must know none: a client that starts over knows none for a moment."""
_BROKERS: Final = frozenset({"configured", "learned"})
"""Sources of what is a broker; others are the client's own, for example its coordinator."""


class KnownBrokers:
    """What one client says that it knows; said whenever the client is polled."""

    def __init__(self) -> None:
        self._none_known = 0

    def config(self) -> dict[str, Any]:
        """Return what the client is told."""
        return {"statistics.interval.ms": TELL_EVERY_MS, "stats_cb": self.note}

    def note(self, statistics: str) -> None:
        """Take in the client's statistics, JSON."""
        known = orjson.loads(statistics)["brokers"].values()
        is_any = any(each["source"] in _BROKERS for each in known)
        self._none_known = 0 if is_any else self._none_known + 1

    def are_forgotten(self) -> bool:
        """Tell whether the client has to be replaced."""
        return self._none_known >= FORGOTTEN_TIMES
