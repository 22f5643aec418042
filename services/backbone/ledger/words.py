"""A person's word on deliveries that wait for one: send again, or close; each is kept."""

from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg.rows import class_row

from services.backbone.errors import Refused
from services.backbone.ledger.database import connection_options, sorted_troubles
from services.backbone.settings import LedgerSettings

LIST_LIMIT: Final = 200

_WAITING: Final = """
SELECT delivery_id, channel, recipient, state, attempt, reason,
  extract(epoch FROM ledger_now() - created_at)::float8 AS age_seconds
FROM deliveries WHERE channel = %s AND state IN ('HELD', 'FAILED')
ORDER BY updated_at DESC LIMIT %s"""

# A row with a try that may have been taken goes out again only with the mark.
_GIVE: Final = """
WITH waiting AS (
  SELECT delivery_id, state AS before FROM deliveries
  WHERE delivery_id = %(id)s AND state IN ('HELD', 'FAILED') FOR UPDATE
), moved AS (
  UPDATE deliveries d
  SET state = CASE WHEN %(action)s = 'resend' THEN 'RETRY_WAIT' ELSE 'CLOSED' END,
    marked_repeat = d.marked_repeat OR %(action)s = 'resend' AND EXISTS (
      SELECT FROM attempts a WHERE a.delivery_id = d.delivery_id
        AND coalesce(a.outcome, 'IN_DOUBT') = 'IN_DOUBT'),
    reason = concat(%(action)s::text, ' by ', %(person)s::text, ': ', %(why)s::text),
    next_attempt_at = ledger_now(), updated_at = ledger_now()
  FROM waiting w WHERE d.delivery_id = w.delivery_id
  RETURNING d.delivery_id, w.before
)
INSERT INTO words (delivery_id, person, action, why, before)
SELECT delivery_id, %(person)s, %(action)s, %(why)s, before FROM moved RETURNING before"""


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
    """What a person decides: `action` is resend or close."""

    delivery_id: str
    action: str
    person: str
    why: str


def waiting(settings: LedgerSettings, channel: str) -> list[Waiting]:
    """Return what waits for a person on one channel, newest first, at most LIST_LIMIT.

    Raises:
        Transient: Postgres is away.
    """
    url = settings.postgres_url.get_secret_value()
    with sorted_troubles(), psycopg.connect(url, **connection_options()) as connection:
        cursor = connection.cursor(row_factory=class_row(Waiting))
        return cursor.execute(_WAITING, (channel, LIST_LIMIT)).fetchall()


def give(settings: LedgerSettings, word: Word) -> None:
    """Move a HELD or FAILED delivery as a person decided, and keep who and why.

    Raises:
        Transient: Postgres is away.
        Refused: no such delivery waits.
    """
    url = settings.postgres_url.get_secret_value()
    terms = {
        "id": word.delivery_id,
        "action": word.action,
        "person": word.person,
        "why": word.why,
    }
    with sorted_troubles(), psycopg.connect(url, **connection_options()) as connection:
        moved = connection.execute(_GIVE, terms).fetchone()
    if moved is None:
        raise Refused(f"no delivery {word.delivery_id} is HELD or FAILED")
