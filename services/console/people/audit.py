"""The audit log: what people have done and were refused; only added to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from psycopg.rows import class_row

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool, transaction
from services.backbone.storable import storable
from services.console.people.roles import Person

TEXT_LIMIT_CHARACTERS: Final = 1000
PAGE_LIMIT: Final = 200

_NOTE: Final = """
INSERT INTO audit_log (person, role, door, action, subject, detail, outcome, key)
VALUES (%(person)s, %(role)s, %(door)s, %(action)s, %(subject)s, %(detail)s, %(outcome)s, %(key)s)
ON CONFLICT (key) DO NOTHING RETURNING audit_id"""
_BY_KEY: Final = "SELECT person, action, subject, outcome FROM audit_log WHERE key = %s"
_COLUMNS: Final = "SELECT audit_id, at, person, role, door, action, subject, detail, outcome"
_NEWEST: Final = (
    _COLUMNS + " FROM audit_log WHERE audit_id < %(before)s ORDER BY audit_id DESC LIMIT %(limit)s"
)
_OF: Final = (
    _COLUMNS + " FROM audit_log WHERE subject = %(subject)s ORDER BY audit_id LIMIT %(limit)s"
)


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, to what, and what came of it; `key` names the press of the button."""

    action: str
    subject: str
    detail: str = ""
    outcome: str = "done"
    key: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One line of the log."""

    audit_id: int
    at: datetime
    person: str
    role: str
    door: str
    action: str
    subject: str
    detail: str
    outcome: str


class Audit:
    """Keeps the log; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def note(self, person: Person, deed: Deed) -> bool:
        """Add a line; return False where the same press is noted already."""
        with transaction(self._pool) as connection:
            return note_on(connection, person, deed)

    def newest(self, limit: int, before: int | None = None) -> list[AuditRow]:
        """Return lines, the newest first, those before one if it is named."""
        terms = {"before": before or 2**62, "limit": max(1, min(limit, PAGE_LIMIT))}
        with transaction(self._pool) as connection:
            return (
                connection.cursor(row_factory=class_row(AuditRow))
                .execute(_NEWEST, terms)
                .fetchall()
            )

    def of(self, subject: str, limit: int = PAGE_LIMIT) -> list[AuditRow]:
        """Return what was done to something, the first first."""
        terms = {"subject": subject, "limit": max(1, min(limit, PAGE_LIMIT))}
        with transaction(self._pool) as connection:
            return connection.cursor(row_factory=class_row(AuditRow)).execute(_OF, terms).fetchall()


def note_on(connection: Connection, person: Person, deed: Deed) -> bool:
    """Do as `Audit.note` does, in the transaction of the deed: both stand or neither."""
    terms = {
        "person": person.name or "nobody",
        "role": person.role,
        "door": person.door,
        "action": deed.action,
        "subject": storable(deed.subject, TEXT_LIMIT_CHARACTERS),
        "detail": storable(deed.detail, TEXT_LIMIT_CHARACTERS),
        "outcome": storable(deed.outcome, TEXT_LIMIT_CHARACTERS),
        "key": deed.key,
    }
    return connection.execute(_NOTE, terms).fetchone() is not None


@contextmanager
def noted(pool: Pool, person: Person, deed: Deed) -> Iterator[Connection]:
    """Give a transaction in which a deed is done: it and its line stand together, or neither.

    Raises:
        Refused: as the deed does; that it was refused is noted too.
        Transient: Postgres is away.
    """
    with refusals_noted(pool, person, deed), transaction(pool) as connection:
        note_on(connection, person, deed)
        yield connection


@contextmanager
def refusals_noted(pool: Pool, person: Person, deed: Deed) -> Iterator[None]:
    """Note that a deed was refused, where it is; pass the reason on."""
    try:
        yield
    except Refused as error:
        Audit(pool).note(person, replace(deed, key=None, outcome=f"refused: {error}"))
        raise


def outcome_of(connection: Connection, key: str) -> tuple[str, str, str, str] | None:
    """Return who pressed before with this key, what, to what, and what came of it."""
    row = connection.execute(_BY_KEY, (key,)).fetchone()
    return (row[0], row[1], row[2], row[3]) if row else None
