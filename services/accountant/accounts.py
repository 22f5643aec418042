"""What is wrong, as values: findings from what the ledger holds, and their words. Pure."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from math import isinf
from typing import Final

from services.backbone.ledger.accounting.completeness import Absence
from services.backbone.ledger.accounting.findings import NAMED_LIMIT, Finding, Notice, Unraised
from services.backbone.ledger.accounting.overdue import Backlog, OpenRow
from services.contracts import topics
from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import (
    SHORT_LIMIT_CHARACTERS,
    TEXT_LIMIT_CHARACTERS,
    Alert,
    Delivery,
    Severity,
)
from services.contracts.watches import ACCOUNTANT

MISSING_ALERT: Final = "missing_alert"
MISSING_RECIPIENT: Final = "missing_recipient"
OVERDUE_CHANNEL: Final = "overdue_channel"
SHORT_RETENTION: Final = "short_retention"
PUBLISHERS_TIMES: Final = "publishers_times"
DETAIL_LIMIT: Final = 400
"""Characters of what is said about one finding in others' words."""
_STANDS: Final = {
    "in_doubt": "in doubt",
    "held": "held",
    "suppressed": "suppressed beyond its time",
    "failed": "failed, and nobody is told instead,",
    "unfollowed": "failed or held, and its fallback has not begun,",
    "escalation": "due",
}
"""How a row of each kind stands, followed by for how long."""
_WORDS: Final = {
    MISSING_ALERT: "alerts were found and are not in the ledger: is the lookout running?",
    MISSING_RECIPIENT: "recipients were meant to be told and have no delivery",
    OVERDUE_CHANNEL: "channels do not send what is due: is the deliverer running?",
    "in_doubt": "deliveries have been in doubt for too long",
    "held": "deliveries wait for a person",
    "suppressed": "deliveries wait although their silence is over: is the lookout running?",
    "failed": "deliveries have failed for good, and nobody is told instead",
    "unfollowed": "failures are not followed by their fallback: is the lookout running?",
    "escalation": "steps of escalations are overdue: is the lookout running?",
    SHORT_RETENTION: "topics are, or may be, kept for longer than the ledger: nothing is removed",
    PUBLISHERS_TIMES: "topics of streams are kept with their publishers' times: one event dated "
    "next year would throw away everybody's state",
}
KINDS: Final = tuple(_WORDS)
WAITING: Final = frozenset(_STANDS)
"""The kinds of which the ledger itself says what is new, and what has ended."""
_WARNINGS: Final = frozenset({"in_doubt", "held", "failed", SHORT_RETENTION, PUBLISHERS_TIMES})


@dataclass(frozen=True, slots=True)
class Limits:
    """How long something may wait, in seconds, before it is overdue."""

    in_doubt: float
    held: float
    suppressed: float

    def of(self, kind: str) -> float:
        """Return the limit of one kind: what failed waits for a person, as what is held does; the
        rest waits for a lookout.
        """
        people = {"in_doubt": self.in_doubt, "held": self.held, "failed": self.held}
        return people.get(kind, self.suppressed)

    @property
    def by_kind(self) -> dict[str, float]:
        """The limit of each kind that waits."""
        return {kind: self.of(kind) for kind in _STANDS}


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody who is told of findings."""

    channel: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Changes:
    """How the open findings change."""

    new: tuple[Finding, ...]
    ended: tuple[Finding, ...]


def missing_alerts(keys: Set[str]) -> list[Finding]:
    """Return a finding for each alert that nobody has taken."""
    detail = "on topic alerts, and neither in the ledger nor in alerts.rejected"
    return [Finding(MISSING_ALERT, key, "", detail) for key in sorted(keys)]


def missing_recipients(absences: Sequence[Absence]) -> list[Finding]:
    """Return a finding for each recipient without a delivery."""
    return [
        Finding(
            MISSING_RECIPIENT,
            each.delivery_id,
            each.channel,
            f"{each.recipient} on {each.channel} is to be told of alert {each.alert_id}",
        )
        for each in absences
    ]


def overdue(rows: Sequence[OpenRow]) -> list[Finding]:
    """Return a finding for each row that has waited for longer than it may."""
    return [
        Finding(
            row.kind,
            row.subject,
            row.channel,
            f"{_STANDS[row.kind]} for {_span(row.waited_seconds)}: {row.reason}"[:DETAIL_LIMIT],
        )
        for row in rows
    ]


def overdue_channels(backlogs: Sequence[Backlog]) -> list[Finding]:
    """Return a finding for each channel that does not send what is due."""
    return [
        Finding(
            OVERDUE_CHANNEL,
            each.channel,
            each.channel,
            f"{each.count} due, the longest for {_span(each.longest_seconds)}",
        )
        for each in backlogs
    ]


def short_retention(kept_hours: float, age_limit_hours: float, days: float) -> list[Finding]:
    """Return a finding if the ledger, after so many days, forgets what can still be read again."""
    if days * 24 > kept_hours + age_limit_hours:
        return []
    detail = (
        f"the brokers keep it for {kept_hours:g} h and age_limit_hours is {age_limit_hours:g}:"
        f" ledger_retention_days, {days:g}, must be more than both together"
    )
    return [Finding(SHORT_RETENTION, topics.ALERTS, "", detail)]


def short_stream_retention(stream: str, kept_hours: float, days: float) -> list[Finding]:
    """Return a finding if the ledger, after so many days, forgets an alert of which a watch that is
    read again from its start would find the events, and the alert as if it were new.
    """
    if days * 24 > kept_hours:
        return []
    kept = "without limit" if isinf(kept_hours) else f"for up to {kept_hours:g} h"
    detail = (
        f"the brokers keep this stream {kept}, and a watch that is built again finds its alerts"
        f" again: ledger_retention_days, {days:g}, must be longer"
    )
    return [Finding(SHORT_RETENTION, stream, "", detail)]


def unknown_retention(why: str) -> Finding:
    """Return the finding that nobody knows which streams there are."""
    detail = f"the streams' files cannot be read: {why}"[:DETAIL_LIMIT]
    return Finding(SHORT_RETENTION, "streams", "", detail)


def publishers_times(topic: str) -> Finding:
    """Return the finding that the records of a stream's topic have not the brokers' time."""
    detail = (
        "one event dated next year would throw away everybody's state: set the topic's"
        f" message.timestamp.type to {topics.APPEND_TIME} (docs/streams.md)"
    )
    return Finding(PUBLISHERS_TIMES, topic, "", detail)


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once: one that is known may be met again as the window is walked."""
    return list({(each.kind, each.subject): each for each in findings}.values())


def compare(known: Sequence[Finding], current: Sequence[Finding]) -> Changes:
    """Return which findings are new, and which have ended."""
    before = {(each.kind, each.subject) for each in known}
    now = {(each.kind, each.subject) for each in current}
    return Changes(
        new=tuple(each for each in current if (each.kind, each.subject) not in before),
        ended=tuple(each for each in known if (each.kind, each.subject) not in now),
    )


def ranked(channel: str, targets: Sequence[Target], troubled: Set[str]) -> list[Target]:
    """Return whom to tell, and who is told where that fails for good, and so on: first those whose
    channel is neither in trouble nor the findings' own, then those at least not on its own.
    """
    return sorted(targets, key=lambda each: (each.channel == channel, each.channel in troubled))


def notices(
    unraised: Sequence[Unraised], targets: Sequence[Target], troubled: Set[str], now_ms: int
) -> list[Notice]:
    """Return one message per kind and person to be told; its id, and who is told where it fails
    for good, are those of the first finding.
    """
    if not targets:
        return []
    in_order = sorted(unraised, key=lambda each: each.numbers[0])
    told = [(each, ranked(each.channel, targets, troubled)) for each in in_order]

    def key(pair: tuple[Unraised, list[Target]]) -> tuple[str, str, str]:
        return pair[0].kind, pair[1][0].channel, pair[1][0].recipient

    groups = [list(group) for _, group in groupby(sorted(told, key=key), key=key)]
    return [_notice([each for each, _ in group], group[0][1], now_ms) for group in groups]


def _notice(unraised: Sequence[Unraised], targets: Sequence[Target], now_ms: int) -> Notice:
    numbers = tuple(sorted(number for each in unraised for number in each.numbers))
    findings = sorted((one for each in unraised for one in each.named), key=lambda one: one.number)
    first, (target, *others) = findings[0], targets
    kind, summary = first.kind, f"Accounting: {len(numbers)} {_WORDS[first.kind]}"
    # Numbers begin again in a new ledger, and in one restored from a backup; times do not.
    found = alert_id(ACCOUNTANT, [kind, str(first.number), str(first.found_at_ms)])
    alert = Alert(
        alert_id=found,
        watch=ACCOUNTANT,
        severity=Severity.WARNING if kind in _WARNINGS else Severity.CRITICAL,
        summary=summary,
        key={"finding": str(first.number)},
        labels={"kind": kind},
        values={"findings": len(numbers), "first": _named(first)},
        appended_at_ms=now_ms,
        detected_at_ms=now_ms,
        auditor=ACCOUNTANT,
    )
    delivery = Delivery(
        delivery_id=delivery_id(found, target.channel, target.recipient),
        channel=target.channel,
        recipient=target.recipient,
        subject=summary[:SHORT_LIMIT_CHARACTERS],
        text=_text(summary, findings[:NAMED_LIMIT], len(numbers)),
        created_at_ms=now_ms,
        alert=alert,
    )
    instead = tuple((each.channel, each.recipient) for each in others)
    return Notice(delivery, numbers, instead)


def _named(finding: Finding) -> str:
    return f"{finding.subject}: {finding.detail}"[:300].replace("\x00", "")


def _text(summary: str, findings: Sequence[Finding], count: int) -> str:
    named = [f"- {_named(each)}" for each in findings]
    if (more := count - len(findings)) > 0:
        named.append(f"- and {more} more")
    last = "All findings: python -m services.accountant once"
    return "\n".join([summary, "", *named, "", last])[:TEXT_LIMIT_CHARACTERS]


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
