"""Acknowledging: somebody has an alert in hand, so nobody else is told of it later."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from psycopg.rows import class_row

from services.backbone.errors import Refused
from services.backbone.ledger.alerts.decisions import Decision, note
from services.backbone.ledger.database import Connection, Pool, transaction

Via = Literal["link", "api", "console"]

PERSON_LIMIT_CHARACTERS: Final = 512
NOTE_LIMIT_CHARACTERS: Final = 2000
LIST_LIMIT: Final = 100

# The alert's row first: whoever escalates locks it too, so that one of both waits for the other.
_LOCK: Final = "SELECT FROM alerts WHERE alert_id = %s FOR NO KEY UPDATE"
_ADD: Final = """
INSERT INTO acknowledgements (alert_id, person, via, note) VALUES (%s, %s, %s, %s)
ON CONFLICT (alert_id, person) DO NOTHING RETURNING at
"""
_NOTE_TIME: Final = """
UPDATE alerts SET acknowledged_at = ledger_now() WHERE alert_id = %s AND acknowledged_at IS NULL
"""
_END: Final = """
UPDATE escalations SET state = 'ENDED' WHERE alert_id = %s AND state = 'WAITING'
RETURNING name, step
"""
# The first note stands with the acknowledgement, later ones with the decisions.
_SAID: Final = """
SELECT FROM acknowledgements WHERE alert_id = %(alert_id)s AND person = %(person)s
  AND note = %(note)s
UNION ALL
SELECT FROM decisions WHERE alert_id = %(alert_id)s AND stage = 'acknowledge' AND why = %(why)s
LIMIT 1
"""
_OF: Final = """
SELECT person, via, note, at FROM acknowledgements WHERE alert_id = %s ORDER BY at, person LIMIT %s
"""
_SEEN: Final = """
SELECT d.delivery_id, d.alert_id, d.channel, d.recipient, a.watch, a.severity, a.summary,
  a.detected_at, a.acknowledged_at
FROM deliveries d JOIN alerts a USING (alert_id) WHERE delivery_id = %s
"""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Who acknowledged, by which door, with which note, and when."""

    person: str
    via: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What one acknowledging came to: whether it is the first word of this person, and all so far.

    `first` is who was first of all; later ones are kept, and change nothing. `noted` is whether it
    is another note of somebody who has the alert in hand already.
    """

    new: bool
    all: tuple[Acknowledgement, ...]
    noted: bool = False

    @property
    def first(self) -> Acknowledgement:
        """Who acknowledged first."""
        return self.all[0]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person sees of a delivery's alert before acknowledging it."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    watch: str
    severity: str
    summary: str
    detected_at: datetime
    acknowledged_at: datetime | None


class NoSuchAlert(Refused):
    """The ledger has no such alert."""


class Acknowledgements:
    """Keeps acknowledgements; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def acknowledge(
        self, alert_id: str, *, person: str, via: Via, note_text: str = ""
    ) -> Acknowledged:
        """Do as `acknowledge_on` does, in a transaction of its own."""
        with transaction(self._pool) as connection:
            return acknowledge_on(connection, alert_id, person=person, via=via, note_text=note_text)

    def of(self, alert_id: str) -> tuple[Acknowledgement, ...]:
        """Return who has acknowledged an alert, the first first."""
        with transaction(self._pool) as connection:
            return _of(connection, alert_id)

    def shown(self, delivery_id: str) -> Shown | None:
        """Return what a delivery is about, or None if there is no such delivery."""
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=class_row(Shown))
            return cursor.execute(_SEEN, (delivery_id,)).fetchone()


def acknowledge_on(
    connection: Connection, alert_id: str, *, person: str, via: Via, note_text: str = ""
) -> Acknowledged:
    """Note that a person has the alert in hand, and end its escalation; twice is once, but another
    note is kept.

    Raises:
        NoSuchAlert: there is none.
        Refused: the person or the note cannot be kept.
    """
    _check(person, note_text)
    if connection.execute(_LOCK, (alert_id,)).rowcount == 0:
        raise NoSuchAlert(f"the ledger has no alert {alert_id[:64]}")
    is_new = connection.execute(_ADD, (alert_id, person, via, note_text)).rowcount == 1
    connection.execute(_NOTE_TIME, (alert_id,))
    ended = sorted((row[0], row[1] + 1) for row in connection.execute(_END, (alert_id,)))
    steps = [f"{name} step {number}" for name, number in ended]
    why = told_why(person, via, note_text, steps if is_new else ())
    is_noted = not is_new and not _is_said(connection, alert_id, person, note_text, why)
    if is_new or is_noted:
        decided = "acknowledged" if is_new else "noted"
        note(connection, [Decision(alert_id, None, "acknowledge", decided, why)])
    return Acknowledged(is_new, _of(connection, alert_id), is_noted)


def told_why(person: str, via: Via, note_text: str, ended: Sequence[str]) -> str:
    """Return what is told of a word: whose it is, what it ended, and what was said."""
    ending = f"; ended {', '.join(ended)}" if ended else ""
    said = f": {note_text}" if note_text.strip() else ""
    return f"by {person} ({via}){ending}{said}"


def _check(person: str, note_text: str) -> None:
    if not person.strip() or len(person) > PERSON_LIMIT_CHARACTERS or "\0" in person:
        raise Refused(f"say who acknowledges: 1 to {PERSON_LIMIT_CHARACTERS} characters")
    if len(note_text) > NOTE_LIMIT_CHARACTERS or "\0" in note_text:
        raise Refused(f"a note has at most {NOTE_LIMIT_CHARACTERS} characters, none of them NUL")


def _is_said(connection: Connection, alert_id: str, person: str, note_text: str, why: str) -> bool:
    """Return whether a later word says nothing new: the same press again is once."""
    terms = {"alert_id": alert_id, "person": person, "note": note_text, "why": why}
    return not note_text.strip() or connection.execute(_SAID, terms).rowcount == 1


def _of(connection: Connection, alert_id: str) -> tuple[Acknowledgement, ...]:
    cursor = connection.cursor(row_factory=class_row(Acknowledgement))
    return tuple(cursor.execute(_OF, (alert_id, LIST_LIMIT)))
