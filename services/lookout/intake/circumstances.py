"""What stands now, kept in memory for the hot path and read anew from the ledger each second."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from itertools import chain
from typing import Final

from services.backbone.clock import Clock
from services.backbone.ledger.alerts.inhibitors import INHIBITORS_LIMIT, InhibitorRow
from services.contracts.records import Alert
from services.lookout.routing import Routes
from services.lookout.standing import Fired, Silence, Standing, found_at, inhibits

OWN_SECONDS: Final = 30.0
"""How long an alert of our own is kept in mind whether or not the ledger shows it yet."""
SOURCES_LIMIT: Final = 8
"""Alerts kept per inhibition and group of equal fields; the newest count."""

Sources = Mapping[str, tuple[Fired, ...]]
Firing = tuple[str, Fired]


class Circumstances:
    """Silences and fired inhibitors; the pipeline reads them, the keeper refreshes them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._spoken: tuple[Silence, ...] = ()
        self._fired: Sources = {}
        self._own: deque[tuple[float, Firing]] = deque(maxlen=INHIBITORS_LIMIT)
        self._doubted: frozenset[str] = frozenset()
        self._acknowledged: frozenset[str] = frozenset()
        self._loosened = 0
        self._batch_under: tuple[str, int] | None = None

    def standing(self, routes: Routes) -> Standing:
        """Return what stands now under these routes."""
        with self._lock:
            return self._standing(routes)

    def standing_for_batch(self, routes: Routes) -> Standing:
        """Return what stands for a batch that is judged now; say when it is recorded.

        Of a batch that comes again the first time counts: it may have been recorded then.
        """
        with self._lock:
            self._batch_under = self._batch_under or (routes.version_id, self._loosened)
            return self._standing(routes)

    def batch_recorded(self, routes: Routes) -> None:
        """Have all that waits judged anew if some of a batch was recorded too late for that.

        The keeper may have walked before it was there, for what has ended since it was judged.
        """
        with self._lock:
            self._loosened += self._batch_under != (routes.version_id, self._loosened)

    def batch_settled(self) -> None:
        """Forget the batch: what becomes of each of its alerts is known."""
        self._batch_under = None

    @property
    def loosened(self) -> int:
        """How often all that waits had to be judged anew, whatever the routes say.

        For a silence that is over or another by now, an inhibiting alert that somebody has
        acknowledged, a copy of one that did more than the alert itself, or a batch that was
        recorded after that.
        """
        return self._loosened

    @property
    def doubted(self) -> frozenset[str]:
        """Those alerts that only the ledger, read from now on, can tell of."""
        return self._doubted

    def refresh(
        self,
        spoken: tuple[Silence, ...],
        rows: Sequence[InhibitorRow],
        doubted: Set[str] = frozenset(),
    ) -> None:
        """Take over what the ledger shows; what was fired here moments ago is kept beside it.

        Not so the firings of alerts that were `doubted` before the ledger was read.
        """
        acknowledged = frozenset(row.alert_id for row in rows if row.acknowledged)
        with self._lock:
            # Others under the same name too: the routes may name other times for it since.
            over = not set(self._spoken) <= set(spoken)
            left = self._leave(doubted)
            self._fired = _sources(rows, self._recent())
            did_more = any(source not in self._fired.get(key, ()) for key, source in left)
            self._loosened += over or did_more or not acknowledged <= self._acknowledged
            self._spoken, self._acknowledged = spoken, acknowledged

    def fire(self, routes: Routes, alerts: Iterable[Alert], at: datetime) -> None:
        """Add those of the alerts that inhibit others; they do so from now on."""
        if not routes.inhibitions:
            return
        firings = [
            (key, Fired(alert.alert_id, found_at(alert)))
            for alert in alerts
            for key in inhibits(routes.inhibitions, alert, at)
        ]
        if firings:
            self._add(firings)

    def doubt(self, alert_ids: Set[str]) -> None:
        """Leave it to the ledger what alerts inhibit that were not recorded now.

        A copy has a time of its own, and its alert may be over or acknowledged. It counts until the
        next refresh, since what was recorded moments ago may not be read yet.
        """
        if not alert_ids:
            return
        with self._lock:
            self._doubted |= alert_ids & {source.alert_id for _, (_, source) in self._own}

    def _standing(self, routes: Routes) -> Standing:
        return Standing(self._spoken, routes.silences, routes.inhibitions, self._fired)

    def _leave(self, doubted: Set[str]) -> list[Firing]:
        """Take back and return what doubted alerts have fired."""
        own = list(self._own)
        self._own.clear()
        self._own.extend(each for each in own if each[1][1].alert_id not in doubted)
        self._doubted -= doubted
        return [firing for _, firing in own if firing[1].alert_id in doubted]

    def _add(self, firings: Iterable[Firing]) -> None:
        now = self._clock.monotonic_seconds()
        with self._lock:
            fired = dict(self._fired)
            for key, source in firings:
                self._own.append((now, (key, source)))
                fired[key] = _newest((*fired.get(key, ()), source))
            self._fired = fired

    def _recent(self) -> list[Firing]:
        """What was fired here moments ago may not be committed when the ledger is read."""
        now = self._clock.monotonic_seconds()
        while self._own and self._own[0][0] < now - OWN_SECONDS:
            self._own.popleft()
        return [firing for _, firing in self._own]


def _sources(rows: Sequence[InhibitorRow], own: Iterable[Firing]) -> Sources:
    done = {row.alert_id for row in rows if row.acknowledged}
    recorded = ((key, Fired(row.alert_id, row.detected_at)) for row in rows for key in row.inhibits)
    fired: dict[str, list[Fired]] = {}
    for key, source in chain(recorded, own):
        if source.alert_id not in done:
            fired.setdefault(key, []).append(source)
    return {key: _newest(sources) for key, sources in fired.items()}


def _newest(sources: Iterable[Fired]) -> tuple[Fired, ...]:
    ordered = sorted(set(sources), key=lambda each: (each.at, each.alert_id), reverse=True)
    return tuple(ordered[:SOURCES_LIMIT])
