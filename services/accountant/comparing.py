"""Compares topic `alerts` with the ledger, some seconds behind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.accountant import metrics
from services.accountant.accounts import missing_alerts, missing_recipients
from services.backbone.clock import Clock
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.ledger.accounting import AccountBook, Finding
from services.contracts.records import Alert, Malformed

BATCH_LIMIT: Final = 1000


@dataclass
class Comparison:
    """Reads what was found and what was set aside, and says what nobody has taken."""

    book: AccountBook
    alerts: Consumer
    aside: Consumer
    clock: Clock
    behind_seconds: float
    _batch: Sequence[Incoming] = ()
    _due_ms: int = 0
    _rejected: Sequence[Incoming] = ()

    def step(self, poll_seconds: float) -> int:
        """Compare one batch if it is old enough; return how many records were compared.

        Raises:
            Transient: Postgres is away; the same batch is compared later.
        """
        self._read(poll_seconds)
        self._set_aside()
        if not self._batch or self.clock.now_ms() < self._due_ms:
            return 0
        self.book.keep(self.findings(self._batch), ())
        self.alerts.commit(self._batch)
        compared, self._batch = len(self._batch), ()
        metrics.ALERTS.inc(compared)
        return compared

    def findings(self, batch: Sequence[Incoming]) -> list[Finding]:
        """Return what is missing of a batch.

        Raises:
            Transient: Postgres is away.
        """
        keys = sorted({_key(each) for each in batch})
        missing = self.book.missing(keys)
        absences = self.book.absences([key for key in keys if key not in missing])
        return missing_alerts(missing) + missing_recipients(absences)

    def settled(self, record: Incoming) -> bool:
        """Tell whether a record is old enough that it must be in the ledger by now."""
        return record.timestamp_ms + self.behind_seconds * 1000 <= self.clock.now_ms()

    def _read(self, poll_seconds: float) -> None:
        """Poll both readers, also while Postgres is away; what is in hand stays there."""
        if self._rejected:
            self.aside.idle(0.0)
        else:
            self._rejected = self.aside.batch(BATCH_LIMIT, 0.0)
        if self._batch:
            self.alerts.idle(poll_seconds)
        else:
            self._batch = self.alerts.batch(BATCH_LIMIT, poll_seconds)
            self._due_ms = self._when_due()

    def _set_aside(self) -> None:
        if self._rejected:
            keys = [(each.key or b"").decode(errors="replace") for each in self._rejected]
            self.book.keep_aside(keys)
            self.aside.commit(self._rejected)
            self._rejected = ()

    def _when_due(self) -> int:
        """A record's own time counts if it is past; a wrong clock must not stop the comparison."""
        now_ms = self.clock.now_ms()
        newest = max((min(each.timestamp_ms, now_ms) for each in self._batch), default=0)
        return newest + int(self.behind_seconds * 1000)


def _key(record: Incoming) -> str:
    """Return by what the record is known: its alert's id, or its place if it cannot be read."""
    try:
        return Alert.decode(record.value).alert_id
    except Malformed:
        return f"{record.topic}/{record.partition}/{record.offset}"
