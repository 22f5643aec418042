"""What was written becomes alerts, once each, and two versions are compared. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.contracts.records import Alert, Malformed
from services.contracts.rehearsals import ALERTS_SHOWN, By, Raised


@dataclass(frozen=True, slots=True)
class Found:
    """One alert: its first finding, and how often it was found."""

    alert: Alert
    times: int


@dataclass(frozen=True, slots=True)
class Written:
    """What one version wrote: alerts by id, and how many records no lookout would take."""

    found: Mapping[str, Found]
    unusable: int = 0


def written(texts: Iterable[str], until_ms: int) -> Written:
    """Return what was written, without what is of later events."""
    found: dict[str, Found] = {}
    unusable = 0
    for text in texts:
        try:
            alert = Alert.decode(text.encode())
        except Malformed:
            unusable += 1
            continue
        if alert.appended_at_ms <= until_ms:
            before = found.get(alert.alert_id)
            found[alert.alert_id] = Found(before.alert if before else alert, _times(before) + 1)
    return Written(found, unusable)


def _times(found: Found | None) -> int:
    return found.times if found else 0


def compared(new: Mapping[str, Found], live: Mapping[str, Found] | None) -> list[Raised]:
    """Return all alerts: those of one version only first, then the newest first.

    Without a live version all are `new`.
    """
    told = [_raised(each, _by(name, new, live)) for name, each in ({**(live or {}), **new}).items()]
    return sorted(told, key=lambda each: (each.by == "both", -each.appended_at_ms, each.alert_id))


def counts(raised: Iterable[Raised]) -> dict[By, int]:
    """Return how many alerts were raised by which version."""
    counted: dict[By, int] = {"new": 0, "live": 0, "both": 0}
    for each in raised:
        counted[each.by] += 1
    return counted


def shown(raised: list[Raised]) -> tuple[Raised, ...]:
    """Return as many as an answer lists."""
    return tuple(raised[:ALERTS_SHOWN])


def _by(name: str, new: Mapping[str, Found], live: Mapping[str, Found] | None) -> By:
    if live is None or name not in live:
        return "new"
    return "both" if name in new else "live"


def _raised(found: Found, by: By) -> Raised:
    alert = found.alert
    return Raised(
        alert_id=alert.alert_id,
        by=by,
        severity=alert.severity,
        summary=alert.summary,
        key=alert.key,
        labels=alert.labels,
        appended_at_ms=alert.appended_at_ms,
        times=found.times,
    )
