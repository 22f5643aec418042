"""Connections to the ledger on a real Postgres."""

import asyncio
import os
import socket
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.rows import tuple_row
from pydantic import SecretStr

from services.backbone.errors import Transient
from services.backbone.ledger.database import (
    AsyncPool,
    Pool,
    async_pool,
    open_pool,
    sorted_troubles,
    transaction,
)
from services.backbone.ledger.schema import migrate
from services.backbone.ledger.statements import fetch_all
from services.backbone.settings import LedgerSettings
from services.machine.waiting import wait_until
from tests.postgres import OwnPostgres

pytestmark = pytest.mark.postgres

_NOTE = "INSERT INTO noted VALUES (now()) RETURNING at"


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


async def test_a_connection_that_dies_in_a_statement_stands_for_the_others(
    ledger_url: str,
) -> None:
    settings = LedgerSettings(postgres_url=SecretStr(ledger_url))
    async with async_pool(settings) as pool:
        async with pool.connection() as one, pool.connection() as other:
            old = {one.info.backend_pid, other.info.backend_pid}
        asleep = asyncio.create_task(fetch_all(pool, tuple_row, "SELECT pg_sleep(9)", {}))
        await asyncio.to_thread(end_who_sleeps, ledger_url)
        with pytest.raises(Transient):
            await asleep
        ((used,),) = await fetch_all(pool, tuple_row, "SELECT pg_backend_pid()", {})
    assert used not in old


def end_who_sleeps(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as other:

        def is_ended() -> bool:
            ended = other.execute(
                "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity"
                " WHERE state = 'active' AND query LIKE '%pg_sleep(9)%'"
                " AND datname = current_database() AND pid <> pg_backend_pid()"
            )
            return bool(ended.fetchall())

        wait_until(is_ended, 30, "the statement does not run")


async def test_a_server_that_falls_silent_is_found_in_seconds(ledger_url: str) -> None:
    settings = LedgerSettings(postgres_url=SecretStr(ledger_url))
    with open_pool(settings) as pool, pool.connection() as connection:
        looks = looks_seconds(connection.fileno())
    async with async_pool(settings) as claims, claims.connection() as claiming:
        assert looks_seconds(claiming.fileno()) == looks
    assert looks <= 11


def looks_seconds(fileno: int) -> int:
    """Return after how long of silence the kernel gives a connection up."""
    with socket.socket(fileno=os.dup(fileno)) as line:
        names = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
        idle, interval, count = (line.getsockopt(socket.IPPROTO_TCP, name) for name in names)
    return idle + interval * count


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


async def test_the_last_day_is_read_whatever_is_the_servers_time_zone(ledger_url: str) -> None:
    name, asked = ledger_url.rpartition("/")[2], "SELECT '9999-12-31T23:59:59Z'::timestamptz"
    with psycopg.connect(ledger_url, autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} SET timezone = 'Asia/Tokyo'".encode())
    settings = LedgerSettings(postgres_url=SecretStr(ledger_url))
    last = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),)
    with open_pool(settings) as pool, pool.connection() as connection:
        assert connection.execute(asked).fetchone() == last
    async with async_pool(settings) as claims, claims.connection() as claiming:
        found = await claiming.execute(asked)
        assert await found.fetchone() == last


@pytest.fixture
def only_reads_later(own_postgres: OwnPostgres) -> LedgerSettings:
    """A migrated ledger on a Postgres of the test's own, with a table to write to."""
    settings = LedgerSettings(postgres_url=SecretStr(own_postgres.url))
    migrate(settings)
    with psycopg.connect(own_postgres.url) as connection:
        connection.execute("CREATE TABLE noted (at timestamptz)")
    return settings


def test_who_starts_while_the_server_only_reads_waits_until_it_writes(
    only_reads_later: LedgerSettings, own_postgres: OwnPostgres
) -> None:
    own_postgres.only_read()
    with pytest.raises(Transient, match="read-only"):
        migrate(only_reads_later)
    own_postgres.write_again()
    assert migrate(only_reads_later) == []


def test_what_threads_write_waits_for_a_server_that_only_reads(
    only_reads_later: LedgerSettings, own_postgres: OwnPostgres
) -> None:
    with open_pool(only_reads_later) as pool:
        used = note(pool)
        own_postgres.only_read()
        for _ in range(2):  # by the connection that was used before, then by a new one
            with pytest.raises(Transient):
                note(pool)
        own_postgres.write_again()
        wait_until(lambda: is_noted(pool), 30, "nothing is written again")
        assert note(pool) != used, "a connection to who only reads is used again"


def note(pool: Pool) -> int:
    """Write a row; return by which of the server's processes."""
    with transaction(pool) as connection:
        connection.execute(_NOTE)
        return connection.info.backend_pid


def is_noted(pool: Pool) -> bool:
    try:
        note(pool)
    except Transient:
        return False
    return True


async def test_what_the_event_loop_writes_waits_for_a_server_that_only_reads(
    only_reads_later: LedgerSettings, own_postgres: OwnPostgres
) -> None:
    async with async_pool(only_reads_later) as pool:
        assert await noted(pool)
        own_postgres.only_read()
        for _ in range(2):
            with pytest.raises(Transient):
                await noted(pool)
        own_postgres.write_again()
        assert await noted(pool)


async def noted(pool: AsyncPool) -> bool:
    return bool(await fetch_all(pool, tuple_row, _NOTE, {}))
