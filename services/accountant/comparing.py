"""Compares topic `alerts` with the ledger, some seconds behind."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from typing import Final

from services.accountant import metrics
from services.accountant.accounts import MISSING_ALERT, missing_alerts, missing_recipients
from services.accountant.aside import Aside
from services.accountant.reader import Reader
from services.backbone.clock import Clock
from services.backbone.kafka.consumer import Incoming
from services.backbone.ledger.accounting.completeness import Completeness
from services.backbone.ledger.accounting.findings import Finding, Findings
from services.contracts.records import Alert, Malformed

BATCH_LIMIT: Final = 1000
WAITING_LIMIT: Final = 20_000
"""So many records wait at most to be old enough, some 10 MiB; then reading pauses."""
COMPARE_EVERY_SECONDS: Final = 1.0
"""Between two comparisons of less than a full batch: alerts come one by one."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A record that is compared once the lookout has had its time."""

    record: Incoming
    """Without its value, which nobody needs any more."""
    key: str
    due_ms: int
    """By the wall's clock, as the record's own time is."""
    due_at_seconds: float
    """By the steady clock, at the latest: the wall's may be set back while the record waits."""

    def is_due(self, now_ms: int, now_seconds: float) -> bool:
        """Tell whether the lookout has had its time; `now_seconds` are of the steady clock."""
        return self.due_ms <= now_ms or self.due_at_seconds <= now_seconds


@dataclass
class Comparison:
    """Reads what was found, and says what nobody has taken.

    It reads on while records wait: whoever paused meanwhile could not tell one partition of several
    of which nothing comes from one that is paused.
    """

    completeness: Completeness
    findings: Findings
    alerts: Reader
    aside: Aside
    clock: Clock
    behind_seconds: float
    _waiting: deque[Waiting] = field(default_factory=deque)
    _next_at: float = 0.0
    _wanted: int | None = None
    """So many records must be read of what was set aside before an alert is told as missing."""

    def step(self, poll_seconds: float) -> int:
        """Compare what is old enough, at most one batch; return how many records were compared.

        Raises:
            Transient: Postgres or Kafka is away; the same records are compared later.
        """
        self.aside.read()
        self._read(poll_seconds)
        self.aside.keep()
        due = self._due()
        if not due:
            return 0
        found = findings(self.completeness, [each.key for each in due])
        self._next_at = self.clock.monotonic_seconds() + COMPARE_EVERY_SECONDS
        self._wanted = self.aside.wanted(self._wanted) if _any_alert_in(found) else None
        if self._wanted is not None:
            return 0
        self.findings.keep(found, ())
        self.alerts.consumer.commit([each.record for each in due])
        for _ in due:
            self._waiting.popleft()
        metrics.ALERTS.inc(len(due))
        return len(due)

    def trouble(self) -> str | None:
        """Say what does not come of what is to be compared, or None."""
        return self.alerts.trouble() or self.aside.reader.trouble()

    def _read(self, poll_seconds: float) -> None:
        """Poll, also while Postgres is away; what is in hand stays there."""
        if len(self._waiting) >= WAITING_LIMIT:
            self.alerts.idle(poll_seconds)
        else:
            come = self.alerts.batch(BATCH_LIMIT, poll_seconds)
            self._waiting.extend(self._waits(each) for each in come)

    def _waits(self, record: Incoming) -> Waiting:
        """A record's own time counts if it is past; a wrong clock must not stop the comparison."""
        at_ms = min(record.timestamp_ms, self.clock.now_ms())
        due_ms = at_ms + int(self.behind_seconds * 1000)
        due_at_seconds = self.clock.monotonic_seconds() + self.behind_seconds
        return Waiting(replace(record, value=b""), key_of(record), due_ms, due_at_seconds)

    def _due(self) -> list[Waiting]:
        """Return the first that are old enough, now and then; a full batch at once."""
        now_ms, now_seconds = self.clock.now_ms(), self.clock.monotonic_seconds()
        old = takewhile(lambda each: each.is_due(now_ms, now_seconds), self._waiting)
        due = list(islice(old, BATCH_LIMIT))
        is_time = len(due) == BATCH_LIMIT or now_seconds >= self._next_at
        return due if is_time else []


def findings(completeness: Completeness, keys: Iterable[str]) -> list[Finding]:
    """Return what is missing of what is known by these keys.

    Raises:
        Transient: Postgres is away.
    """
    asked = sorted(set(keys))
    missing = completeness.missing(asked)
    absences = completeness.absences([key for key in asked if key not in missing])
    return missing_alerts(missing) + missing_recipients(absences)


def key_of(record: Incoming) -> str:
    """Return by what the record is known: its alert's id, or its place if it cannot be read."""
    try:
        return Alert.decode(record.value).alert_id
    except Malformed:
        return f"{record.topic}/{record.partition}/{record.offset}"


def _any_alert_in(found: Iterable[Finding]) -> bool:
    return any(each.kind == MISSING_ALERT for each in found)
