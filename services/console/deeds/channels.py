"""Stopping a channel for a while, and letting it go on."""

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, Pool
from services.backbone.ledger.deliveries.pauses import pause_on, resume_on
from services.console.deeds.once import do_once, press_key
from services.console.people.audit import Deed
from services.console.people.roles import Person


def pause(pool: Pool, person: Person, channel: str, why: str, key: str | None) -> bool:
    """Stop a channel; return False where the same press was done before.

    Raises:
        Refused: it is stopped already.
        Transient: Postgres is away.
    """

    def stop(connection: Connection) -> None:
        if not pause_on(connection, channel, person.name, why):
            raise Refused(f"channel {channel} is stopped already")

    deed = Deed("pause", f"channel {channel}", why, key=press_key(person, key))
    return do_once(pool, person, deed, stop)


def resume(pool: Pool, person: Person, channel: str, key: str | None) -> bool:
    """Let a channel go on; return False where the same press was done before.

    Raises:
        Refused: it is not stopped.
        Transient: Postgres is away.
    """

    def go_on(connection: Connection) -> None:
        if not resume_on(connection, channel):
            raise Refused(f"channel {channel} is not stopped")

    deed = Deed("resume", f"channel {channel}", key=press_key(person, key))
    return do_once(pool, person, deed, go_on)
