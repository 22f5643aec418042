"""Figures that several looks together give: rates, latencies, what waits. Pure functions."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from services.console.parts.looking import Look, Target
from services.console.parts.samples import Samples, growth, named, total

RATE_SECONDS: Final = 10.0
LATENCY_SECONDS: Final = 60.0

NONE: Final[Mapping[str, float]] = MappingProxyType({})

History = Mapping[Target, Sequence[Look]]
"""What was seen of each process, the oldest first."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Quantiles over the last minute, in milliseconds; None where nothing was measured."""

    p50_ms: float | None
    p99_ms: float | None
    count: int


@dataclass(frozen=True, slots=True)
class AuditorFigures:
    """One auditor, as its heartbeats see it."""

    auditor: str
    latency: Latency
    in_step: bool
    answer_age_seconds: float | None
    """None: it was never heard."""


@dataclass(frozen=True, slots=True)
class WatchFigures:
    """One watch, as all auditors run it; `behind_seconds` is the worst auditor's last commit, None
    where none runs it.

    The figures of a batch are None until one has ended.
    """

    watch: str
    rows_per_second: float | None
    findings_per_second: float | None
    behind_seconds: float | None
    stopped: bool
    processors: float | None
    state_bytes: float | None
    state_disk_bytes: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What the programs' metrics say together; None where no program tells it."""

    events_per_second: float | None
    refused: Mapping[str, float]
    """Events refused in the last hour, by stream, as far as this console has looked."""
    audited_per_second: float | None
    auditors: tuple[AuditorFigures, ...]
    watches: tuple[WatchFigures, ...]
    told: Latency
    """From an auditor's finding to its deliveries on their topics."""
    sent: Latency
    """From an auditor's finding to the first byte on its way to the provider."""
    unpublished: float | None
    overdue: Mapping[str, float]
    """Seconds for which the longest waiting delivery is due, by channel."""
    breakers: Mapping[str, float]
    """Destinations left alone for now, by channel."""
    findings: float | None
    """What the accountant has found wrong."""
    disagreements: float | None
    """Alerts that one auditor raised and another in step did not, as the heartbeats compare."""


def figures(history: History, refused: Mapping[str, float] = NONE) -> Figures:
    """Return what the newest looks say, and how much changed since earlier ones; what was
    `refused` in an hour stands in no look that is kept.
    """
    newest = [looks[-1] for looks in history.values() if looks]
    return Figures(
        events_per_second=_rate(history, "aldebaran_gateway_events_total", result="accepted"),
        refused=refused,
        audited_per_second=_newest(newest, "aldebaran_auditor_rows_per_second"),
        auditors=_auditors(history, newest),
        watches=_watches(newest),
        told=_latency(history, "aldebaran_lookout_detected_to_published_seconds_bucket"),
        sent=_latency(history, "aldebaran_deliverer_first_byte_seconds_bucket"),
        unpublished=_largest(newest, "aldebaran_lookout_outbox_unpublished"),
        overdue=_by(newest, "aldebaran_deliverer_overdue_seconds", "channel"),
        breakers=_by(newest, "aldebaran_deliverer_breakers_open", "channel"),
        findings=_newest(newest, "aldebaran_accountant_findings"),
        disagreements=_largest(newest, "aldebaran_heartbeat_disagreements_open"),
    )


def _auditors(history: History, newest: Sequence[Look]) -> tuple[AuditorFigures, ...]:
    age, step = "aldebaran_heartbeat_answer_age_seconds", "aldebaran_heartbeat_auditor_in_step"
    ages = _by(newest, age, "auditor")
    steps = [each for look in newest for each in named(look.found, step)]
    lagging = {labels.get("auditor", "") for labels, value in steps if value < 1}
    known = ages.keys() | {labels.get("auditor", "") for labels, _ in steps}
    return tuple(
        AuditorFigures(
            auditor=auditor,
            latency=_latency(
                history, "aldebaran_heartbeat_latency_seconds_bucket", auditor=auditor
            ),
            in_step=auditor not in lagging,
            answer_age_seconds=ages.get(auditor),
        )
        for auditor in sorted(known)
    )


def _watches(newest: Sequence[Look]) -> tuple[WatchFigures, ...]:
    behind = _by(newest, "aldebaran_auditor_progress_age_seconds", "watch")
    told = _by(newest, "aldebaran_auditor_stopped", "watch")
    # One that ran before and cannot start tells only this: no query of it has a progress.
    stopped = {watch for watch, value in told.items() if value > 0}
    return tuple(
        WatchFigures(
            watch=watch,
            rows_per_second=_newest(newest, "aldebaran_auditor_rows_per_second", watch=watch),
            findings_per_second=_newest(
                newest, "aldebaran_auditor_findings_per_second", watch=watch
            ),
            behind_seconds=behind.get(watch),
            stopped=watch in stopped,
            processors=_newest(newest, "aldebaran_auditor_processors", watch=watch),
            state_bytes=_newest(newest, "aldebaran_auditor_state_bytes", watch=watch),
            state_disk_bytes=_newest(newest, "aldebaran_auditor_state_disk_bytes", watch=watch),
        )
        for watch in sorted(behind.keys() | stopped)
    )


def _rate(history: History, name: str, **labels: str) -> float | None:
    rates = [
        rate for looks in history.values() if (rate := _grown(looks, name, labels)) is not None
    ]
    return sum(rates) if rates else None


def _grown(looks: Sequence[Look], name: str, labels: Mapping[str, str]) -> float | None:
    pair = _span(looks, RATE_SECONDS)
    if pair is None:
        return None
    first, last = pair
    before, after = total(first.found, name, **labels), total(last.found, name, **labels)
    if after is None:
        return None
    return growth(before or 0.0, after) / (last.at_seconds - first.at_seconds)


def _span(looks: Sequence[Look], seconds: float) -> tuple[Look, Look] | None:
    """Return the newest look, and the youngest that is older by at least so many seconds.

    While there is none as old, the oldest that has answered stands in for it.
    """
    answered = [look for look in looks if look.found]
    if len(answered) < 2 or answered[-1] is not looks[-1]:
        return None
    last = answered[-1]
    older = [look for look in answered[:-1] if last.at_seconds - look.at_seconds >= seconds]
    first = older[-1] if older else answered[0]
    return (first, last) if last.at_seconds > first.at_seconds else None


def _latency(history: History, name: str, **labels: str) -> Latency:
    buckets: dict[float, float] = {}
    for looks in history.values():
        pair = _span(looks, LATENCY_SECONDS)
        if pair is not None:
            for bound, count in _bucket_growth(*pair, name, labels).items():
                buckets[bound] = buckets.get(bound, 0.0) + count
    count = max(buckets.values(), default=0.0)
    return Latency(_quantile(buckets, 0.5), _quantile(buckets, 0.99), int(count))


def _bucket_growth(
    first: Look, last: Look, name: str, labels: Mapping[str, str]
) -> dict[float, float]:
    before, after = _buckets(first.found, name, labels), _buckets(last.found, name, labels)
    grown = {bound: count - before.get(bound, 0.0) for bound, count in after.items()}
    return after if min(grown.values(), default=0.0) < 0 else grown


def _buckets(found: Samples, name: str, wanted: Mapping[str, str]) -> dict[float, float]:
    summed: dict[float, float] = {}
    for labels, value in named(found, name):
        if wanted.items() <= labels.items():
            bound = float(labels["le"])
            summed[bound] = summed.get(bound, 0.0) + value
    return summed


def _quantile(buckets: Mapping[float, float], share: float) -> float | None:
    """Return a quantile in milliseconds, even inside its bucket, as Prometheus does it."""
    bounds = sorted(buckets)
    if not bounds or buckets[bounds[-1]] <= 0:
        return None
    rank = share * buckets[bounds[-1]]
    below, before = 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank:
            if math.isinf(bound):
                return before * 1000
            inside = buckets[bound] - below
            part = (rank - below) / inside if inside else 0.0
            return (before + (bound - before) * part) * 1000
        below, before = buckets[bound], bound
    return before * 1000


def _newest(newest: Iterable[Look], name: str, **labels: str) -> float | None:
    found = (total(look.found, name, **labels) for look in newest)
    values = [value for value in found if value is not None]
    return sum(values) if values else None


def _largest(newest: Iterable[Look], name: str) -> float | None:
    """Return what each process tells of the whole ledger, from the one that tells most."""
    found = (total(look.found, name) for look in newest)
    return max((value for value in found if value is not None), default=None)


def _by(newest: Iterable[Look], name: str, label: str) -> dict[str, float]:
    worst: dict[str, float] = {}
    for look in newest:
        for labels, value in named(look.found, name):
            key = labels.get(label, "")
            worst[key] = max(value, worst.get(key, value))
    return worst
