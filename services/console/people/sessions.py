"""Sessions: a random token in a cookie, its hash in the ledger; any can be ended at once."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.database import Pool, transaction
from services.console.people.roles import Person, Role

TOKEN_BYTES: Final = 32
TOKEN_LIMIT_CHARACTERS: Final = 128
SESSIONS_PER_USER_LIMIT: Final = 20
SEEN_SECONDS: Final = 60
"""How exactly it is noted when a session was last used; half of the idle time if that is less, or
nothing would be noted before the session is over."""

_OPEN: Final = """
INSERT INTO console_sessions (token_sha256, name, ends_at)
VALUES (%s, %s, ledger_now() + make_interval(secs => %s))"""
_TIDY: Final = """
DELETE FROM console_sessions WHERE ends_at < ledger_now() OR token_sha256 IN (
  SELECT token_sha256 FROM console_sessions WHERE name = %s
  ORDER BY opened_at DESC OFFSET %s)"""
_FIND: Final = """
SELECT u.name, u.role, s.seen_at < ledger_now() - make_interval(secs => %(seen)s)
FROM console_sessions s JOIN console_users u USING (name)
WHERE token_sha256 = %(token)s AND u.closed_at IS NULL AND s.ends_at > ledger_now()
  AND s.seen_at > ledger_now() - make_interval(secs => %(idle)s)"""
_SEEN: Final = "UPDATE console_sessions SET seen_at = ledger_now() WHERE token_sha256 = %s"
_CLOSE: Final = "DELETE FROM console_sessions WHERE token_sha256 = %s"


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long a session lasts, and how long it may be left alone."""

    whole_seconds: float = 12 * 3600.0
    idle_seconds: float = 3600.0


class Sessions:
    """Keeps sessions; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool, lifetimes: Lifetimes | None = None) -> None:
        self._pool = pool
        self.lifetimes = lifetimes or Lifetimes()

    def open(self, name: str) -> str:
        """Begin a session of a user; return its token."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with transaction(self._pool) as connection:
            connection.execute(_OPEN, (_stored(token), name, self.lifetimes.whole_seconds))
            connection.execute(_TIDY, (name, SESSIONS_PER_USER_LIMIT))
        return token

    def find(self, token: str, *, is_use: bool = True) -> Person | None:
        """Return whose session it is, with today's role; None if it is over.

        A page that asks by itself is no use: it does not keep a session from ending.
        """
        if not token or len(token) > TOKEN_LIMIT_CHARACTERS:
            return None
        stored = _stored(token)
        idle = self.lifetimes.idle_seconds
        terms = {"token": stored, "seen": min(SEEN_SECONDS, idle / 2), "idle": idle}
        with transaction(self._pool) as connection:
            row = connection.execute(_FIND, terms).fetchone()
            if row is None:
                return None
            if row[2] and is_use:
                connection.execute(_SEEN, (stored,))
        return Person(row[0], Role(row[1]), "page", token)

    def close(self, token: str) -> None:
        """End a session."""
        with transaction(self._pool) as connection:
            connection.execute(_CLOSE, (_stored(token),))


def _stored(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def form_word(token: str) -> str:
    """Return what every form of a session carries: other sites cannot know it."""
    return hmac.new(token.encode(), b"aldebaran form 1", hashlib.sha256).hexdigest()


def is_form_word(token: str, given: str) -> bool:
    """Tell whether a form comes from a page of this session."""
    return hmac.compare_digest(form_word(token).encode(), given.encode("utf-8", "replace"))
