"""A claim, and all that goes with it, costs the same however many deliveries wait.

Cost is counted in blocks that Postgres touched, not in time. Plans are made while nothing waits, as
in a quiet system before a storm, and must be good in the storm too.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from hashlib import md5
from typing import Final

import psycopg
import pytest

from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Due, Settlement
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook
from services.backbone.ledger.deliveries.look_ups import LookUps
from services.backbone.ledger.deliveries.occasions import Occasions
from services.backbone.ledger.deliveries.sweeps import COUNT_LIMIT, Fenced, Sweeps
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.backbone.settings import LedgerSettings
from services.contracts.states import State
from tests.integration.deliverer.ledgers import Ledger
from tests.unit.deliverer.builders import delivery

pytestmark = pytest.mark.postgres

FEW, MANY = 200, 20_000
WIDE, WIDE_ALERTS = 300, 60
"""Recipients of each of so many alerts."""
BLOCKS_EACH = 20
"""Two ways down an index, to find a recipient and what is due to it first, and that row."""
SLACK_BLOCKS = 200
"""Trees are deeper, pages are split: some blocks for each row and index. Half of what waits is read
where a statement looks at all of it."""

_ALERTS: Final = """
INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at)
SELECT md5('alert' || n), 'over', 'warning', 'over', '{}', 'test', now(), now()
FROM generate_series(%s::integer, %s::integer) AS n"""
_DELIVERIES: Final = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, next_attempt_at)
SELECT md5('delivery' || n), md5('alert' || n), 'webhook',
  CASE WHEN n %% 10 = 0 THEN 'elsewhere' ELSE 'desk' END, %s::jsonb,
  now() - interval '1 minute' + n * interval '1 microsecond'
FROM generate_series(%s::integer, %s::integer) AS n"""
_TO_EACH_ALL: Final = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record)
SELECT md5('delivery' || n || ' ' || who), md5('alert' || n), 'webhook', 'desk ' || who, %s::jsonb
FROM generate_series(1, %s::integer) AS n, generate_series(1, %s::integer) AS who"""
_BY_HAND: Final = "ALTER TABLE {} SET (autovacuum_enabled = off)"
_COST: Final = """
SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::integer AS blocks
FROM pg_statio_user_tables WHERE idx_blks_hit IS NOT NULL"""
_REPORT: Final = "SELECT pg_stat_force_next_flush()"
_SCANS: Final = """
SELECT sum(seq_scan)::integer AS scans FROM pg_stat_user_tables
WHERE relname IN ('deliveries', 'attempts', 'evidence', 'words')"""


@pytest.fixture(autouse=True)
def quiet(ledger: Ledger) -> None:
    """Nobody else touches the tables, and nobody counts them again."""
    for table in ("alerts", "deliveries", "attempts", "evidence", "words"):
        ledger.execute(_BY_HAND.format(table))


@pytest.fixture
async def pool(ledger: Ledger) -> AsyncIterator[AsyncPool]:
    """One connection, so that plans made before the storm are the ones used in it."""
    settings = {"postgres_url": ledger.url, "postgres_pool_size": 1}
    async with async_pool(LedgerSettings.model_validate(settings)) as pool:
        yield pool


class Work:
    """Everything that a deliverer asks of the ledger, by name."""

    def __init__(self, pool: AsyncPool) -> None:
        self.claims = Claims(
            pool, channel="webhook", owner="one", lease_seconds=3600, age_limit_seconds=3600
        )
        whose = {"channel": "webhook", "owner": "one"}
        sweeps = Sweeps(pool, **whose, age_limit_seconds=3600)
        occasions = Occasions(pool, **whose, age_limit_seconds=3600)
        look_ups = LookUps(pool, channel="webhook", owner="one", times_seconds=(1.0,))
        self._next = 0
        self._mine: list[Claim] = []
        self.by_name: dict[str, Callable[[], Awaitable[object]]] = {
            "claim what is told": lambda: self.claims.by_id(self._told(5), 5),
            "claim what is due": self._claim_due,
            "settle": self._settle,
            "claim for other recipients": lambda: self.claims.due(Due(5, without=["desk"])),
            "claim a probe": lambda: self.claims.due(Due(1, only=["elsewhere"])),
            "states": lambda: self.claims.states(self._told(5)),
            "anything for a sweep": lambda: occasions.ask(self._fenced(5), 60.0),
            "leases over": sweeps.lease_over,
            "lost": lambda: sweeps.lost([]),
            "give back": lambda: sweeps.give_back(self._fenced(5)),
            "too old": sweeps.too_old,
            "doubtful": lambda: sweeps.doubtful(60.0),
            "look-ups": lambda: look_ups.due(4, 60.0),
            "evidence": lambda: AsyncEvidenceBook(pool).weigh("webhook"),
            "untold": UntoldMoves(pool, "webhook").take,
        }
        self.standing = sweeps.standing

    async def all(self) -> None:
        for work in self.by_name.values():
            await work()

    async def _claim_due(self) -> None:
        self._mine = await self.claims.due(Due(5))

    async def _settle(self) -> None:
        sent = State.SENT
        await self.claims.settle(
            [Settlement(each.delivery_id, each.fence, sent, sent, sent) for each in self._mine]
        )

    def _fenced(self, count: int) -> list[Fenced]:
        return [(each, 1) for each in self._told(count)]

    def _told(self, count: int) -> list[str]:
        self._next += count
        numbers = range(self._next - count, self._next)
        return [md5(f"delivery{n}".encode(), usedforsecurity=False).hexdigest() for n in numbers]


def fill(ledger: Ledger, first: int, last: int) -> None:
    write(ledger, _ALERTS, first, last)
    write(ledger, _DELIVERIES, delivery(1).encode().decode(), first, last)


def write(ledger: Ledger, statement: str, *terms: object) -> None:
    """Execute it, and have counted what it touched: a connection that just ends reports later."""
    with psycopg.connect(ledger.url, autocommit=True) as connection:
        connection.execute(statement.encode(), terms)
        connection.execute(_REPORT)


async def cost(ledger: Ledger, pool: AsyncPool, work: Callable[[], Awaitable[object]]) -> int:
    """Return how many blocks were touched."""
    await reported(pool)
    before = ledger.rows(_COST)[0]["blocks"]
    await work()
    await reported(pool)
    after = ledger.rows(_COST)[0]["blocks"]
    assert isinstance(before, int)
    assert isinstance(after, int)
    return after - before


async def reported(pool: AsyncPool) -> None:
    """Have the connection report what it has touched."""
    async with pool.connection() as connection:
        await connection.execute(_REPORT)
    async with pool.connection() as connection:
        await connection.execute("SELECT 1")


async def costs(ledger: Ledger, pool: AsyncPool, work: Work) -> dict[str, int]:
    return {name: await cost(ledger, pool, each) for name, each in work.by_name.items()}


async def test_no_cost_grows_with_what_waits(ledger: Ledger, pool: AsyncPool) -> None:
    ledger.execute("ANALYZE")
    work = Work(pool)
    await work.all()
    fill(ledger, 0, FEW - 1)
    few = await costs(ledger, pool, work)
    fill(ledger, FEW, MANY - 1)
    await work.all()  # steps over what the pages in between have left
    scans = ledger.rows(_SCANS)
    many = await costs(ledger, pool, work)
    assert {name: many[name] for name in many if many[name] > few[name] + SLACK_BLOCKS} == {}
    assert ledger.rows(_SCANS) == scans


async def test_nor_with_what_was_claimed_before(ledger: Ledger, pool: AsyncPool) -> None:
    fill(ledger, 0, MANY - 1)
    work = Work(pool)
    await work.all()
    first = await costs(ledger, pool, work)
    for _ in range(30):
        mine = await work.claims.due(Due(100))
        sent = State.SENT
        await work.claims.settle(
            [Settlement(each.delivery_id, each.fence, sent, sent, sent) for each in mine]
        )
    await work.all()
    later = await costs(ledger, pool, work)
    assert {name: later[name] for name in later if later[name] > first[name] + SLACK_BLOCKS} == {}


async def test_claiming_past_a_recipient_looks_at_each_other_one_once(
    ledger: Ledger, pool: AsyncPool
) -> None:
    write(ledger, _ALERTS, 1, WIDE_ALERTS)
    write(ledger, _TO_EACH_ALL, delivery(1).encode().decode(), WIDE_ALERTS, WIDE)
    write(ledger, "ANALYZE")
    claims = Work(pool).claims
    past_one = Due(5, without=["desk 1"])
    await claims.due(past_one)
    assert await cost(ledger, pool, lambda: claims.due(past_one)) < BLOCKS_EACH * WIDE


async def test_counting_ends_somewhere(ledger: Ledger, pool: AsyncPool) -> None:
    fill(ledger, 0, MANY - 1)
    standing = await Sweeps(pool, channel="webhook", owner="one", age_limit_seconds=3600).standing()
    assert (standing.due, standing.held, standing.in_doubt) == (COUNT_LIMIT, 0, 0)
    assert standing.overdue_seconds > 0
