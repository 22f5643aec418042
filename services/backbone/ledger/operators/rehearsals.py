"""Rehearsals as rows: asked for by people, taken by whoever can try them, answered once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool, transaction
from services.backbone.ledger.listing import Listing
from services.backbone.ledger.page_start import NEWEST, PageStart
from services.backbone.ledger.rows import Page
from services.contracts.rehearsals import Answer, Rehearsal

OPEN_LIMIT: Final = 10
"""Most rehearsals that wait or run; each takes a Spark of its own."""
LIST_LIMIT: Final = 100
KEPT_DAYS: Final = 7
TRIES_MAX: Final = 2
TROUBLE_LIMIT_CHARACTERS: Final = 2000

State = Literal["ASKED", "RUNS", "DONE", "FAILED"]

_OPEN: Final = "SELECT count(*) FROM rehearsals WHERE state IN ('ASKED', 'RUNS')"
_FORGET: Final = """
DELETE FROM rehearsals WHERE asked_at < ledger_now() - make_interval(days => %s)"""
_ADD: Final = """
INSERT INTO rehearsals (rehearsal_id, asked_by, watch, question) VALUES (%s, %s, %s, %s)"""
_GIVE_UP: Final = """
UPDATE rehearsals SET state = 'FAILED', ended_at = ledger_now(), trouble = %s
WHERE state = 'RUNS' AND lease_ends < ledger_now() AND tries >= %s"""
_TAKE: Final = """
UPDATE rehearsals SET state = 'RUNS', runner = %(runner)s, tries = tries + 1,
  lease_ends = ledger_now() + make_interval(secs => %(seconds)s)
WHERE rehearsal_id = (
  SELECT rehearsal_id FROM rehearsals
  WHERE state = 'ASKED' OR (state = 'RUNS' AND lease_ends < ledger_now())
  ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING rehearsal_id, question"""
_END: Final = """
UPDATE rehearsals SET state = %(state)s, answer = %(answer)s, trouble = %(trouble)s,
  ended_at = ledger_now()
WHERE rehearsal_id = %(rehearsal_id)s AND state = 'RUNS' AND runner = %(runner)s"""
_LET_GO: Final = """
UPDATE rehearsals SET state = 'ASKED', runner = NULL, lease_ends = NULL, tries = tries - 1
WHERE rehearsal_id = %s AND state = 'RUNS' AND runner = %s"""
_COLUMNS: Final = """
SELECT rehearsal_id, asked_at, asked_by, watch, state, trouble, ended_at,
  (extract(epoch FROM ledger_now() - asked_at) * 1000)::bigint AS age_ms"""
_ONE: Final = _COLUMNS + ", question, answer FROM rehearsals WHERE rehearsal_id = %s"


@dataclass(frozen=True, slots=True)
class Asked:
    """One rehearsal in a list."""

    rehearsal_id: str
    asked_at: datetime
    asked_by: str
    watch: str
    state: State
    trouble: str
    ended_at: datetime | None
    age_ms: int


_LISTING: Final = Listing(
    Asked, f"{_COLUMNS} FROM rehearsals", "asked_at", "rehearsal_id", LIST_LIMIT
)


@dataclass(frozen=True, slots=True)
class Whole(Asked):
    """One rehearsal with what was asked and what came of it."""

    question: dict[str, Any]
    answer: dict[str, Any] | None

    @property
    def rehearsal(self) -> Rehearsal:
        """What was asked."""
        return Rehearsal.model_validate(self.question)

    @property
    def found(self) -> Answer | None:
        """What came of it; None while nothing has."""
        return Answer.model_validate(self.answer) if self.answer is not None else None


@dataclass(frozen=True, slots=True)
class Taken:
    """One rehearsal to be tried now."""

    rehearsal_id: str
    rehearsal: Rehearsal


def ask_on(
    connection: Connection, rehearsal_id: str, person: str, watch: str, rehearsal: Rehearsal
) -> None:
    """Ask for a rehearsal, in the caller's transaction; old ones are forgotten.

    Raises:
        Refused: too many wait already.
    """
    connection.execute(_FORGET, (KEPT_DAYS,))
    row = connection.execute(_OPEN).fetchone()
    if row and row[0] >= OPEN_LIMIT:
        raise Refused(f"{row[0]} rehearsals wait already; ask again when some have ended")
    question = Jsonb(rehearsal.model_dump(mode="json"))
    connection.execute(_ADD, (rehearsal_id, person, watch, question))


@dataclass(frozen=True)
class Rehearsals:
    """Reads, takes and ends rehearsals; every method raises Transient while Postgres is away."""

    pool: Pool

    def newest(self, limit: int, after: PageStart = NEWEST) -> Page[Asked]:
        """Return rehearsals, the newest first, from a page's start on."""
        with transaction(self.pool) as connection:
            return _LISTING.page(connection, limit, after)

    def one(self, rehearsal_id: str) -> Whole | None:
        """Return one rehearsal, or None if there is no such."""
        with transaction(self.pool) as connection:
            cursor = connection.cursor(row_factory=class_row(Whole))
            return cursor.execute(_ONE, (rehearsal_id,)).fetchone()

    def take(self, runner: str, lease_seconds: float) -> Taken | None:
        """Take the oldest that waits, or whose runner has not answered within its lease."""
        terms = {"runner": runner, "seconds": lease_seconds}
        given_up = "what tried it ended without an answer, twice: see the rehearsal program's log"
        with transaction(self.pool) as connection:
            connection.execute(_GIVE_UP, (given_up, TRIES_MAX))
            row = connection.execute(_TAKE, terms).fetchone()
        return Taken(row[0], Rehearsal.model_validate(row[1])) if row else None

    def answer(self, taken: Taken, runner: str, answer: Answer) -> bool:
        """Record what came of it; return False where it is not this runner's any more."""
        return self._end(taken, runner, "DONE", Jsonb(answer.model_dump(mode="json")), "")

    def fail(self, taken: Taken, runner: str, trouble: str) -> bool:
        """Record why nothing came of it; False as for `answer`."""
        return self._end(taken, runner, "FAILED", None, trouble[:TROUBLE_LIMIT_CHARACTERS])

    def let_go(self, taken: Taken, runner: str) -> None:
        """Give it back untried, for whoever comes next."""
        with transaction(self.pool) as connection:
            connection.execute(_LET_GO, (taken.rehearsal_id, runner))

    def _end(
        self, taken: Taken, runner: str, state: State, answer: Jsonb | None, trouble: str
    ) -> bool:
        terms = {
            "rehearsal_id": taken.rehearsal_id,
            "runner": runner,
            "state": state,
            "answer": answer,
            "trouble": trouble.replace("\x00", ""),
        }
        with transaction(self.pool) as connection:
            return connection.execute(_END, terms).rowcount == 1
