"""Who waits for the ledger while Postgres is away gets in with the same try once it is back."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack

import pytest
from psycopg_pool.base import BasePool
from pydantic import SecretStr

from services.backbone.ledger.database import AsyncPool, Pool, async_pool, open_pool
from services.backbone.settings import LedgerSettings
from services.machine.waiting import wait_until
from tests.postgres import OwnPostgres

pytestmark = pytest.mark.postgres

_PATIENT_SECONDS = 120
"""However long this machine's Postgres takes to start."""
_WHO = "SELECT pg_backend_pid()"


@pytest.fixture
def settings(own_postgres: OwnPostgres) -> LedgerSettings:
    return LedgerSettings(postgres_url=SecretStr(own_postgres.url), postgres_pool_size=4)


def test_a_thread(settings: LedgerSettings, own_postgres: OwnPostgres) -> None:
    with open_pool(settings) as pool, ThreadPoolExecutor(1) as threads:
        with ExitStack() as all_at_once:
            for _ in range(4):
                all_at_once.enter_context(pool.connection())
        own_postgres.kill()
        answer = threads.submit(asked, pool)
        wait_until(lambda: somebody_waits(pool), 30, "nobody waits")
        own_postgres.start()
        assert answer.result(_PATIENT_SECONDS)


async def test_a_task_of_an_event_loop(settings: LedgerSettings, own_postgres: OwnPostgres) -> None:
    async with async_pool(settings) as pool:
        async with AsyncExitStack() as all_at_once:
            for _ in range(4):
                await all_at_once.enter_async_context(pool.connection())
        await asyncio.to_thread(own_postgres.kill)
        answer = asyncio.create_task(asked_there(pool))
        await asyncio.to_thread(wait_until, lambda: somebody_waits(pool), 30, "nobody waits")
        await asyncio.to_thread(own_postgres.start)
        assert await answer


def asked(pool: Pool) -> object:
    with pool.connection(_PATIENT_SECONDS) as connection:
        return connection.execute(_WHO).fetchone()


async def asked_there(pool: AsyncPool) -> object:
    async with pool.connection(_PATIENT_SECONDS) as connection:
        return await (await connection.execute(_WHO)).fetchone()


def somebody_waits(pool: BasePool) -> bool:
    """Tell whether a call waits for a connection, and is not merely being asked by the old one."""
    return bool(pool.get_stats().get("requests_waiting"))
