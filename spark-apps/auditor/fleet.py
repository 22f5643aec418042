"""All watches of one auditor: looked after in turn, told about together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from auditor import metrics
from auditor.batches.stagger import Phase
from auditor.queries.declared import Declared
from auditor.queries.query import Recipe
from auditor.supervision import Supervised
from services.backbone.errors import Transient


@dataclass(frozen=True, slots=True)
class Running:
    """One watch under supervision, and what it was made from."""

    declared: Declared
    recipe: Recipe
    supervised: Supervised
    slots: int
    """Tasks that it runs at once."""
    phase: Phase
    """When its batches should end."""


class Fleet:
    """Every watch that runs or should; the health page's thread may ask at any time."""

    def __init__(self, running: Iterable[Running] = ()) -> None:
        self._running: Mapping[str, Running] = {}
        self._missing: Mapping[str, str] = {}
        for one in running:
            self.put(one.declared.name, one)

    @property
    def running(self) -> Mapping[str, Running]:
        """What is looked after now, by watch."""
        return self._running

    @property
    def missing(self) -> Mapping[str, str]:
        """Why watches that ran before, and should run, cannot start."""
        return self._missing

    def put(self, name: str, running: Running) -> None:
        """Look after this watch from now on; the caller has seen to one of the same name."""
        self._running = {**self._running, name: running}
        self._missing = {other: why for other, why in self._missing.items() if other != name}
        metrics.begin(name)
        metrics.STOPPED.labels(name).set(0)

    def take(self, name: str) -> Running:
        """No longer look after this watch; the caller ends its query."""
        taken = self._running[name]
        self._running = {other: one for other, one in self._running.items() if other != name}
        return taken

    def comes_to_rest(self, name: str) -> bool:
        """Break off what is done for a watch in trouble; return whether nothing is done for it."""
        return self._running[name].supervised.comes_to_rest()

    def miss(self, name: str, reason: str) -> None:
        """Be not ready for want of this watch, until it runs or need not."""
        self._missing = {**self._missing, name: reason}
        metrics.begin(name)
        metrics.STOPPED.labels(name).set(1)

    def excuse(self, name: str) -> None:
        """No longer want this watch, which is missing."""
        self._missing = {other: why for other, why in self._missing.items() if other != name}
        metrics.forget(name)

    def look(self) -> None:
        """Look after every watch once.

        Raises:
            Transient: all watches that could run fail again and again: a new process may help,
                and nothing that works is lost by ending this one.
            Ended: what is done for one watch cannot be brought to an end.
        """
        for one in self._running.values():
            one.supervised.look()
        hopeful = [each for each in self._all() if each.stopped is None]
        failing = [each.record.failing for each in hopeful if each.record.failing is not None]
        if failing and len(failing) == len(hopeful):
            raise Transient(f"every watch failed too often, last: {failing[-1]}")

    def stop(self) -> None:
        """End every query; what is done for watches in trouble ends at once for all of them."""
        for each in self._all():
            each.comes_to_rest()
        for each in self._all():
            each.stop()

    def not_ready(self) -> str | None:
        """Say what does not run, and why; None when every watch runs."""
        waits = [each.not_ready() for each in self._all() if each.stopped is None]
        missing = [f"watch {name} cannot start: {why}" for name, why in self._missing.items()]
        lacking = [*missing, *self._stopped(), *(wait for wait in waits if wait)]
        return "; ".join(lacking) or None

    def notes(self) -> str | None:
        """Say what people should see to, although other watches do their work."""
        failing = [
            f"watch {each.watched.name} fails again and again: {each.record.failing}"
            for each in self._all()
            if each.record.failing is not None
        ]
        return "; ".join([*self._stopped(), *failing]) or None

    def _all(self) -> list[Supervised]:
        return [one.supervised for one in self._running.values()]

    def _stopped(self) -> list[str]:
        return [each.stopped for each in self._all() if each.stopped is not None]
