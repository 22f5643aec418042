"""Traces in the ledger: who follows which key and until when, and what was seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson
from psycopg.rows import class_row, scalar_row

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool, transaction
from services.backbone.ledger.listing import Listing
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import Page
from services.console.tracing.closing import full
from services.console.tracing.lines import Line

TRACES_LIMIT: Final = 5
"""Traces at once: each reads topics."""
LINES_LIMIT: Final = 10_000
"""Lines after which a trace ends."""
KEPT_DAYS: Final = 7
"""So long after its end a trace can be read."""
FOLLOWED_SECONDS: Final = 600.0
"""What began in time is followed so long after the end: deliveries take a while."""
LIST_LIMIT: Final = 100
PAGE_LIMIT: Final = 500

# The line with CLOSING_ID, if there is one. Asked of each trace by its key: a Postgres before 18,
# which skips nothing in an index, would go through all lines for the second part of a key alone.
_COLUMNS: Final = """
SELECT trace_id, key, person, why,
  begun_at, (extract(epoch FROM begun_at) * 1000)::bigint AS begun_at_ms,
  (extract(epoch FROM ends_at) * 1000)::bigint AS ends_at_ms,
  ends_at > ledger_now() AS is_on, places, closed_id IS NOT NULL AS is_closed
FROM traces
LEFT JOIN LATERAL (SELECT line.trace_id AS closed_id FROM trace_lines AS line
  WHERE line.trace_id = traces.trace_id AND line.line_id = 'closing' OFFSET 0) AS closing ON true"""
_ONE: Final = f"{_COLUMNS} WHERE trace_id = %s"
# Those that are on come first: of those that wait for the brokers there may be many.
_FOLLOWED: Final = f"""{_COLUMNS}
WHERE ends_at > ledger_now() - make_interval(secs => %s)
  OR (closed_id IS NULL AND ends_at > ledger_now() - make_interval(days => %s))
ORDER BY ends_at DESC LIMIT %s"""

_LOCK: Final = "LOCK TABLE traces IN SHARE ROW EXCLUSIVE MODE"
_FORGET: Final = "DELETE FROM traces WHERE ends_at < ledger_now() - make_interval(days => %s)"
_ON: Final = "SELECT key FROM traces WHERE ends_at > ledger_now()"
_BEGIN: Final = """
INSERT INTO traces (trace_id, key, person, why, ends_at)
VALUES (%s, %s, %s, %s, ledger_now() + make_interval(secs => %s))"""
_END: Final = (
    "UPDATE traces SET ends_at = ledger_now() WHERE trace_id = %s AND ends_at > ledger_now()"
)

# The row is held while lines are added: their numbers then grow as they become visible.
_HOLD: Final = """
SELECT (extract(epoch FROM ledger_now()) * 1000)::bigint
FROM traces WHERE trace_id = %s FOR UPDATE"""
_COUNT: Final = "SELECT count(*) FROM trace_lines WHERE trace_id = %s"
_ADD: Final = """
INSERT INTO trace_lines (trace_id, line_id, at, step, detail, alert_id)
SELECT %(trace_id)s, line_id, to_timestamp(at_ms / 1000.0), step, detail, alert_id
FROM jsonb_to_recordset(%(lines)s::jsonb)
  AS line (line_id text, at_ms bigint, step text, detail text, alert_id text)
ON CONFLICT DO NOTHING"""
_KEEP: Final = "UPDATE traces SET places = places || %s::jsonb WHERE trace_id = %s"
_LINES: Final = """
SELECT number, (extract(epoch FROM at) * 1000)::bigint AS at_ms, step, detail, alert_id
FROM trace_lines WHERE trace_id = %s AND number > %s ORDER BY number LIMIT %s"""
_ALERTS: Final = """
SELECT alert_id, (extract(epoch FROM max(at)) * 1000)::bigint
FROM trace_lines WHERE trace_id = %s AND alert_id IS NOT NULL
GROUP BY alert_id ORDER BY max(at) DESC LIMIT %s"""
_NEWEST_LINES: Final = """
SELECT number, (extract(epoch FROM at) * 1000)::bigint AS at_ms, step, detail, alert_id
FROM trace_lines WHERE trace_id = %s ORDER BY at DESC, number DESC LIMIT %s"""


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace; it is on until its end, whoever is alive then."""

    trace_id: str
    key: str
    person: str
    why: str
    begun_at: datetime
    begun_at_ms: int
    ends_at_ms: int
    is_on: bool
    places: Mapping[str, int]
    is_closed: bool


_LISTING: Final = Listing(Trace, _COLUMNS, "begun_at", "trace_id", LIST_LIMIT)


@dataclass(frozen=True, slots=True)
class LineRow:
    """One line as it is read; numbers grow as lines are written."""

    number: int
    at_ms: int
    step: str
    detail: str
    alert_id: str | None


class Traces:
    """Keeps traces; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def newest(self, limit: int = LIST_LIMIT, after: PageStart = NEWEST) -> Page[Trace]:
        """Return the newest traces, from a page's start on."""
        with transaction(self._pool) as connection:
            return _LISTING.page(connection, limit, after)

    def one(self, trace_id: str) -> Trace | None:
        """Return a trace; None if there is none, or no longer."""
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=class_row(Trace))
            return cursor.execute(_ONE, (trace_id,)).fetchone()

    def followed(self) -> list[Trace]:
        """Return the traces that are on, have ended just now, or wait for their closing line."""
        terms = FOLLOWED_SECONDS, KEPT_DAYS, 4 * TRACES_LIMIT
        with transaction(self._pool) as connection:
            return (
                connection.cursor(row_factory=class_row(Trace)).execute(_FOLLOWED, terms).fetchall()
            )

    def add(self, trace_id: str, lines: Sequence[Line], places: Mapping[str, int]) -> bool:
        """Add what was seen, with where to go on; return False once the trace is full."""
        with transaction(self._pool) as connection:
            numbers = connection.cursor(row_factory=scalar_row)
            now_ms = numbers.execute(_HOLD, (trace_id,)).fetchone()
            if now_ms is None:
                return False
            count = numbers.execute(_COUNT, (trace_id,)).fetchone()
            if (count or 0) >= LINES_LIMIT:
                _add_on(connection, trace_id, [full(now_ms, LINES_LIMIT)])
                connection.execute(_END, (trace_id,))
                return False
            _add_on(connection, trace_id, lines)
            connection.execute(_KEEP, (orjson.dumps(dict(places)).decode(), trace_id))
        return True

    def alerts(self, trace_id: str, limit: int) -> dict[str, int]:
        """Return the newest alerts that lines are about, each with the time of its last one."""
        with transaction(self._pool) as connection:
            return dict(connection.execute(_ALERTS, (trace_id, limit)).fetchall())

    def lines(self, trace_id: str, after: int, limit: int) -> list[LineRow]:
        """Return lines as they were written, after a number."""
        terms = (trace_id, after, max(1, min(limit, PAGE_LIMIT)))
        with transaction(self._pool) as connection:
            return (
                connection.cursor(row_factory=class_row(LineRow)).execute(_LINES, terms).fetchall()
            )

    def newest_lines(self, trace_id: str) -> tuple[list[LineRow], bool]:
        """Return the newest lines by their own times, the newest first, and whether these are all.

        There are PAGE_LIMIT at most.
        """
        terms = (trace_id, PAGE_LIMIT + 1)
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=class_row(LineRow))
            found = cursor.execute(_NEWEST_LINES, terms).fetchall()
        return found[:PAGE_LIMIT], len(found) <= PAGE_LIMIT


def _add_on(connection: Connection, trace_id: str, lines: Sequence[Line]) -> None:
    told = orjson.dumps(list(lines)).decode()
    connection.execute(_ADD, {"trace_id": trace_id, "lines": told})


def begin_on(
    connection: Connection, trace_id: str, key: str, person: str, why: str, seconds: float
) -> None:
    """Begin a trace, in the caller's transaction.

    Raises:
        Refused: the key is traced already, or there are as many traces as there may be.
    """
    connection.execute(_LOCK)
    connection.execute(_FORGET, (KEPT_DAYS,))
    on = [str(row[0]) for row in connection.execute(_ON)]
    if key in on:
        raise Refused(f"{key} is traced already")
    if len(on) >= TRACES_LIMIT:
        raise Refused(f"{TRACES_LIMIT} traces are on, which is the most: end one first")
    connection.execute(_BEGIN, (trace_id, key, person, why, seconds))


def end_on(connection: Connection, trace_id: str) -> bool:
    """End a trace now, in the caller's transaction; return whether it was on."""
    return connection.execute(_END, (trace_id,)).rowcount == 1
