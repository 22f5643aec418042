"""Switching a trace on for a while, and off before its time."""

import uuid

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool
from services.backbone.web.problems import Problem
from services.console.deeds.once import do_once, press_key
from services.console.people.audit import Deed
from services.console.people.roles import Person
from services.console.tracing.store import begin_on, end_on
from services.contracts.ids import digest

MINUTES_DEFAULT = 15
MINUTES_LIMIT = 8 * 60
KEY_LIMIT_CHARACTERS = 512


def begin(
    pool: Pool, person: Person, key: str, minutes: int, why: str, press: str | None
) -> tuple[str, bool]:
    """Trace a key; return the trace's id, and whether this press was new.

    Raises:
        Refused: it is traced already, or too many traces are on.
        Transient: Postgres is away.
    """
    pressed = press_key(person, press)
    trace_id = digest("trace", pressed or uuid.uuid4().hex)

    def on(connection: Connection) -> None:
        begin_on(connection, trace_id, key, person.name, why, minutes * 60.0)

    deed = Deed("trace", f"key {key}", f"for {minutes} min: {why}", key=pressed)
    return trace_id, do_once(pool, person, deed, on)


def end(pool: Pool, person: Person, trace_id: str, press: str | None) -> bool:
    """End a trace now; return False where the same press was done before.

    Raises:
        Problem: it is over already.
        Transient: Postgres is away.
    """

    def off(connection: Connection) -> None:
        if not end_on(connection, trace_id):
            raise Refused("this trace is over already")

    deed = Deed("end trace", f"trace {trace_id}", key=press_key(person, press))
    try:
        return do_once(pool, person, deed, off)
    except Refused as error:
        raise Problem(409, "over_already", str(error)) from None
