"""Taking an alert in hand."""

from services.backbone.ledger.database import Pool, transaction
from services.backbone.ledger.operators.acknowledgements import Acknowledged, acknowledge_on
from services.console.people.audit import Deed, note_on
from services.console.people.roles import Person


def acknowledge(pool: Pool, person: Person, alert_id: str, note: str) -> Acknowledged:
    """Acknowledge an alert; twice is once, but another note is kept.

    Raises:
        NoSuchAlert: there is none.
        Refused: the note cannot be kept.
        Transient: Postgres is away.
    """
    with transaction(pool) as connection:
        done = acknowledge_on(
            connection, alert_id, person=person.name, via="console", note_text=note
        )
        if done.new or done.noted:
            note_on(connection, person, Deed("acknowledge", f"alert {alert_id}", note))
    return done
