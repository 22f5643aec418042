"""Whether all auditors raise the same alerts: plain state over times that are passed in.

An alert that one auditor raised and another did not is a disagreement once the other has been in
step for the whole time that it is given. An auditor that is dead, starting or catching up is out of
step: its time begins when it is back. What an auditor raises late, from an old event, begins no
comparison, for the others have raised it long ago. Nor is silence a disagreement of one that takes
the watch to be something else: a change reaches one auditor after the other.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

OPEN_LIMIT: Final = 10_000
"""Alerts that are compared at once; beyond it the oldest are given up."""
AGREED_LIMIT: Final = 50_000
"""Alerts of which it is remembered that all have raised them."""

Steps = Mapping[tuple[str, str], float]
"""By watch and auditor, the seconds for which it has answered every heartbeat in time."""
Marks = Mapping[tuple[str, str], str]
"""By watch and auditor, what it takes the watch to be now; empty: it does not tell."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An alert as one auditor raised it; `mark` is what it took the watch to be."""

    alert_id: str
    watch: str
    auditor: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An alert that `missing` should have raised long ago; times are of one monotonic clock."""

    alert_id: str
    watch: str
    raised_by: tuple[str, ...]
    missing: str
    since_seconds: float


@dataclass
class Shown:
    """The disagreements that last, replaced as a whole: one thread writes, others read."""

    disagreements: tuple[Disagreement, ...] = ()


@dataclass(slots=True)
class _Compared:
    watch: str
    mark: str
    since_seconds: float
    raised_by: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)


@dataclass
class Agreement:
    """Compares what `auditors` raise; of fewer than two there is nothing to compare.

    Each has `agree_seconds`; an alert is late if its newest event is older than `late_seconds`.
    """

    agree_seconds: float
    late_seconds: float
    auditors: frozenset[str] = frozenset()
    given_up: int = 0
    """Alerts that were compared no further, for lack of room or of knowledge."""
    _open: "OrderedDict[str, _Compared]" = field(default_factory=OrderedDict)
    _agreed: "OrderedDict[str, None]" = field(default_factory=OrderedDict)
    _late: dict[tuple[str, str], float] = field(default_factory=dict)

    def raised(self, found: Raised, age_seconds: float, now: float) -> list[Disagreement]:
        """Note an alert, `age_seconds` after its newest event; return what it ends."""
        alert_id, auditor = found.alert_id, found.auditor
        late = age_seconds > self.late_seconds
        if late and auditor in self.auditors:
            self._late[found.watch, auditor] = now
        if auditor not in self.auditors:
            return []
        if alert_id in self._agreed:
            self.remember(alert_id)
            return []
        compared = self._open.get(alert_id)
        if compared is None:
            if late or len(self.auditors) < 2:
                return []
            compared = self._begin(found, now)
        ended = self._disagreements(alert_id, compared, compared.missing & {auditor})
        compared.raised_by.add(auditor)
        compared.missing.discard(auditor)
        if compared.raised_by >= self.auditors:
            self._agree(alert_id)
        return ended

    def judge(self, now: float, steps: Steps, marks: Marks) -> list[Disagreement]:
        """Return the disagreements that are new."""
        found: list[Disagreement] = []
        for alert_id, compared in list(self._open.items()):
            if now - compared.since_seconds < self.agree_seconds:
                break
            if self._is_of_the_past(compared, marks):
                del self._open[alert_id]
                self.given_up += 1
                continue
            silent = {
                auditor
                for auditor in self.auditors - compared.raised_by - compared.missing
                if self._had_its_time(compared, auditor, now, steps)
                and _same(compared.mark, marks.get((compared.watch, auditor), ""))
            }
            compared.missing |= silent
            found += self._disagreements(alert_id, compared, silent)
        return found

    def forget(self) -> None:
        """Give up all comparisons: what was raised meanwhile is not known."""
        self.given_up += len(self._open)
        self._open.clear()

    def due(self, now: float) -> bool:
        """Tell whether any alert has waited long enough to be judged."""
        oldest = next(iter(self._open.values()), None)
        return oldest is not None and now - oldest.since_seconds >= self.agree_seconds

    def disagreements(self) -> list[Disagreement]:
        """Return all that last, the oldest first."""
        return [
            each
            for alert_id, compared in self._open.items()
            for each in self._disagreements(alert_id, compared, compared.missing)
        ]

    def remember(self, alert_id: str) -> None:
        """Compare this alert no more; what is raised again and again is remembered for longest."""
        self._agreed[alert_id] = None
        self._agreed.move_to_end(alert_id)
        if len(self._agreed) > AGREED_LIMIT:
            self._agreed.popitem(last=False)

    def _is_of_the_past(self, compared: _Compared, marks: Marks) -> bool:
        """Tell whether no auditor takes the watch any more to be what it was for this alert."""
        now = [marks.get((compared.watch, auditor), "") for auditor in self.auditors]
        return not compared.missing and not any(_same(compared.mark, mark) for mark in now)

    def _begin(self, raised: Raised, now: float) -> _Compared:
        if len(self._open) >= OPEN_LIMIT:
            self._open.popitem(last=False)
            self.given_up += 1
        compared = self._open[raised.alert_id] = _Compared(raised.watch, raised.mark, now)
        return compared

    def _agree(self, alert_id: str) -> None:
        del self._open[alert_id]
        self.remember(alert_id)

    def _had_its_time(self, compared: _Compared, auditor: str, now: float, steps: Steps) -> bool:
        pair = compared.watch, auditor
        since_late = now - self._late[pair] if pair in self._late else self.agree_seconds
        return min(steps.get(pair, 0.0), since_late) >= self.agree_seconds

    def _disagreements(
        self, alert_id: str, compared: _Compared, missing: set[str]
    ) -> list[Disagreement]:
        by, since = tuple(sorted(compared.raised_by)), compared.since_seconds
        return [Disagreement(alert_id, compared.watch, by, each, since) for each in sorted(missing)]


def _same(mark: str, other: str) -> bool:
    """Tell whether both can be the same declaration: who does not tell is believed."""
    return not mark or not other or mark == other
