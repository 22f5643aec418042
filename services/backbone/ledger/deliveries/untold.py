"""Moves made where no producer is at hand: by evidence, or by a person's word."""

from typing import Final

from psycopg.rows import kwargs_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.deliveries.moves import Move, move_of
from services.backbone.ledger.statements import fetch_all

TAKE_LIMIT: Final = 500
"""Moves that one call takes at most."""

_TAKE: Final = """
WITH taken AS (
  SELECT move_id FROM untold_moves WHERE channel = %(channel)s
  ORDER BY move_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM untold_moves u USING taken WHERE u.move_id = taken.move_id RETURNING u.*
)
SELECT delivery_id, alert_id, channel, recipient, attempt, before, path, reason, provider_id
FROM gone ORDER BY move_id"""


class UntoldMoves:
    """What is still to be told of one channel."""

    def __init__(self, pool: AsyncPool, channel: str) -> None:
        self._pool = pool
        self._terms = {"channel": channel, "limit": TAKE_LIMIT}

    async def take(self) -> list[Move]:
        """Take the oldest ones, for good: telling is best effort.

        Raises:
            Transient: Postgres is away.
        """
        return await fetch_all(self._pool, kwargs_row(move_of), _TAKE, self._terms)
