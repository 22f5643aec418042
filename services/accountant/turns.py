"""One turn of accounting: what is open, what is overdue, what has ended; raised and cleaned up."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from services.accountant import accounts, metrics
from services.accountant.settings import AccountantSettings
from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.accounting.completeness import Completeness, Place
from services.backbone.ledger.accounting.findings import Finding, Findings
from services.backbone.ledger.accounting.overdue import Backlog, OverdueRows
from services.backbone.ledger.accounting.pruning import Pruning
from services.backbone.log import logger

PRUNE_LIMIT: Final = 500
"""Alerts that one turn removes at most."""

log = logger(__name__)


@dataclass
class Turns:
    """Does turns; each is bounded and may be repeated."""

    completeness: Completeness
    overdue: OverdueRows
    findings: Findings
    pruning: Pruning
    settings: AccountantSettings
    clock: Clock
    _place: Place = field(default_factory=Place)
    _prune_limit: int = PRUNE_LIMIT

    def turn(self, kept: Sequence[Finding]) -> None:
        """Account once, with what is `found` of how topics are kept; where one is kept for longer
        than the ledger, nothing is removed.

        Raises:
            Transient: Postgres is away.
        """
        backlogs = self.overdue.backlogs(self.settings.accountant_due_seconds)
        for changes in (self._compared(kept, backlogs), self._waiting()):
            self.findings.keep(changes.new, changes.ended)
            self._log(changes)
        self._raise({each.channel for each in backlogs})
        if all(each.kind != accounts.SHORT_RETENTION for each in kept):
            self._prune()
        self._count()

    def _compared(self, kept: Sequence[Finding], backlogs: list[Backlog]) -> accounts.Changes:
        """Return what changes of all that does not wait."""
        known = [
            each for each in self.findings.open_findings() if each.kind not in accounts.WAITING
        ]
        missing = (*self._still_missing(known), *self._page())
        current = accounts.distinct((*kept, *missing, *accounts.overdue_channels(backlogs)))
        return accounts.compare(known, current)

    def _waiting(self) -> accounts.Changes:
        """Return what changes of what waits, of which there may be more than one turn looks at."""
        window, limits = self.settings.window_seconds, self.settings.limits.by_kind
        new = accounts.overdue(self.overdue.new_rows(window, limits))
        return accounts.Changes(tuple(new), tuple(self.overdue.settled(window, limits)))

    def _still_missing(self, known: list[Finding]) -> list[Finding]:
        alerts = [each for each in known if each.kind == accounts.MISSING_ALERT]
        recipients = [each for each in known if each.kind == accounts.MISSING_RECIPIENT]
        absent = self.completeness.missing([each.subject for each in alerts])
        absent |= self.completeness.still_absent([each.subject for each in recipients])
        return [each for each in (*alerts, *recipients) if each.subject in absent]

    def _page(self) -> list[Finding]:
        """Compare the window's next alerts with their deliveries; begin again at its end."""
        page = self.completeness.page(
            self._place,
            since_seconds=self.settings.window_seconds,
            until_seconds=self.settings.accountant_behind_seconds,
        )
        self._place = page[-1] if page else Place()
        absences = self.completeness.absences([each.alert_id for each in page])
        return accounts.missing_recipients(absences)

    def _raise(self, troubled: set[str]) -> None:
        targets = self.settings.targets
        metrics.UNRAISABLE.set(not targets)
        compose = partial(
            accounts.notices, targets=targets, troubled=troubled, now_ms=self.clock.now_ms()
        )
        raised = self.findings.raise_new(
            compose,
            settle_seconds=self.settings.accountant_turn_seconds,
            every_seconds=self.settings.accountant_raise_seconds,
        )
        for notice in raised:
            delivery = notice.delivery
            metrics.RAISED.labels(delivery.channel).inc()
            log.error(
                "raised",
                delivery_id=delivery.delivery_id,
                channel=delivery.channel,
                summary=delivery.alert.summary,
            )

    def _prune(self) -> None:
        """Remove what is old; where that takes too long the next turn tries half as much, since
        nothing but room on the disk waits for it.
        """
        retention_seconds = self.settings.ledger_retention_days * 86_400
        try:
            removed = self.pruning.prune(retention_seconds, self._prune_limit)
        except Transient as error:
            log.warning("not_pruned", alerts=self._prune_limit, reason=str(error))
            self._prune_limit = max(1, self._prune_limit // 2)
            return
        metrics.PRUNED.inc(removed)
        self._prune_limit = min(PRUNE_LIMIT, 2 * self._prune_limit)

    def _log(self, changes: accounts.Changes) -> None:
        for each in changes.new:
            log.error("found", kind=each.kind, subject=each.subject, detail=each.detail)
        for each in changes.ended:
            log.info("ended", kind=each.kind, subject=each.subject)

    def _count(self) -> None:
        counts = self.findings.open_counts()
        for kind in accounts.KINDS:
            metrics.FINDINGS.labels(kind).set(counts.get(kind, 0))
