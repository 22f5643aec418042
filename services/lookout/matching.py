"""Conditions of a route, silence or inhibition: pure functions of an alert and a moment."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from services.contracts.records import Alert, Severity
from services.lookout.week_times import WeekTimes

Patterns = tuple[str, ...]
"""One of them must fit; `*` stands for any text, `?` for one character, `[ab]` for one of these."""


@dataclass(frozen=True, slots=True)
class Match:
    """Conditions that must all hold; None, no labels and no times stand for any alert."""

    watch: Patterns | None = None
    severity: frozenset[Severity] | None = None
    labels: tuple[tuple[str, Patterns], ...] = ()
    times: tuple[WeekTimes, ...] = ()

    def fits(self, alert: Alert, at: datetime) -> bool:
        """Tell whether the alert meets every condition at this moment."""
        return self.misfit(alert, at) is None

    def misfit(self, alert: Alert, at: datetime) -> str | None:
        """Return the first condition that does not hold, as a sentence; None if all do."""
        if self.watch is not None and not any_fits(self.watch, alert.watch):
            return f"watch {alert.watch} is not {_any(self.watch)}"
        if self.severity is not None and alert.severity not in self.severity:
            return f"severity {alert.severity} is not {_any(sorted(self.severity))}"
        for name, patterns in self.labels:
            if not (value := alert.label(name)):
                return f"the alert has no label {name}"
            if not any_fits(patterns, value):
                return f"label {name} = {value} is not {_any(patterns)}"
        missed = next((each for each in self.times if not each.contains(at)), None)
        return None if missed is None else _missed(missed)

    def fits_until(self, at: datetime) -> datetime | None:
        """Return when what fits at this moment fits no more; None where time changes nothing."""
        ends = (each.until_outside(at) for each in self.times)
        return min((each for each in ends if each is not None), default=None)

    def covers(self, other: "Match") -> bool:
        """Tell whether whatever fits `other` surely fits this; False where that is not sure."""
        if self.watch is not None and not _cover(self.watch, other.watch or ("*",)):
            return False
        if not _severities(self) >= _severities(other):
            return False
        return set(self.times) <= set(other.times) and self._labels_cover(other)

    def _labels_cover(self, other: "Match") -> bool:
        wanted = dict(other.labels)
        return all(
            name in wanted and _cover(patterns, wanted[name]) for name, patterns in self.labels
        )


def is_plain(pattern: str) -> bool:
    """Tell whether only one text fits: the pattern itself."""
    return not any(letter in pattern for letter in "*?[")


def any_fits(patterns: Iterable[str], text: str) -> bool:
    """Tell whether a text fits one of the patterns."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def apart(some: Patterns | None, others: Patterns | None) -> bool:
    """Tell whether no text fits both, for sure; two patterns are taken to have one in common.

    None stands for any text.
    """
    if some is None or others is None:
        return False
    return not any(_may_share(one, other) for one in some for other in others)


def _may_share(one: str, other: str) -> bool:
    if is_plain(other):
        return fnmatchcase(other, one)
    return fnmatchcase(one, other) if is_plain(one) else True


def _any(patterns: Iterable[str]) -> str:
    return " or ".join(patterns)


def _missed(times: WeekTimes) -> str:
    return f"it is {times.name} now" if times.inverse else f"it is not {times.name} now"


def _severities(match: Match) -> frozenset[Severity]:
    return frozenset(Severity) if match.severity is None else match.severity


def _cover(patterns: Iterable[str], others: Iterable[str]) -> bool:
    return all(any(_covers(pattern, other) for pattern in patterns) for other in others)


def _covers(pattern: str, other: str) -> bool:
    return pattern in ("*", other) or (is_plain(other) and fnmatchcase(other, pattern))
