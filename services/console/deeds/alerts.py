"""Taking an alert in hand."""

from services.backbone.ledger.acknowledgements import Acknowledged, Acknowledgements
from services.backbone.ledger.database import Pool
from services.console.people.audit import Audit, Deed
from services.console.people.roles import Person


def acknowledge(pool: Pool, person: Person, alert_id: str, note: str) -> Acknowledged:
    """Acknowledge an alert; twice is once.

    Raises:
        NoSuchAlert: there is none.
        Refused: the note cannot be kept.
        Transient: Postgres is away.
    """
    done = Acknowledgements(pool).acknowledge(
        alert_id, person=person.name, via="console", note_text=note
    )
    if done.new:
        Audit(pool).note(person, Deed("acknowledge", f"alert {alert_id}", note))
    return done
