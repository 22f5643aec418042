"""What stands at a moment: silences, maintenance windows, and alerts that inhibit others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final

from services.backbone.ledger.alerts.suppressions import Kind, Suppression
from services.contracts.ids import digest
from services.contracts.records import Alert
from services.lookout.matching import Match
from services.lookout.routing import Inhibition, SilenceRule

_LAST: Final = datetime.max.replace(tzinfo=UTC)
"""An alert may say that it was found in the year 9999, after which there is no time."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A person's word that some alerts are not to be sent from one moment to another."""

    silence_id: str
    match: Match
    starts_at: datetime
    ends_at: datetime
    author: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fired:
    """An alert that inhibits others, and when it was found."""

    alert_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything outside of an alert that its judgement needs, as one value.

    `fired` holds, by `inhibition_key`, the alerts that nobody has acknowledged.
    """

    silences: tuple[Silence, ...] = ()
    windows: tuple[SilenceRule, ...] = ()
    inhibitions: tuple[Inhibition, ...] = ()
    fired: Mapping[str, tuple[Fired, ...]] = field(default_factory=dict)

    @property
    def rules(self) -> int:
        """How many rules each alert is held against."""
        return len(self.silences) + len(self.windows) + len(self.inhibitions)

    def silenced(self, alert: Alert, at: datetime) -> Suppression | None:
        """Return the silence or window that holds this alert back for longest."""
        if not self.silences and not self.windows:
            return None
        spoken = (_spoken(each, alert, at) for each in self.silences)
        windows = (_window(each, alert, at) for each in self.windows)
        return _longest(chain(spoken, windows))

    def inhibited(self, alert: Alert, at: datetime) -> Suppression | None:
        """Return the inhibition that holds this alert back for longest.

        An alert that is itself a source of an inhibition is not muted by that one: of two such
        alerts each would hold back the other.
        """
        return _longest(
            self._inhibited(each, alert, at)
            for each in self.inhibitions
            if each.muted.fits(alert, at) and not each.source.fits(alert, at)
        )

    def _inhibited(self, inhibition: Inhibition, alert: Alert, at: datetime) -> Suppression | None:
        lasts = timedelta(seconds=inhibition.for_seconds)
        sources = self.fired.get(inhibition_key(inhibition, alert), ())
        fresh = [
            each for each in sources if at - each.at < lasts and each.alert_id != alert.alert_id
        ]
        if not fresh:
            return None
        latest = max(fresh, key=lambda each: (each.at, each.alert_id))
        why = f"inhibited by alert {latest.alert_id}, inhibition {inhibition.name}"
        end = latest.at + min(lasts, _LAST - latest.at)
        until = min(end, inhibition.muted.fits_until(at) or end)
        return Suppression(Kind.INHIBITION, inhibition.name, until, why)


def inhibition_key(inhibition: Inhibition, alert: Alert) -> str:
    """Return the same text for all alerts that are alike in what the inhibition asks for."""
    return digest("inhibition", inhibition.name, *(value(alert, each) for each in inhibition.equal))


def inhibits(inhibitions: Iterable[Inhibition], alert: Alert, at: datetime) -> tuple[str, ...]:
    """Return the keys by which an alert mutes others; most have none."""
    return tuple(inhibition_key(each, alert) for each in inhibitions if each.source.fits(alert, at))


def found_at(alert: Alert) -> datetime:
    """Return when an alert was found, from which its inhibitions count."""
    return datetime.fromtimestamp(alert.detected_at_ms / 1000, UTC)


def value(alert: Alert, name: str) -> str:
    """Return a field by its name in the routes: watch, severity, labels.<name> or key.<name>.

    What the alert does not have is empty, so alerts that both lack it are alike.
    """
    part, _, inner = name.partition(".")
    if not inner:
        return alert.watch if part == "watch" else alert.severity.value
    return alert.label(inner) if part == "labels" else alert.key.get(inner, "")


def _spoken(silence: Silence, alert: Alert, at: datetime) -> Suppression | None:
    if not silence.starts_at <= at < silence.ends_at or not silence.match.fits(alert, at):
        return None
    why = f"silenced by {silence.author}: {silence.reason}"
    until = min(silence.ends_at, silence.match.fits_until(at) or silence.ends_at)
    return Suppression(Kind.SILENCE, silence.silence_id, until, why)


def _window(window: SilenceRule, alert: Alert, at: datetime) -> Suppression | None:
    # To find when a window's times end takes a hundred times as long as to see whom it is for.
    until = window.silent_until(at) if window.match.fits(alert, at) else None
    if until is None:
        return None
    why = f"maintenance {window.name}, by {window.author}: {window.reason}"
    until = min(until, window.match.fits_until(at) or until)
    return Suppression(Kind.WINDOW, window.name, until, why)


def _longest(found: Iterable[Suppression | None]) -> Suppression | None:
    held = [each for each in found if each is not None]
    return max(held, key=lambda each: (each.until, each.by)) if held else None
