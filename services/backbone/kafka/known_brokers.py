"""Notices a client that has forgotten every broker, a fault of librdkafka (its issue 5301).

A broker that its controller has fenced, at its start or under load, answers that there are topics
and no brokers. The client then drops all brokers, those of its settings too, and mostly never asks
anybody again. Only a new client finds them. One that something in the client still holds on to
stays in its list, and is never connected to again: its state is then INIT for ever.
"""

from typing import Any, Final

import orjson

TELL_EVERY_MS: Final = 2000
FORGOTTEN_TIMES: Final = 2
"""So often in a row a client must know none: a client that starts over knows none for a moment."""
_BROKERS: Final = frozenset({"configured", "learned"})
"""Sources of what is a broker; others are the client's own, for example its coordinator."""
_UNTOUCHED: Final = "INIT"
"""A broker's state until somebody wants something of it."""
_SERVED: Final = "up"
"""A group's state while its member knows its coordinator."""


class KnownBrokers:
    """What one client says that it knows; said whenever the client is polled."""

    def __init__(self) -> None:
        self._none_known = 0

    def config(self) -> dict[str, Any]:
        """Return what the client is told."""
        return {"statistics.interval.ms": TELL_EVERY_MS, "stats_cb": self.note}

    def note(self, statistics: str) -> None:
        """Take in the client's statistics, JSON."""
        said = orjson.loads(statistics)
        states = [each["state"] for each in said["brokers"].values() if each["source"] in _BROKERS]
        is_known = any(state != _UNTOUCHED for state in states) or (states and not _needs_any(said))
        self._none_known = 0 if is_known else self._none_known + 1

    def are_forgotten(self) -> bool:
        """Tell whether the client has to be replaced."""
        return self._none_known >= FORGOTTEN_TIMES


def _needs_any(said: dict[str, Any]) -> bool:
    """Tell whether records wait to be written, or a member looks for its group's coordinator."""
    group: str = said.get("cgrp", {}).get("state", _SERVED)
    return bool(said["msg_cnt"]) or group != _SERVED
