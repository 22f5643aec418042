"""Which alerts a trace follows: those of its lines, and those that a search of the ledger finds.

Words are searched for as beginnings, so `R-1` finds all of `R-10` too: each alert is judged once,
and the search goes on behind them. What comes meanwhile is looked at until one is known.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from services.backbone.ledger.answers.reading import LedgerReader
from services.backbone.ledger.answers.searching import TEXT_LIMIT_CHARACTERS, Search
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import AlertRow
from services.console.tracing.lines import Line, is_about

ALERTS_LIMIT: Final = 20
"""Alerts about the key whose lives are followed, the newest."""
PAGES_LIMIT: Final = 100
"""Pages of the search, newest first, that are looked at: one in each round."""
NEW_PAGES_LIMIT: Final = 10
"""Pages of the newest that one round looks at: so many may come between two."""


@dataclass
class KeyAlerts:
    """The newest alerts about one key, by the time of each."""

    key: str
    at_ms: dict[str, int]
    _seen: set[str] = field(default_factory=set)
    _older: str | None = None
    _pages: int = 0

    def add(self, lines: Iterable[Line]) -> None:
        """Follow the alerts of these lines."""
        for line in lines:
            if line.alert_id is not None:
                self._follow(line.alert_id, line.at_ms)

    def search(self, reader: LedgerReader) -> None:
        """Look at what came since the last look, and at one page more of older ones."""
        if self._pages == 0:
            self._older, _ = self._page(reader, None)
        else:
            self._look_at_new(reader)
            if self._older and self._pages < PAGES_LIMIT and len(self.at_ms) < ALERTS_LIMIT:
                self._older, _ = self._page(reader, self._older)
        self._pages += 1

    def _look_at_new(self, reader: LedgerReader) -> None:
        after: str | None = None
        for _ in range(NEW_PAGES_LIMIT):
            after, is_known = self._page(reader, after)
            if is_known or after is None:
                return

    def _page(self, reader: LedgerReader, after: str | None) -> tuple[str | None, bool]:
        """Return where older ones go on, and whether an alert of this page was seen before."""
        start = PageStart.parse(after) if after else NEWEST
        search = Search(text=self.key[:TEXT_LIMIT_CHARACTERS])
        page = reader.alerts(ALERTS_LIMIT, start, search)
        new = [row for row in page.rows if row.alert_id not in self._seen]
        for row in new:
            if row.alert_id not in self.at_ms:
                self._judge(reader, row)
            self._seen.add(row.alert_id)
        return page.next_cursor, len(new) < len(page.rows)

    def _judge(self, reader: LedgerReader, row: AlertRow) -> None:
        detail = reader.alert(row.alert_id)
        if detail is not None and is_about(detail.record, self.key):
            self._follow(row.alert_id, row.accepted_at_ms)

    def _follow(self, alert_id: str, at_ms: int) -> None:
        self.at_ms[alert_id] = max(at_ms, self.at_ms.get(alert_id, 0))
        if len(self.at_ms) > ALERTS_LIMIT:
            del self.at_ms[min(self.at_ms, key=lambda each: self.at_ms[each])]
