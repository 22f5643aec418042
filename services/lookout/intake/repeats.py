"""The first sieve: ids of alerts that are settled for sure, in bounded memory.

It only spares the ledger work. What it has forgotten, the ledger still drops.
"""

from collections import OrderedDict
from collections.abc import Iterable


class SettledAlerts:
    """The most recent alerts that are recorded and published; the oldest are forgotten."""

    def __init__(self, limit_alerts: int) -> None:
        self._limit_alerts = limit_alerts
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, alert_id: str) -> bool:
        if alert_id not in self._ids:
            return False
        self._ids.move_to_end(alert_id)
        return True

    def add(self, alert_ids: Iterable[str]) -> None:
        """Remember alerts that need nothing more."""
        for alert_id in alert_ids:
            self._ids[alert_id] = None
            self._ids.move_to_end(alert_id)
        while len(self._ids) > self._limit_alerts:
            self._ids.popitem(last=False)

    def clear(self) -> None:
        """Forget all: some may not be settled after all."""
        self._ids.clear()

    def __len__(self) -> int:
        return len(self._ids)
