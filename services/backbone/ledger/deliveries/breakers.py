"""Which destinations deliverers leave alone for now, so that whoever asks why is told.

A row lapses when its deliverer, perhaps dead, has not noted it for `LAPSES_SECONDS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from psycopg.rows import scalar_row

from services.backbone.ledger.database import AsyncPool
from services.backbone.ledger.statements import fetch_all

LAPSES_SECONDS: Final = 60
NOTED_LIMIT: Final = 200
"""Most destinations of one deliverer that are noted."""

_NOTE: Final = """
WITH closed AS (
  DELETE FROM open_breakers WHERE channel = %(channel)s
    AND ((owner = %(owner)s AND destination <> ALL(%(destinations)s::text[]))
      OR noted_at < ledger_now() - make_interval(secs => %(lapses)s))
)
INSERT INTO open_breakers (channel, owner, destination, reason, probe_at)
SELECT %(channel)s, %(owner)s, destination, reason, ledger_now() + make_interval(secs => probe_in)
FROM unnest(%(destinations)s::text[], %(reasons)s::text[], %(probes_in)s::float8[])
  AS open (destination, reason, probe_in)
ON CONFLICT (channel, owner, destination) DO UPDATE
SET reason = excluded.reason, probe_at = excluded.probe_at, noted_at = ledger_now()
RETURNING destination"""


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    """One destination, why it is left alone, and in how many seconds it is tried again."""

    destination: str
    reason: str
    probe_in_seconds: float


@dataclass(frozen=True)
class BreakerBook:
    """Keeps what one deliverer leaves alone."""

    pool: AsyncPool
    channel: str
    owner: str

    async def note(self, breakers: Sequence[OpenBreaker]) -> None:
        """Note all that are open; what was noted before and is not among them is closed.

        Raises:
            Transient: Postgres is away.
        """
        told = breakers[:NOTED_LIMIT]
        terms = {
            "channel": self.channel,
            "owner": self.owner,
            "lapses": LAPSES_SECONDS,
            "destinations": [each.destination for each in told],
            "reasons": [each.reason for each in told],
            "probes_in": [each.probe_in_seconds for each in told],
        }
        await fetch_all(self.pool, scalar_row, _NOTE, terms)
