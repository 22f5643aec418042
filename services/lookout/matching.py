"""Conditions of a route: which alerts it is for, as pure functions of values."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from services.contracts.records import Alert, Severity

Patterns = tuple[str, ...]
"""One of them must fit; `*` stands for any text, `?` for one character, `[ab]` for one of these."""


@dataclass(frozen=True, slots=True)
class Match:
    """Conditions that must all hold; None and no labels stand for any alert."""

    watch: Patterns | None = None
    severity: frozenset[Severity] | None = None
    labels: tuple[tuple[str, Patterns], ...] = ()

    def fits(self, alert: Alert) -> bool:
        """Tell whether the alert meets every condition."""
        if self.watch is not None and not _any_fits(self.watch, alert.watch):
            return False
        if self.severity is not None and alert.severity not in self.severity:
            return False
        return all(_label_fits(alert, name, patterns) for name, patterns in self.labels)

    def covers(self, other: "Match") -> bool:
        """Tell whether whatever fits `other` surely fits this; False where that is not sure."""
        if self.watch is not None and not _cover(self.watch, other.watch or ("*",)):
            return False
        if not _severities(self) >= _severities(other):
            return False
        return self._labels_cover(other)

    def _labels_cover(self, other: "Match") -> bool:
        wanted = dict(other.labels)
        return all(
            name in wanted and _cover(patterns, wanted[name]) for name, patterns in self.labels
        )


def _severities(match: Match) -> frozenset[Severity]:
    return frozenset(Severity) if match.severity is None else match.severity


def _any_fits(patterns: Patterns, text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _label_fits(alert: Alert, name: str, patterns: Patterns) -> bool:
    value = alert.labels.get(name)
    return value is not None and _any_fits(patterns, value)


def _cover(patterns: Patterns, others: Iterable[str]) -> bool:
    return all(any(_covers(pattern, other) for pattern in patterns) for other in others)


def _covers(pattern: str, other: str) -> bool:
    plain = not any(letter in other for letter in "*?[")
    return pattern in ("*", other) or (plain and fnmatchcase(other, pattern))
