"""A deed in the ledger: it and its line of the audit log stand together, and a key only once."""

from collections.abc import Callable

from services.backbone.ledger.database import Connection, Pool, transaction
from services.backbone.web.problems import Problem
from services.console.people.audit import Deed, note_on, outcome_of, refusals_noted
from services.console.people.roles import Person
from services.contracts.ids import digest

KEY_LIMIT_CHARACTERS = 256


def press_key(person: Person, given: str | None) -> str | None:
    """Return what names one press: a person's key is nobody else's."""
    return digest("press", person.name, given[:KEY_LIMIT_CHARACTERS]) if given else None


def do_once(pool: Pool, person: Person, deed: Deed, doing: Callable[[Connection], None]) -> bool:
    """Do a deed and note it, in one transaction; return False where this press was done before.

    Raises:
        Refused: it is not possible; that is noted too.
        Problem: 409, the key was used for something else.
        Transient: Postgres is away; the same press again is right.
    """
    with refusals_noted(pool, person, deed), transaction(pool) as connection:
        if not note_on(connection, person, deed):
            _check_same(connection, deed)
            return False
        doing(connection)
    return True


def _check_same(connection: Connection, deed: Deed) -> None:
    before = outcome_of(connection, deed.key or "")
    if before is None or before[1:3] != (deed.action, deed.subject):
        raise Problem(409, "key_used", "this key was used for something else; take a new one")
