"""Evidence: what was found out about a delivery after its send, kept and applied when it may be.

What was taken, and then confirmed or reported as not delivered, may be told before the send's own
answer, twice, and in any sequence. So each piece is kept once, and weighed when nobody is sending:
at once, or after the claim in hand has ended (`EvidenceWeigher`). docs/evidence.md has the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from psycopg.rows import kwargs_row

from services.backbone.ledger.database import AsyncPool, Connection, Pool, statements
from services.backbone.ledger.deliveries.evidence_sql import GIVE, WEIGH
from services.backbone.ledger.deliveries.moves import Move, move_of
from services.backbone.ledger.statements import fetch_all
from services.backbone.storable import storable

WEIGH_LIMIT: Final = 500
"""Deliveries whose evidence one call weighs at most."""
TEXT_LIMIT: Final = 500
"""Characters that are kept of each text."""


class EvidenceKind(StrEnum):
    """What a piece of evidence says."""

    TAKEN = "TAKEN"
    """The provider has the message."""
    ABSENT = "ABSENT"
    """The named try was not taken and never will be."""
    CONFIRMED = "CONFIRMED"
    """The recipient has the message."""
    UNDELIVERED = "UNDELIVERED"
    """The provider had the message and could not deliver it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence; `attempt` is the try it is about, 0 if the source cannot say.

    The same piece given again, with equal id, kind, source, provider id and attempt, is one piece.

    Raises:
        ValueError: ABSENT does not say of which try.
    """

    delivery_id: str
    kind: EvidenceKind
    source: str
    provider_id: str = ""
    detail: str = ""
    attempt: int = 0

    def __post_init__(self) -> None:
        if self.kind is EvidenceKind.ABSENT and self.attempt < 1:
            raise ValueError("ABSENT is about one try: say which")


class EvidenceBook:
    """Takes evidence from threads."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def give(self, evidence: Sequence[Evidence]) -> list[Move]:
        """Keep evidence and move the deliveries that it allows to move, in one transaction.

        Returns:
            What it has come to for each delivery that the ledger knows; of others nothing is kept.

        Raises:
            Transient: Postgres is away; giving the same again is right.
        """
        with statements(self._pool) as connection:
            return give_on(connection, evidence)


class AsyncEvidenceBook:
    """Takes evidence on an event loop."""

    def __init__(self, pool: AsyncPool) -> None:
        self._pool = pool

    async def give(self, evidence: Sequence[Evidence]) -> list[Move]:
        """Do as `EvidenceBook.give` does."""
        return await fetch_all(self._pool, kwargs_row(move_of), GIVE, _columns(evidence))

    async def weigh(self, channel: str) -> list[Move]:
        """Weigh a channel's evidence that came while its deliveries were claimed, if they are not
        any more; at most WEIGH_LIMIT deliveries.

        Raises:
            Transient: Postgres is away.
        """
        terms = _columns(()) | {"channel": channel, "limit": WEIGH_LIMIT}
        return await fetch_all(self._pool, kwargs_row(move_of), WEIGH, terms)


def give_on(connection: Connection, evidence: Sequence[Evidence]) -> list[Move]:
    """Do as `EvidenceBook.give` does, inside a transaction of the caller's."""
    with connection.cursor(row_factory=kwargs_row(move_of)) as cursor:
        return cursor.execute(GIVE, _columns(evidence)).fetchall()


def _columns(evidence: Sequence[Evidence]) -> dict[str, Any]:
    return {
        "ids": [storable(each.delivery_id, TEXT_LIMIT) for each in evidence],
        "kinds": [each.kind.value for each in evidence],
        "sources": [storable(each.source, TEXT_LIMIT) for each in evidence],
        "provider_ids": [storable(each.provider_id, TEXT_LIMIT) for each in evidence],
        "attempts": [each.attempt for each in evidence],
        "details": [storable(each.detail, TEXT_LIMIT) for each in evidence],
    }
