"""A person's word on deliveries that wait: send again, close, it arrived, or did not; each is kept.

The channel's deliverer tells the moves.
"""

from dataclasses import dataclass, replace
from typing import Final

from psycopg.rows import class_row

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, own_connection
from services.backbone.ledger.deliveries.evidence import Evidence, EvidenceKind
from services.backbone.ledger.deliveries.evidence import give_on as give_evidence
from services.backbone.settings import LedgerSettings
from services.contracts.states import State

LIST_LIMIT: Final = 200
ARRIVED: Final = "arrived"
ABSENT: Final = "absent"
RESEND: Final = "resend"

_WAITS: Final = {RESEND: "HELD or FAILED or IN_DOUBT", "close": "HELD or FAILED"}

_ATTEMPT: Final = "SELECT attempt FROM deliveries WHERE delivery_id = %(id)s FOR UPDATE"

_WAITING: Final = """
SELECT delivery_id, channel, recipient, state, attempt, reason,
  extract(epoch FROM ledger_now() - created_at)::float8 AS age_seconds
FROM deliveries WHERE channel = %s AND state IN ('HELD', 'FAILED', 'IN_DOUBT')
ORDER BY updated_at DESC LIMIT %s"""

# A row with a try that may have been taken goes out again only with the mark.
_GIVE: Final = """
WITH waiting AS (
  SELECT delivery_id, state AS before FROM deliveries
  WHERE delivery_id = %(id)s AND (state IN ('HELD', 'FAILED')
    OR state = 'IN_DOUBT' AND %(action)s = 'resend') FOR UPDATE
), moved AS (
  UPDATE deliveries d
  SET state = CASE WHEN %(action)s = 'resend' THEN 'RETRY_WAIT' ELSE 'CLOSED' END,
    marked_repeat = d.marked_repeat OR %(action)s = 'resend' AND EXISTS (
      SELECT FROM attempts a WHERE a.delivery_id = d.delivery_id
        AND coalesce(a.outcome, 'IN_DOUBT') IN ('IN_DOUBT', 'SENT', 'CONFIRMED')),
    reason = concat(%(action)s::text, ' by ', %(person)s::text, ': ', %(why)s::text),
    next_attempt_at = ledger_now(), updated_at = ledger_now()
  FROM waiting w WHERE d.delivery_id = w.delivery_id
  RETURNING d.*, w.before
), announced AS (
  INSERT INTO untold_moves
    (delivery_id, alert_id, channel, recipient, attempt, before, path, reason)
  SELECT delivery_id, alert_id, channel, recipient, attempt, before, ARRAY[state], reason FROM moved
)
INSERT INTO words (delivery_id, given_at, person, action, why, before)
SELECT delivery_id, ledger_now(), %(person)s, %(action)s, %(why)s, before
FROM moved RETURNING before"""

_KEEP: Final = """
INSERT INTO words (delivery_id, given_at, person, action, why, before)
VALUES (%(id)s, ledger_now(), %(person)s, %(action)s, %(why)s, %(before)s)"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One delivery that only a person moves on."""

    delivery_id: str
    channel: str
    recipient: str
    state: str
    attempt: int
    reason: str
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Word:
    """What a person decides: `action` is resend, close, arrived or absent.

    `attempt` is the try that the person has looked at; None: whichever is the last.
    """

    delivery_id: str
    action: str
    person: str
    why: str
    attempt: int | None = None


def waiting(settings: LedgerSettings, channel: str) -> list[Waiting]:
    """Return what waits for a person on one channel, newest first, at most LIST_LIMIT.

    Raises:
        Transient: Postgres is away.
        Refused: Postgres does not let us in.
    """
    with own_connection(settings) as connection:
        cursor = connection.cursor(row_factory=class_row(Waiting))
        return cursor.execute(_WAITING, (channel, LIST_LIMIT)).fetchall()


def give(settings: LedgerSettings, word: Word) -> None:
    """Do as `give_on` does, on a connection of its own.

    Raises:
        Transient: Postgres is away.
        Refused: Postgres does not let us in, or no such delivery waits.
    """
    with own_connection(settings) as connection:
        give_on(connection, word)


def give_on(connection: Connection, word: Word) -> None:
    """Move a delivery as a person decided, and keep who and why, in the caller's transaction.

    A HELD or FAILED one is sent again or closed, one IN_DOUBT is sent again. That one arrived, or
    did not, is evidence like any other: it ends a doubt; what arrived is not repeated, and what
    did not is sent without a mark.

    Raises:
        Refused: no such delivery waits, or it was tried again since the person looked.
    """
    attempt = _last_try(connection, word)
    if word.action == ARRIVED:
        _arrived(connection, word, attempt)
    elif word.action == ABSENT:
        _absent(connection, word, attempt)
    elif connection.execute(_GIVE, _terms(word)).fetchone() is None:
        raise Refused(f"no delivery {word.delivery_id} is {_WAITS[word.action]}")


def _last_try(connection: Connection, word: Word) -> int:
    """Return the number of a delivery's last try, 0 if there was none; nobody tries it meanwhile.

    Raises:
        Refused: the word is on an earlier one. That it arrived holds of whichever try.
    """
    found = connection.execute(_ATTEMPT, _terms(word)).fetchone()
    last: int = found[0] if found else 0
    if found and word.action != ARRIVED and word.attempt not in (None, last):
        said = f"delivery {word.delivery_id} is at try {last}, your word is on try {word.attempt}"
        raise Refused(f"{said}: look at it again, then say what became of try {last}")
    return last


def _arrived(connection: Connection, word: Word, attempt: int) -> None:
    person = f"person {word.person}"
    seen = Evidence(word.delivery_id, EvidenceKind.TAKEN, person, "", word.why, attempt)
    moved = [each for each in give_evidence(connection, [seen]) if each.path]
    if not moved:
        raise Refused(f"no delivery {word.delivery_id} is HELD, IN_DOUBT or waits for a repeat")
    connection.execute(_KEEP, _terms(word) | {"before": moved[0].before})


def _absent(connection: Connection, word: Word, attempt: int) -> None:
    if attempt < 1:
        raise Refused(f"no delivery {word.delivery_id} was tried")
    person = f"person {word.person}"
    seen = Evidence(word.delivery_id, EvidenceKind.ABSENT, person, "", word.why, attempt)
    moved = give_evidence(connection, [seen])
    if any(each.path for each in moved):
        connection.execute(_KEEP, _terms(word) | {"before": moved[0].before})
        return
    again = replace(word, action=RESEND, why=f"it did not arrive: {word.why}")
    if moved[0].before is not State.HELD or not connection.execute(_GIVE, _terms(again)).fetchone():
        raise Refused(f"no delivery {word.delivery_id} is HELD or IN_DOUBT")


def _terms(word: Word) -> dict[str, str]:
    return {
        "id": word.delivery_id,
        "action": word.action,
        "person": word.person,
        "why": word.why,
    }
