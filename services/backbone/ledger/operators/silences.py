"""Silences: people's word that some alerts are not to be sent for a while, and when it ends."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import psycopg
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool, transaction
from services.backbone.ledger.listing import Listing
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import Page

LENGTH_LIMIT: Final = timedelta(days=366)
"""The longest silence; what is to be quiet for longer belongs into the routes."""
STANDING_LIMIT: Final = 1000
"""Most silences that stand or are announced at one time."""
TEXT_LIMIT_CHARACTERS: Final = 512
MATCH_LIMIT_CHARACTERS: Final = 4096
STARS_LIMIT: Final = 64
"""Most `*` in one match: each alert is held against all that stand, and these cost the most."""
LIST_LIMIT: Final = 200
SAMPLE_LIMIT: Final = 1000
"""Most alerts that a preview looks at."""

_CREATE: Final = """
INSERT INTO silences (silence_id, match, starts_at, ends_at, author, reason, source)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (silence_id) DO NOTHING
"""
_END: Final = """
UPDATE silences SET ended_at = ledger_now(), ended_by = %s
WHERE silence_id = %s AND ended_at IS NULL AND ends_at > ledger_now() RETURNING silence_id
"""
_COLUMNS: Final = """
SELECT silence_id, match, starts_at, ends_at, author, reason, source, created_at, ended_at, ended_by
FROM silences
"""
_STANDING: Final = (
    _COLUMNS + "WHERE ends_at > ledger_now() AND ended_at IS NULL "
    "ORDER BY created_at DESC, silence_id DESC LIMIT %s"
)
_ONE: Final = _COLUMNS + "WHERE silence_id = %s"
_STANDING_COUNT: Final = """
SELECT count(*) FROM silences WHERE ends_at > ledger_now() AND ended_at IS NULL
"""
_RECENT: Final = """
SELECT (record - 'values' - 'event_ids')::text FROM alerts ORDER BY accepted_at DESC LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class NewSilence:
    """A silence to create: for which alerts (as in a route's `match`), when, who, why.

    `source` names the door it came by, for example `api`. Times have a time zone.
    """

    silence_id: str
    match: Mapping[str, Any]
    starts_at: datetime
    ends_at: datetime
    author: str
    reason: str
    source: str = "api"


@dataclass(frozen=True, slots=True)
class SilenceRow:
    """A silence as it stands; `ended_at` is set where it was ended before its time."""

    silence_id: str
    match: dict[str, Any]
    starts_at: datetime
    ends_at: datetime
    author: str
    reason: str
    source: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None


_LISTING: Final = Listing(SilenceRow, _COLUMNS, "created_at", "silence_id", LIST_LIMIT)


class Silences:
    """Keeps silences; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def create(self, new: NewSilence) -> SilenceRow:
        """Create a silence; the same id twice is one silence.

        Raises:
            Refused: it cannot be used; the message says why.
        """
        with transaction(self._pool) as connection:
            if made := _rows(connection, _ONE, new.silence_id):
                return made[0]
            if wrong := complaint(new, _now(connection)):
                raise Refused(wrong)
            row = connection.execute(_STANDING_COUNT).fetchone()
            if row and row[0] >= STANDING_LIMIT:
                raise Refused(f"{STANDING_LIMIT} silences stand already: end some of them")
            terms = (new.silence_id, Jsonb(new.match), new.starts_at, new.ends_at)
            try:
                connection.execute(_CREATE, (*terms, new.author, new.reason, new.source))
            except psycopg.DataError as error:
                raise Refused(f"the silence cannot be stored: {str(error).strip()}") from None
            return _rows(connection, _ONE, new.silence_id)[0]

    def end(self, silence_id: str, person: str) -> SilenceRow:
        """End a silence before its time; what only waited for it goes out.

        Raises:
            Refused: there is no such silence, or it is over.
        """
        if not person.strip():
            raise Refused("say who ends the silence")
        with transaction(self._pool) as connection:
            if connection.execute(_END, (person, silence_id)).fetchone() is None:
                raise Refused(f"no silence {silence_id} stands: it is unknown or over")
            return _rows(connection, _ONE, silence_id)[0]

    def standing(self) -> list[SilenceRow]:
        """Return the silences that stand, and those announced for later, newest first."""
        with transaction(self._pool) as connection:
            return _rows(connection, _STANDING, 2 * STANDING_LIMIT)

    def newest(self, limit: int = LIST_LIMIT, after: PageStart = NEWEST) -> Page[SilenceRow]:
        """Return the silences made last, over or not, newest first, from a page's start on."""
        with transaction(self._pool) as connection:
            return _LISTING.page(connection, limit, after)

    def one(self, silence_id: str) -> SilenceRow | None:
        """Return a silence, or None."""
        with transaction(self._pool) as connection:
            return next(iter(_rows(connection, _ONE, silence_id)), None)

    def sample(self, limit: int = SAMPLE_LIMIT) -> list[str]:
        """Return the newest alerts' JSON without values, to preview whom a silence would catch."""
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(_RECENT, (max(1, min(limit, SAMPLE_LIMIT)),)).fetchall()


def complaint(new: NewSilence, now: datetime) -> str | None:
    """Say what is wrong with a silence, or None."""
    return next(_complaints(new, now), None)


def _complaints(new: NewSilence, now: datetime) -> Iterator[str]:
    for name, text in (("an author", new.author), ("a reason", new.reason)):
        if not text.strip() or len(text) > TEXT_LIMIT_CHARACTERS or "\0" in text:
            yield f"a silence needs {name}: 1 to {TEXT_LIMIT_CHARACTERS} characters"
    if not any(new.match.values()):
        yield "a silence needs a match; for every alert write watch: '*'"
    match = json.dumps(dict(new.match))
    if len(match) > MATCH_LIMIT_CHARACTERS or match.count("*") > STARS_LIMIT:
        yield (
            f"a match has at most {MATCH_LIMIT_CHARACTERS} characters as JSON, {STARS_LIMIT} of"
            " them `*`: make several silences, or use labels"
        )
    if new.starts_at.tzinfo is None or new.ends_at.tzinfo is None:
        yield "starts_at and ends_at need a time zone, for example 2026-11-21T12:00:00Z"
        return
    if new.ends_at <= new.starts_at:
        yield "ends_at must be after starts_at"
    if new.ends_at <= now:
        yield "the silence would be over already: ends_at is in the past"
    if new.ends_at - new.starts_at > LENGTH_LIMIT:
        yield f"a silence lasts at most {LENGTH_LIMIT.days} days; use the routes for longer"


def _now(connection: Connection) -> datetime:
    cursor = connection.cursor(row_factory=scalar_row)
    now: datetime = cursor.execute("SELECT ledger_now()").fetchall()[0]
    return now


def _rows(connection: Connection, question: str, *terms: str | int) -> list[SilenceRow]:
    cursor = connection.cursor(row_factory=class_row(SilenceRow))
    return cursor.execute(question.encode(), terms).fetchall()
