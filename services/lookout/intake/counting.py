"""Counts dropped copies of alerts in memory, and has the ledger told of them in each round."""

import threading
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from services.backbone.errors import Transient
from services.contracts.records import Alert
from services.lookout import metrics

WAITING_LIMIT: Final = 50_000
"""Most alerts whose copies wait to be written; those of others are then not counted."""
TOGETHER_LIMIT: Final = 2000


class Book(Protocol):
    """What keeps the counts; see services/backbone/ledger/alerts/repeats.py."""

    def add(self, copies: Mapping[tuple[str, str], int]) -> None:
        """Add copies by alert id and auditor; raises Transient."""


@dataclass
class Repeats:
    """A duty of the keeper; `dropped` is called on the pipeline's thread and never waits.

    A kill loses the counts of a second; a batch that came again after an outage counts too.
    """

    book: Book
    name: str = "counting"
    _copies: Counter[tuple[str, str]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def dropped(self, alerts: Collection[Alert]) -> None:
        """Note copies that were dropped."""
        metrics.ALERTS.labels("repeat").inc(len(alerts))
        copies = Counter((each.alert_id, each.auditor) for each in alerts)
        with self._lock:
            if len(self._copies) < WAITING_LIMIT:
                self._copies.update(copies)

    def do(self) -> int:
        """Write one bounded part; return how many alerts it has.

        Raises:
            Transient: Postgres is away; the counts are kept.
        """
        part = self._taken()
        try:
            if part:
                self.book.add(part)
        except Transient:
            with self._lock:
                self._copies.update(part)
            raise
        return len(part)

    def close(self) -> None:
        """Write what is left, unless Postgres is away."""
        with suppress(Transient):
            while self.do():
                pass

    def _taken(self) -> dict[tuple[str, str], int]:
        with self._lock:
            keys = list(self._copies)[:TOGETHER_LIMIT]
            return {key: self._copies.pop(key) for key in keys}
