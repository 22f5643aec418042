"""What stands now, kept in memory for the hot path and read anew from the ledger each second."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from services.backbone.clock import Clock
from services.backbone.ledger.inhibitors import INHIBITORS_LIMIT, InhibitorRow, Inhibitors
from services.backbone.ledger.silences import Silences
from services.lookout.routing import Routes
from services.lookout.silencing import read_silences
from services.lookout.standing import Fired, Silence, Standing

OWN_SECONDS: Final = 30.0
"""How long an alert of our own is kept in mind whether or not the ledger shows it yet."""
SOURCES_LIMIT: Final = 8
"""Alerts kept per inhibition and group of equal fields; the newest count."""

Sources = Mapping[str, tuple[Fired, ...]]
Firing = tuple[str, Fired]


class Circumstances:
    """Silences and fired inhibitors; the pipeline reads them, the keeper refreshes them."""

    def __init__(self, silences: Silences, inhibitors: Inhibitors, clock: Clock) -> None:
        self._silences = silences
        self._inhibitors = inhibitors
        self._clock = clock
        self._lock = threading.Lock()
        self._spoken: tuple[Silence, ...] = ()
        self._fired: Sources = {}
        self._own: deque[tuple[float, Firing]] = deque(maxlen=INHIBITORS_LIMIT)

    def refresh(self, routes: Routes) -> None:
        """Read anew what stands.

        Raises:
            Transient: Postgres is away; what stood before still does.
        """
        spoken = read_silences(self._silences.standing(), routes.times)
        rows = self._fresh(routes)
        with self._lock:
            self._spoken = spoken
            self._fired = _sources(rows, self._recent())

    def standing(self, routes: Routes) -> Standing:
        """Return what stands now under these routes."""
        return Standing(self._spoken, routes.silences, routes.inhibitions, self._fired)

    def fire(self, firings: Iterable[Firing]) -> None:
        """Add alerts that inhibit others from now on, by their keys."""
        now = self._clock.monotonic_seconds()
        with self._lock:
            fired = dict(self._fired)
            for key, source in firings:
                self._own.append((now, (key, source)))
                fired[key] = _newest((*fired.get(key, ()), source))
            self._fired = fired

    def _fresh(self, routes: Routes) -> list[InhibitorRow]:
        if not routes.inhibitions:
            return []
        return self._inhibitors.fresh(max(each.for_seconds for each in routes.inhibitions))

    def _recent(self) -> list[Firing]:
        """What was fired here moments ago may not be committed when the ledger is read."""
        now = self._clock.monotonic_seconds()
        while self._own and self._own[0][0] < now - OWN_SECONDS:
            self._own.popleft()
        return [firing for _, firing in self._own]


def _sources(rows: Iterable[InhibitorRow], own: Iterable[Firing]) -> Sources:
    rows = list(rows)
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
