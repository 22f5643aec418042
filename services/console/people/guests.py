"""People whom a login provider vouches for: kept beside the local users, without a password.

Who somebody is, is the provider's subject; the name is for people to read and never changes hands.
"""

from typing import Final

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool, transaction
from services.console.people.audit import Deed, noted
from services.console.people.roles import Person, Role

_FIND: Final = """
SELECT name, closed_at IS NOT NULL FROM console_users
WHERE issuer = %(issuer)s AND subject = %(subject)s FOR UPDATE"""
_ADD: Final = """
INSERT INTO console_users (name, role, made_by, issuer, subject)
VALUES (%(name)s, %(role)s, 'oidc', %(issuer)s, %(subject)s)
ON CONFLICT DO NOTHING"""
_RENEW: Final = """
UPDATE console_users SET role = %(role)s
WHERE issuer = %(issuer)s AND subject = %(subject)s"""
_FORGET: Final = "DELETE FROM console_users WHERE name = %s AND subject IS NOT NULL"


class Guests:
    """Keeps them; every method raises Transient while Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def arrive(self, issuer: str, subject: str, name: str, role: Role) -> str:
        """Note somebody who has come, with today's role; return the name they have here.

        Raises:
            Refused: they are not let in any more, or the name is of somebody else.
        """
        terms = {"issuer": issuer, "subject": subject, "name": name, "role": role}
        with transaction(self._pool) as connection:
            connection.execute(_ADD, terms)
            kept = _kept(connection, terms)
            connection.execute(_RENEW, terms)
        return kept

    def forget(self, by: Person, name: str) -> None:
        """Forget somebody; the next who comes by this name is new. Local users stay.

        Raises:
            Refused: the provider has brought nobody of this name.
        """
        with noted(self._pool, by, Deed("forget user", name)) as connection:
            if connection.execute(_FORGET, (name,)).rowcount == 0:
                raise Refused(f"nobody called {name[:100]} has come by the login provider")


def _kept(connection: Connection, terms: dict[str, str]) -> str:
    row = connection.execute(_FIND, terms).fetchone()
    if row is None:
        raise Refused(
            f"{terms['name']} is somebody else here: the provider gave that name to another person "
            "before; an admin lets the new one in by `user forget`"
        )
    if row[1]:
        raise Refused(f"{row[0]} is not let in any more; an admin can change that")
    return str(row[0])
