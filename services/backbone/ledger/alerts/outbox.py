"""The outbox: deliveries that are recorded and not published yet (docs/decisions/0002-outbox.md).

It is the rows of `deliveries` with `published_at IS NULL` that wait for nothing else. Records are
read in portions: hundreds of large ones would fill the memory of whoever has them at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.database import Pool, statements
from services.backbone.portions import portions

WAITING_LIMIT: Final = 100_000
"""A longer outbox is not counted to its end."""

READ_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""Most bytes of records that are read at once; a larger one is read alone."""

# As in the index deliveries_outbox: only then can it be used.
IN_OUTBOX: Final = "published_at IS NULL AND state NOT IN ('SUPPRESSED', 'CLOSED')"

_LISTED: Final = f"""
SELECT delivery_id, octet_length(record::text) FROM deliveries
WHERE {IN_OUTBOX} AND delivery_id > %s
  AND created_at <= ledger_now() - make_interval(secs => %s)
ORDER BY delivery_id LIMIT %s
"""  # noqa: S608 - no input in it

_READ: Final = f"""
SELECT delivery_id, channel, record::text FROM deliveries
WHERE delivery_id = ANY(%s) AND {IN_OUTBOX}
ORDER BY delivery_id
"""  # noqa: S608 - no input in it

# A mark that a crash of Postgres undoes costs one more publishing, so no disk is waited for.
_MARK: Final = """
WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
locked AS MATERIALIZED (
  SELECT delivery_id FROM deliveries, quick
  WHERE delivery_id = ANY(%s) AND published_at IS NULL ORDER BY delivery_id FOR UPDATE OF deliveries
)
UPDATE deliveries SET published_at = ledger_now()
FROM locked WHERE deliveries.delivery_id = locked.delivery_id
"""

# What was released is as old here as its release: only then could it be published.
_WAITING: Final = f"""
SELECT count(*) FROM (SELECT FROM deliveries
  WHERE {IN_OUTBOX}
    AND updated_at <= ledger_now() - make_interval(secs => %s) LIMIT %s) AS waiting
"""  # noqa: S608 - no input in it


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One delivery for its channel's topic: id, channel, the record's JSON bytes."""

    delivery_id: str
    channel: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """One delivery of the outbox, and how long its record's JSON is."""

    delivery_id: str
    size_bytes: int


class Outbox:
    """Reads the outbox and takes out of it; safe to use from several programs and threads."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def unpublished(self, *, after: str, older_than_seconds: float, limit: int) -> list[Listed]:
        """Return a page of the outbox: what has at least this age, by id, above the id `after`.

        Raises:
            Transient: Postgres is away.
        """
        with statements(self._pool) as connection:
            rows = connection.execute(_LISTED, (after, older_than_seconds, limit))
            return [Listed(*row) for row in rows]

    def read(self, listed: Sequence[Listed]) -> Iterator[list[OutboxEntry]]:
        """Yield the entries of these, portion by portion; what left the outbox since is left out.

        Raises:
            Transient: Postgres is away.
        """
        for portion in portions(listed, lambda each: each.size_bytes, READ_LIMIT_BYTES):
            yield self.entries([each.delivery_id for each in portion])

    def entries(self, delivery_ids: Sequence[str]) -> list[OutboxEntry]:
        """Return the entries of one portion, all at once; see `read`."""
        with statements(self._pool) as connection:
            return list(outbox_entries(connection.execute(_READ, (list(delivery_ids),))))

    def mark_published(self, delivery_ids: Iterable[str]) -> None:
        """Take deliveries out of the outbox: their topics have them.

        Raises:
            Transient: Postgres is away; they stay in the outbox.
        """
        with statements(self._pool) as connection:
            connection.execute(_MARK, (sorted(delivery_ids),))

    def waiting(self, older_than_seconds: float = 0.0) -> int:
        """Return how many deliveries are in the outbox for so long, counted up to `WAITING_LIMIT`.

        Raises:
            Transient: Postgres is away.
        """
        with statements(self._pool) as connection:
            row = connection.execute(_WAITING, (older_than_seconds, WAITING_LIMIT)).fetchone()
        return int(row[0]) if row else 0


def outbox_entries(rows: Iterable[tuple[str, str, str]]) -> Iterator[OutboxEntry]:
    """Return rows of id, channel and record as entries."""
    return (OutboxEntry(row[0], row[1], row[2].encode()) for row in rows)
