"""Claims and outcomes per second on one Postgres, with nothing sent in between."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg

from services.backbone.ledger.alerts.intake import NewAlert, NewDelivery
from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Due, Settlement
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.contracts.ids import delivery_id
from services.contracts.records import Alert, Delivery
from services.contracts.states import State
from tests.bench.delivering.alerts import bench_alert
from tests.bench.delivering.work import Work
from tests.bench.percentiles import Latency, summary
from tests.bench.sampling import sampled
from tests.bench.stores import fresh_postgres

CHANNEL = "bench"
WORKERS = 2


_ALERTS: Final = """
INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at)
SELECT md5('alert' || n), 'bench', 'warning', 'one of many', %s::jsonb, 'bench', now(), now()
FROM generate_series(%s::integer, %s::integer) AS n"""
_DELIVERIES: Final = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, next_attempt_at)
SELECT md5('delivery' || n), md5('alert' || n), %s, 'desk', %s::jsonb,
  now() - interval '1 minute' + n * interval '1 microsecond'
FROM generate_series(%s::integer, %s::integer) AS n"""


@dataclass(frozen=True)
class ClaimsRow:
    """One number of waiting rows and one batch size: what was claimed and settled each second, how
    long one claim took, and Postgres' processor time for each delivery.
    """

    waiting: int
    batch: int
    per_second: int
    claim: Latency
    postgres_us: int = 0


@dataclass(frozen=True)
class Claimed:
    """How many deliveries were claimed and settled, in what time, and how long claims took."""

    count: int
    seconds: float
    claim: Latency


def measure_claims(
    home: Path, waiting: int, batches: tuple[int, ...], seconds: float
) -> list[ClaimsRow]:
    """Claim and settle for so long per batch size, each from `waiting` deliveries on."""
    with fresh_postgres(home) as url:
        settings = LedgerSettings.model_validate({"postgres_url": url})
        migrate(settings)
        rows, filled, missing = [], 0, waiting
        for batch in batches:
            fill(url, filled, missing)
            work = Work("postgres")
            with sampled(work.look):
                done = asyncio.run(claimed(settings, batch, seconds))
            rows.append(_row(waiting, batch, done, work.seconds()))
            filled, missing = filled + missing, done.count
        return rows


def _row(waiting: int, batch: int, done: Claimed, postgres_seconds: float) -> ClaimsRow:
    took_us = postgres_seconds / max(1, done.count) * 1e6
    return ClaimsRow(waiting, batch, int(done.count / done.seconds), done.claim, int(took_us))


def fill(url: str, there: int, more: int) -> None:
    """Record more alerts of the usual size, beside those that are there, with one delivery each."""
    new = _new(bench_alert("claims", 1))
    numbers = there + 1, there + more
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_ALERTS, (new.encoded.decode(), *numbers))
        record = new.deliveries[0].encoded.decode()
        connection.execute(_DELIVERIES, (CHANNEL, record, *numbers))


async def claimed(settings: LedgerSettings, batch: int, seconds: float) -> Claimed:
    """Claim and settle with WORKERS owners for so long, or until nothing is left."""
    begun = time.monotonic()
    async with async_pool(settings) as pool:
        owners = [_claims(pool, f"bench/{number}") for number in range(WORKERS)]
        results = await asyncio.gather(*(_work(each, batch, begun + seconds) for each in owners))
    return Claimed(
        count=sum(count for count, _ in results),
        seconds=time.monotonic() - begun,
        claim=summary([ns for _, times in results for ns in times]),
    )


def _claims(pool: AsyncPool, owner: str) -> Claims:
    return Claims(
        pool, channel=CHANNEL, owner=owner, lease_seconds=60.0, age_limit_seconds=86_400.0
    )


async def _work(claims: Claims, batch: int, ends_at: float) -> tuple[int, list[int]]:
    count, times = 0, []
    while time.monotonic() < ends_at:
        begun = time.monotonic_ns()
        mine = await claims.due(Due(batch))
        times.append(time.monotonic_ns() - begun)
        if not mine:
            break
        await claims.settle([_sent(claim) for claim in mine])
        count += len(mine)
    return count, times


def _sent(claim: Claim) -> Settlement:
    return Settlement(claim.delivery_id, claim.fence, State.SENT, State.SENT, State.SENT)


def _new(alert: Alert) -> NewAlert:
    delivery = Delivery(
        delivery_id=delivery_id(alert.alert_id, CHANNEL, "desk"),
        channel=CHANNEL,
        recipient="desk",
        subject=alert.summary,
        text=alert.summary,
        created_at_ms=alert.detected_at_ms,
        alert=alert,
    )
    return NewAlert(alert, alert.encode(), "bench", (NewDelivery(delivery, delivery.encode()),))
