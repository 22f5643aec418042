"""Judgement in the slowest and plainest way: every rule is looked at, nothing is indexed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.backbone.ledger.alerts.suppressions import Kind
from services.contracts.records import Alert
from services.lookout.matching import Match
from services.lookout.routing import Inhibition, Instruction, SilenceRule
from services.lookout.standing import Fired, Silence, Standing, found_at, inhibits


@dataclass
class World:
    """All alerts that ever fired, without any index, and who has acknowledged."""

    silences: list[Silence]
    windows: list[SilenceRule]
    inhibitions: list[Inhibition]
    sources: list[Alert]

    def standing(self, at: datetime) -> Standing:
        fired: dict[str, tuple[Fired, ...]] = {}
        for source in self.sources:
            for key in inhibits(self.inhibitions, source, at):
                fired[key] = (*fired.get(key, ()), Fired(source.alert_id, found_at(source)))
        rules = (tuple(self.silences), tuple(self.windows), tuple(self.inhibitions))
        return Standing(*rules, fired)

    def held(self, told: Instruction, alert: Alert, at: datetime) -> tuple[Kind, datetime] | None:
        """Look at every rule, one after the other, in the sequence that the docs promise."""
        silent = [
            (fitting(s.match, alert, at, s.ends_at), f"silence:{s.silence_id}", Kind.SILENCE)
            for s in self.silences
            if s.starts_at <= at < s.ends_at and s.match.fits(alert, at)
        ]
        for w in self.windows:
            if (until := w.silent_until(at)) is not None and w.match.fits(alert, at):
                until = fitting(w.match, alert, at, until)
                silent.append((until, f"window:{w.name}", Kind.WINDOW))
        if silent:
            until, _, kind = max(silent)
            return kind, until
        muted = [
            fitting(i.muted, alert, at, found_at(source) + timedelta(seconds=i.for_seconds))
            for i in self.inhibitions
            for source in self.sources
            if self.mutes(i, source, alert, at)
        ]
        if muted:
            return Kind.INHIBITION, max(muted)
        if told.quiet is not None:
            each_until = [
                replace(each, others=()).quiet_until(at)
                for each in (told.quiet, *told.quiet.others)
                if alert.severity not in each.unless
            ]
            ends = [until for until in each_until if until is not None]
            if len(ends) == 1 + len(told.quiet.others):
                return Kind.QUIET, min(ends)
        if told.grouping is not None:
            return Kind.GROUP, at + timedelta(seconds=told.grouping.wait_seconds)
        return None

    @staticmethod
    def mutes(inhibition: Inhibition, source: Alert, alert: Alert, at: datetime) -> bool:
        if source.alert_id == alert.alert_id or inhibition.source.fits(alert, at):
            return False
        if not inhibition.source.fits(source, at) or not inhibition.muted.fits(alert, at):
            return False
        if at >= found_at(source) + timedelta(seconds=inhibition.for_seconds):
            return False
        return all(plain(source, name) == plain(alert, name) for name in inhibition.equal)


def fitting(match: Match, alert: Alert, at: datetime, until: datetime) -> datetime:
    """Return the first of a day's hours at which the alert fits no more; at last the given end."""
    hours = [at + timedelta(hours=each) for each in range(25)]
    return next((each for each in hours if each < until and not match.fits(alert, each)), until)


def plain(alert: Alert, name: str) -> str:
    fields: Mapping[str, str | None] = {
        "watch": alert.watch,
        "severity": alert.severity,
        **{f"labels.{key}": value for key, value in alert.labels.items()},
        **{f"key.{key}": value for key, value in alert.key.items()},
    }
    return fields.get(name) or ""
