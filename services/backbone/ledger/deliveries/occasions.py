"""Whether there is anything for the sweeps of a channel: one question, where seven found nothing.

A deliverer at rest asks it every second; what it answers may be over when a sweep comes, and what
comes up meanwhile is found a turn later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from psycopg.rows import class_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.deliveries.evidence_sql import TO_BE_WEIGHED
from services.backbone.ledger.deliveries.pauses import IS_PAUSED
from services.backbone.ledger.deliveries.sweeps import (
    IS_DOUBTFUL,
    IS_LOST,
    IS_TOO_OLD,
    LEASE_IS_OVER,
    Fenced,
    columns,
)
from services.backbone.ledger.statements import fetch_all

_ANY: Final = "EXISTS (SELECT FROM deliveries WHERE channel = %(channel)s AND {})"
_ASK: Final = """
SELECT {is_paused} AS is_paused,
  {is_any} OR EXISTS (SELECT FROM untold_moves WHERE channel = %(channel)s) AS has_work
""".format(
    is_paused=IS_PAUSED,
    is_any=" OR ".join(
        _ANY.format(condition)
        for condition in (IS_LOST, LEASE_IS_OVER, IS_TOO_OLD, IS_DOUBTFUL, TO_BE_WEIGHED)
    ),
)


@dataclass(frozen=True, slots=True)
class Occasion:
    """How a channel is found: stopped by a person, and with anything that a sweep would find."""

    is_paused: bool
    has_work: bool


class Occasions:
    """Asks of one channel, for one owner of claims."""

    def __init__(
        self, pool: AsyncPool, *, channel: str, owner: str, age_limit_seconds: float
    ) -> None:
        self._pool = pool
        self._terms = {"channel": channel, "owner": owner, "age_limit": age_limit_seconds}

    async def ask(
        self, known: Sequence[Fenced], deadline_seconds: float, asked: int = -1
    ) -> Occasion:
        """Tell whether any sweep would find something; terms as `Sweeps.lost` and `doubtful` have.

        A claim that is being made meanwhile is taken for one that is lost.

        Raises:
            Transient: Postgres is away.
        """
        terms = self._terms | columns(known) | {"deadline": deadline_seconds, "asked": asked}
        (occasion,) = await fetch_all(self._pool, class_row(Occasion), _ASK, terms)
        return occasion
