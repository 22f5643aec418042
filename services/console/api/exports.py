"""Exports: what a search finds, as CSV or lines of JSON, page by page so that nothing is held."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from itertools import chain
from typing import Annotated, Final, Literal

import orjson
from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from services.backbone.ledger.answers.reading import PAGE_LIMIT, LedgerReader
from services.backbone.ledger.answers.searching import Search
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import AlertRow
from services.console.api.asked import Asked
from services.console.desk import Served
from services.console.people.door import Reader
from services.console.shown import utc

ROWS_LIMIT: Final = 100_000
_BEGINS: Final = re.compile(r'((?:^|[;\t\r\n])[\s";]*)([=+\-@\uff1d\uff0b\uff0d\uff20]?)')
"""Where a cell begins in a text, as some countries' spreadsheets part cells at `;`, and the sign
(also in its wide form) that makes it a formula; a run of blanks is taken at once, so that
many of them cost little.
"""

_LAST: Final = ("accepted_at", "deliveries", "more_deliveries", "acknowledged_at")
_OTHERWISE: Final = (*_LAST, "acknowledged_at_ms")
_COLUMNS: Final = tuple(each.name for each in fields(AlertRow) if each.name not in _OTHERWISE)


def export_api() -> APIRouter:
    """Return the route; rows are asked for while they are sent."""
    router = APIRouter(prefix="/v1", tags=["alerts"])

    @router.get(
        "/alerts-export",
        summary="All alerts that fit, newest first, as CSV or lines of JSON",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}},
    )
    def export(
        person: Reader,
        desk: Served,
        search: Asked,
        form: Annotated[Literal["csv", "ndjson"], Query(description="csv or ndjson")] = "csv",
        rows: Annotated[int, Query(ge=1, le=ROWS_LIMIT, description="at most")] = ROWS_LIMIT,
    ) -> StreamingResponse:
        written, media = _FORMS[form]
        found = _asked(_found(desk.reader, search, rows))
        headers = {"Content-Disposition": f'attachment; filename="alerts.{form}"'}
        return StreamingResponse(written(found), media_type=media, headers=headers)

    return router


def _found(reader: LedgerReader, search: Search, most: int) -> Iterator[AlertRow]:
    start, left = NEWEST, most
    while left > 0:
        page = reader.alerts(min(PAGE_LIMIT, left), start, search)
        yield from page.rows
        left -= len(page.rows)
        if page.next_cursor is None:
            return
        start = PageStart.parse(page.next_cursor)


def _asked(found: Iterator[AlertRow]) -> Iterator[AlertRow]:
    """Ask for the first page now: while the ledger is away the answer must not have begun."""
    first = next(found, None)
    return chain(() if first is None else (first,), found)


def _csv(found: Iterator[AlertRow]) -> Iterator[str]:
    yield _line([*_COLUMNS, *_LAST])
    for row in found:
        told = "; ".join(f"{each.channel} {each.recipient} {each.state}" for each in row.deliveries)
        values = [getattr(row, name) for name in _COLUMNS]
        in_hand = "" if row.acknowledged_at_ms is None else utc(row.acknowledged_at_ms)
        yield _line([*values, utc(row.accepted_at_ms), told, row.more_deliveries, in_hand])


def _line(values: list[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([_harmless(each) for each in values])
    return out.getvalue()


def _harmless(value: object) -> object:
    return value if isinstance(value, int) else _BEGINS.sub(_marked, str(value))


def _marked(begin: re.Match[str]) -> str:
    return f"{begin[1]}'{begin[2]}" if begin[2] else begin[0]


def _json_lines(found: Iterator[AlertRow]) -> Iterator[bytes]:
    return (orjson.dumps(asdict(row)) + b"\n" for row in found)


_FORMS: Final[dict[str, tuple[Callable[[Iterator[AlertRow]], Iterator[str | bytes]], str]]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "ndjson": (_json_lines, "application/x-ndjson"),
}
