"""The states of a delivery and the moves between them (design.md section 5)."""

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where one delivery stands; every row of the ledger is in exactly one."""

    PENDING = "PENDING"
    CLAIMED = "CLAIMED"
    SENT = "SENT"
    CONFIRMED = "CONFIRMED"
    RETRY_WAIT = "RETRY_WAIT"
    FAILED = "FAILED"
    IN_DOUBT = "IN_DOUBT"
    HELD = "HELD"
    SUPPRESSED = "SUPPRESSED"
    CLOSED = "CLOSED"


MOVES: Final[dict[State, frozenset[State]]] = {
    State.PENDING: frozenset({State.CLAIMED, State.SENT, State.SUPPRESSED, State.HELD}),
    State.CLAIMED: frozenset({State.SENT, State.RETRY_WAIT, State.FAILED, State.IN_DOUBT}),
    State.SENT: frozenset({State.CONFIRMED, State.FAILED}),
    State.CONFIRMED: frozenset(),
    State.RETRY_WAIT: frozenset({State.CLAIMED, State.SENT, State.SUPPRESSED, State.HELD}),
    State.FAILED: frozenset({State.RETRY_WAIT, State.CLOSED}),
    State.IN_DOUBT: frozenset({State.SENT, State.RETRY_WAIT, State.HELD}),
    State.HELD: frozenset({State.SENT, State.RETRY_WAIT, State.CLOSED}),
    State.SUPPRESSED: frozenset({State.PENDING, State.SENT, State.HELD, State.CLOSED}),
    State.CLOSED: frozenset(),
}
"""Every allowed move; the ledger refuses any other.

Only a claim leads to a send. From RETRY_WAIT, IN_DOUBT, HELD and SUPPRESSED, and from PENDING if it
was tried before it was SUPPRESSED and released, SENT is reached by evidence alone: the provider's
own word, found afterwards, that it has the message.
"""

CLAIMABLE: Final = frozenset({State.PENDING, State.RETRY_WAIT})
"""States from which a deliverer may claim."""

TERMINAL: Final = frozenset({State.SENT, State.CONFIRMED, State.FAILED, State.CLOSED})
"""States in which nothing more happens by itself; all others are open and shown with their age."""


def may_move(before: State, after: State) -> bool:
    """Tell whether the table allows this move."""
    return after in MOVES[before]
