"""Read-only questions to the ledger; every answer is bounded, every question uses an index."""

from collections.abc import Collection, Set
from itertools import groupby
from typing import Any, Final

from psycopg.rows import dict_row

from services.backbone.ledger.answers import reading_sql
from services.backbone.ledger.answers.searching import Search
from services.backbone.ledger.database import Connection, Pool, snapshot
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import (
    AlertDetail,
    AlertRow,
    AttemptRow,
    Cut,
    DecisionRow,
    DeliveryMark,
    DeliveryRow,
    Page,
    delivery_of,
    page_of,
)
from services.contracts.states import TERMINAL, State

PAGE_LIMIT: Final = 200
"""Most rows of one page."""
MARKS_LIMIT: Final = 10
"""Most deliveries that a list shows per alert."""
DETAIL_LIMIT: Final = 500
"""Most deliveries, most attempts and most decisions that one alert's detail shows."""
COUNT_LIMIT: Final = 10_000
"""More open deliveries than this are not counted to the end."""
NEWEST_LIMIT: Final = 10_000
"""So many of the newest deliveries are looked through for their channels."""
OPEN: Final = frozenset(State) - TERMINAL
"""States in which something is still to happen, by itself or by a person."""
_FAILED: Final = frozenset({State.FAILED})
BY_CHANNEL: Final = OPEN | _FAILED
"""States whose deliveries can be looked for by channel: they are few, and have indexes."""
_KINDS: Final = ((OPEN, reading_sql.IS_OPEN), (_FAILED, reading_sql.HAS_FAILED))

EVERYTHING: Final = Search()

_DETAIL: Final[dict[Cut, str]] = {
    "deliveries": reading_sql.DELIVERIES_OF,
    "attempts": reading_sql.ATTEMPTS_OF,
    "decisions": reading_sql.DECISIONS_OF,
}

_Rows = list[dict[str, Any]]
_First = tuple[list[DeliveryMark], int]
"""An alert's first deliveries, and how many it has beyond these."""


class LedgerReader:
    """Asks the ledger; safe to use from several threads.

    Every method raises Transient while Postgres is away or too busy.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def ping(self) -> None:
        """Ask for nothing, to see whether Postgres answers."""
        with snapshot(self._pool) as connection:
            connection.execute("SELECT 1")

    def alerts(
        self, limit: int, after: PageStart = NEWEST, search: Search = EVERYTHING
    ) -> Page[AlertRow]:
        """Return the newest alerts that fit, from a page's start on."""
        with snapshot(self._pool) as connection:
            return newest_alerts(connection, limit, after, search)

    def alert(self, alert_id: str) -> AlertDetail | None:
        """Return everything about one alert, as of one moment; None if there is none."""
        terms = {"alert_id": alert_id, "limit": DETAIL_LIMIT + 1}
        with snapshot(self._pool) as connection:
            found = _ask(connection, reading_sql.ONE_ALERT, terms)
            if not found:
                return None
            whole = _ask(connection, reading_sql.RECORD, terms)[0]
            newest = {name: _ask(connection, text, terms) for name, text in _DETAIL.items()}
            marks = _marks(connection, [alert_id])
        rows = {name: each[:DETAIL_LIMIT][::-1] for name, each in newest.items()}
        return AlertDetail(
            alert=_alert(found[0], marks),
            record=whole["record"],
            routed_by=whole["routed_by"],
            deliveries=[delivery_of(row) for row in rows["deliveries"]],
            attempts=[AttemptRow(**row) for row in rows["attempts"]],
            decisions=[DecisionRow(**row) for row in rows["decisions"]],
            cut=[name for name, each in newest.items() if len(each) > DETAIL_LIMIT],
        )

    def deliveries(
        self, states: Collection[State], limit: int, after: PageStart = NEWEST, channel: str = ""
    ) -> Page[DeliveryRow]:
        """Return the newest deliveries in these states, from a page's start on; no state means all.

        Ask for a channel's only in states of `BY_CHANNEL`: no index leads to it among what is done.
        """
        wanted = set(states) or set(State)
        terms = {
            "channel": channel,
            "states": [state.value for state in wanted],
            "at_us": after.at_us,
            "row_id": after.row_id,
            "limit": _bounded(limit) + 1,
        }
        question = reading_sql.newest_deliveries(_kinds(wanted), bool(channel))
        with snapshot(self._pool) as connection:
            page = _page(_ask(connection, question, terms), limit, "delivery_id")
        return page.of(delivery_of)

    def delivery(self, delivery_id: str) -> DeliveryRow | None:
        """Return one delivery as it stands, or None."""
        with snapshot(self._pool) as connection:
            rows = _ask(connection, reading_sql.ONE_DELIVERY, {"delivery_id": delivery_id})
        return delivery_of(rows[0]) if rows else None

    def oldest_open(self, limit: int) -> list[DeliveryRow]:
        """Return the open deliveries, oldest first."""
        terms = {"limit": _bounded(limit)}
        with snapshot(self._pool) as connection:
            rows = _ask(connection, reading_sql.OLDEST_OPEN_DELIVERIES, terms)
        return [delivery_of(row) for row in rows]

    def channels(self) -> list[str]:
        """Return the channels that the ledger knows, by name: whose deliverers have left a word
        there, that are stopped, or that have one of the newest `NEWEST_LIMIT` deliveries.
        """
        with snapshot(self._pool) as connection:
            rows = _ask(connection, reading_sql.CHANNELS, {"limit": NEWEST_LIMIT})
        return [row["channel"] for row in rows]

    def open_counts(self) -> dict[State, int]:
        """Return how many deliveries are open, by state, counted up to `COUNT_LIMIT`."""
        with snapshot(self._pool) as connection:
            rows = _ask(connection, reading_sql.OPEN_COUNTS, {"limit": COUNT_LIMIT})
        return {State(row["state"]): row["count"] for row in rows}


def newest_alerts(
    connection: Connection, limit: int, after: PageStart = NEWEST, search: Search = EVERYTHING
) -> Page[AlertRow]:
    """Return the newest alerts that fit, from a page's start on, as of a connection's moment."""
    wanted = _bounded(limit) + 1
    terms = search.terms(after, wanted)
    first, *further = search.questions
    rows = _ask(connection, first, terms)
    for question in further:
        if len(rows) < wanted:
            # A plan for any words takes four times as long as one for these.
            rows = _ask(connection, question, terms, prepare=False)
    marks = _marks(connection, [row["alert_id"] for row in rows])
    return _page(rows, limit, "alert_id").of(lambda row: _alert(row, marks))


def _kinds(wanted: Set[State]) -> list[str]:
    """Return the conditions of the indexes that lead to these states."""
    if not wanted <= BY_CHANNEL:
        return [reading_sql.IS_ANY]
    return [kind for states, kind in _KINDS if wanted & states]


def _ask(
    connection: Connection, question: str, terms: dict[str, Any], prepare: bool | None = None
) -> _Rows:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(question.encode(), terms, prepare=prepare).fetchall()


def _bounded(limit: int) -> int:
    return max(1, min(limit, PAGE_LIMIT))


def _page(rows: _Rows, limit: int, id_column: str) -> Page[dict[str, Any]]:
    return page_of(rows, _bounded(limit), lambda row: PageStart(row["place_us"], row[id_column]))


def _marks(connection: Connection, alert_ids: list[str]) -> dict[str, _First]:
    rows = _ask(connection, reading_sql.MARKS, {"ids": alert_ids, "limit": MARKS_LIMIT})
    return {
        alert_id: _first(list(group))
        for alert_id, group in groupby(rows, key=lambda row: str(row["alert_id"]))
    }


def _first(rows: _Rows) -> _First:
    marks = [DeliveryMark(row["channel"], row["recipient"], State(row["state"])) for row in rows]
    return marks, rows[0]["of_all"] - len(marks)


def _alert(row: dict[str, Any], marks: dict[str, _First]) -> AlertRow:
    columns = {name: value for name, value in row.items() if name != "place_us"}
    first, more = marks.get(row["alert_id"], ([], 0))
    return AlertRow(**columns, deliveries=first, more_deliveries=more)
