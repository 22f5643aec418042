"""Users, kept in the ledger: each change stands with its line in the audit log, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.rows import class_row
from pydantic import TypeAdapter, ValidationError

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool, transaction
from services.console.people.audit import Deed, noted
from services.console.people.passwords import hashed
from services.console.people.roles import Person, Role
from services.contracts.records import Name

USERS_LIMIT: Final = 1000
"""Most users of one page."""
_NAME: Final = TypeAdapter(Name)

_ONE: Final = """
SELECT name, password_hash, role, made_at, made_by, closed_at, issuer FROM console_users
WHERE name = %s"""
_PAGE: Final = """
SELECT name, password_hash, role, made_at, made_by, closed_at, issuer FROM console_users
WHERE name > %s ORDER BY name LIMIT %s"""
_ADD: Final = """
INSERT INTO console_users (name, password_hash, role, made_by) VALUES (%s, %s, %s, %s)
ON CONFLICT (name) DO UPDATE SET password_hash = excluded.password_hash, role = excluded.role,
  made_at = excluded.made_at, made_by = excluded.made_by, closed_at = NULL
WHERE console_users.closed_at IS NOT NULL AND console_users.subject IS NULL"""
_ADD_FIRST: Final = """
INSERT INTO console_users (name, password_hash, role, made_by)
SELECT %s, %s, 'admin', 'start' WHERE NOT EXISTS (SELECT FROM console_users)
ON CONFLICT (name) DO NOTHING"""
_RENEW: Final = """
UPDATE console_users SET password_hash = %s
WHERE name = %s AND closed_at IS NULL AND subject IS NULL"""
_SET_ROLE: Final = """
UPDATE console_users SET role = %s
WHERE name = %s AND closed_at IS NULL AND subject IS NULL"""
_CLOSE: Final = """
UPDATE console_users SET closed_at = ledger_now() WHERE name = %s AND closed_at IS NULL"""
_END_SESSIONS: Final = "DELETE FROM console_sessions WHERE name = %s"
_IS_LAST_ADMIN: Final = """
SELECT array_agg(name) = ARRAY[%s::text] FROM console_users
WHERE role = 'admin' AND closed_at IS NULL AND subject IS NULL"""
_LOCK: Final = "LOCK TABLE console_users IN SHARE ROW EXCLUSIVE MODE"


@dataclass(frozen=True, slots=True)
class User:
    """One user; `closed_at` is set once they are no longer let in.

    Whom a login provider vouches for has its address as `issuer`, and no password here.
    """

    name: str
    password_hash: str | None
    role: str
    made_at: datetime
    made_by: str
    closed_at: datetime | None
    issuer: str | None


class Users:
    """Keeps users; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def find(self, name: str) -> User | None:
        """Return a user, also one who is closed; None if there is none."""
        if "\0" in name:
            return None
        with transaction(self._pool) as connection:
            return connection.cursor(row_factory=class_row(User)).execute(_ONE, (name,)).fetchone()

    def page(self, after: str = "", limit: int = USERS_LIMIT) -> list[User]:
        """Return users by name, the first ones after a name."""
        with transaction(self._pool) as connection:
            cursor = connection.cursor(row_factory=class_row(User))
            return cursor.execute(_PAGE, (after, limit)).fetchall()

    def all(self) -> Iterator[User]:
        """Yield all users by name."""
        after = ""
        while page := self.page(after):
            yield from page
            after = page[-1].name

    def add(self, by: Person, name: str, password: str, role: Role) -> None:
        """Add a user, or one again who is closed and had a password here.

        Raises:
            Refused: the name or the password cannot be used, or the name is taken.
        """
        stored = hashed(password)
        with noted(self._pool, by, Deed("add user", name, role)) as connection:
            if connection.execute(_ADD, (checked(name), stored, role, by.name)).rowcount == 0:
                raise Refused(
                    f"there is a user {name} already; where their password was not shown, give "
                    "them a new one"
                )
            # One that was opened while they were being closed was of no use, and is not to be.
            connection.execute(_END_SESSIONS, (name,))

    def add_first(self, name: str, password: str) -> bool:
        """Add an admin if there is no user at all; return whether this was done."""
        stored = hashed(password)
        with transaction(self._pool) as connection:
            connection.execute(_LOCK)
            return connection.execute(_ADD_FIRST, (checked(name), stored)).rowcount == 1

    def set_password(self, by: Person, password: str, deed: Deed) -> None:
        """Give the deed's subject another password, and end their sessions.

        Raises:
            Refused: the password cannot be used, or there is no such user.
        """
        stored = hashed(password)
        with noted(self._pool, by, deed) as connection:
            if connection.execute(_RENEW, (stored, deed.subject)).rowcount == 0:
                raise _unknown(deed.subject)
            connection.execute(_END_SESSIONS, (deed.subject,))

    def renew_hash(self, name: str, stored: str) -> None:
        """Keep a stronger hash of the same password; sessions go on."""
        with transaction(self._pool) as connection:
            connection.execute(_RENEW, (stored, name))

    def set_role(self, by: Person, name: str, role: Role) -> None:
        """Give a user another role; it counts from the next request on.

        Raises:
            Refused: there is no such user, or it is the last admin.
        """
        with noted(self._pool, by, Deed("change role", name, role)) as connection:
            connection.execute(_LOCK)
            if role is not Role.ADMIN:
                _keep_an_admin(connection, name)
            if connection.execute(_SET_ROLE, (role, name)).rowcount == 0:
                raise _unknown(name)

    def close(self, by: Person, name: str) -> None:
        """Let a user in no more, from the next request on.

        Raises:
            Refused: there is no such user, or it is the last admin.
        """
        with noted(self._pool, by, Deed("close user", name)) as connection:
            connection.execute(_LOCK)
            _keep_an_admin(connection, name)
            if connection.execute(_CLOSE, (name,)).rowcount == 0:
                raise Refused(f"there is no user {name[:64]}, or no longer")
            connection.execute(_END_SESSIONS, (name,))


def checked(name: str) -> str:
    """Return a name that a user may have.

    Raises:
        Refused: it may not be used.
    """
    try:
        return _NAME.validate_python(name)
    except ValidationError:
        raise Refused("a name has 1 to 63 characters: a-z, 0-9, dot, dash, underline") from None


def _keep_an_admin(connection: Connection, name: str) -> None:
    row = connection.execute(_IS_LAST_ADMIN, (name,)).fetchone()
    if row and row[0]:
        raise Refused("this is the last admin: make another one first")


def _unknown(name: str) -> Refused:
    return Refused(
        f"there is no user {name[:64]} with a password here, or no longer; role and password of "
        "those who come by the login provider are given there"
    )
