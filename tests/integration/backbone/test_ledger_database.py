"""Connections to the ledger on a real Postgres."""

import psycopg
import pytest
from pydantic import SecretStr

from services.backbone.ledger.database import async_pool, open_pool, sorted_troubles
from services.backbone.settings import LedgerSettings

pytestmark = pytest.mark.postgres


def test_a_pool_survives_that_the_server_cuts_its_connections(
    ledger_url: str,
) -> None:
    pool = open_pool(LedgerSettings(postgres_url=SecretStr(ledger_url)))
    with sorted_troubles(), pool.connection() as connection:
        connection.execute("SELECT 1")
    with psycopg.connect(ledger_url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with sorted_troubles(), pool.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    pool.close()


async def test_a_commit_waits_for_the_disk_whatever_is_the_servers_default(ledger_url: str) -> None:
    name = ledger_url.rpartition("/")[2]
    with psycopg.connect(ledger_url, autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} SET synchronous_commit = off".encode())
    settings = LedgerSettings(postgres_url=SecretStr(ledger_url))
    with open_pool(settings) as pool, pool.connection() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    async with async_pool(settings) as claims, claims.connection() as claiming:
        found = await claiming.execute("SHOW synchronous_commit")
        assert await found.fetchone() == ("on",)
