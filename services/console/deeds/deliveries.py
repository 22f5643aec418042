"""A person's word on one delivery that waits."""

from typing import Final

from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.words import Word, give_on
from services.console.deeds.once import do_once, press_key
from services.console.people.audit import Deed
from services.console.people.roles import Person
from services.contracts.states import State

ACTIONS: Final = {
    "arrived": "it arrived",
    "absent": "it did not arrive: send it",
    "resend": "send once more, marked where a try may have been taken",
    "close": "do nothing more about it",
}
POSSIBLE: Final = {
    State.IN_DOUBT: ("arrived", "absent", "resend"),
    State.HELD: ("arrived", "absent", "resend", "close"),
    State.FAILED: ("resend", "close"),
    State.PENDING: ("arrived",),
    State.RETRY_WAIT: ("arrived",),
    State.SUPPRESSED: ("arrived",),
}
"""What a person may say of a delivery in a state."""
PERSON_LIMIT_CHARACTERS: Final = 100
WHY_LIMIT_CHARACTERS: Final = 400


def possible(state: State, attempt: int) -> tuple[str, ...]:
    """Return what may be said of a delivery; what was never tried neither arrived nor did not."""
    found = POSSIBLE.get(state, ())
    return found if attempt else tuple(each for each in found if each in ("resend", "close"))


def say(pool: Pool, person: Person, word: Word, key: str | None) -> bool:
    """Move a delivery by a person's word; return False where the same press was done before.

    Raises:
        Refused: the delivery does not wait for this.
        Transient: Postgres is away.
    """
    deed = Deed(word.action, f"delivery {word.delivery_id}", word.why, key=press_key(person, key))
    return do_once(pool, person, deed, lambda connection: give_on(connection, word))
