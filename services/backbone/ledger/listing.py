"""Tables that are listed newest first, page by page."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from psycopg.rows import class_row

from services.backbone.ledger.database import Connection
from services.backbone.ledger.page_start import PageStart
from services.backbone.ledger.rows import Page, page_of

Row = TypeVar("Row")


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """What is listed: `select` gives rows of a class, which has the time and the id by their names.

    A page has at most `limit` rows.
    """

    row: type[Row]
    select: str
    time: str
    row_id: str
    limit: int

    def page(self, connection: Connection, limit: int, after: PageStart) -> Page[Row]:
        """Return the rows from a page's start on."""
        wanted = max(1, min(limit, self.limit))
        cursor = connection.cursor(row_factory=class_row(self.row))
        terms = after.at_us, after.row_id, wanted + 1
        rows = cursor.execute(self._question().encode(), terms).fetchall()
        return page_of(rows, wanted, self._place)

    def _question(self) -> str:
        return f"""{self.select}
WHERE ({self.time}, {self.row_id}) < ('epoch'::timestamptz + %s * interval '1 microsecond', %s)
ORDER BY {self.time} DESC, {self.row_id} DESC LIMIT %s"""

    def _place(self, row: Row) -> PageStart:
        return PageStart.of(getattr(row, self.time), getattr(row, self.row_id))
