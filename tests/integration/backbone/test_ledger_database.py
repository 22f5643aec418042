"""The ledger's schema on a real Postgres: applied once, by one at a time, refused when newer."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from pydantic import SecretStr

from services.backbone.errors import Refused, Transient
from services.backbone.ledger.database import MIGRATIONS, migrate, open_pool, sorted_troubles
from services.backbone.settings import LedgerSettings
from services.contracts.states import State

pytestmark = pytest.mark.postgres
SHIPPED = sorted(path.stem for path in MIGRATIONS.glob("*.sql"))


@pytest.fixture
def settings(ledger_url: str) -> LedgerSettings:
    return LedgerSettings(postgres_url=SecretStr(ledger_url))


def test_several_programs_may_start_at_once(settings: LedgerSettings) -> None:
    with ThreadPoolExecutor(4) as starters:
        applied = list(starters.map(migrate, [settings] * 4))
    assert sorted(applied) == [[], [], [], SHIPPED]


def test_a_database_of_a_newer_version_is_refused(
    settings: LedgerSettings, ledger_url: str
) -> None:
    migrate(settings)
    with psycopg.connect(ledger_url) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_tomorrow')")
    with pytest.raises(Refused, match="9999_tomorrow: run a newer Aldebaran"):
        migrate(settings)


def test_the_table_knows_exactly_the_states(settings: LedgerSettings, ledger_url: str) -> None:
    migrate(settings)
    with psycopg.connect(ledger_url) as connection:
        found = connection.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname LIKE '%state%'"
        ).fetchone()
    assert found is not None
    assert {state for state in State if f"'{state}'" in found[0]} == set(State)


def test_the_ledgers_clock_can_be_set_for_a_test(settings: LedgerSettings, ledger_url: str) -> None:
    migrate(settings)
    with psycopg.connect(ledger_url) as connection:
        connection.execute("SET aldebaran.now = '2030-01-01T00:00:00Z'")
        row = connection.execute("SELECT ledger_now() = '2030-01-01T00:00:00Z'").fetchone()
        connection.execute("RESET aldebaran.now")
        later = connection.execute("SELECT ledger_now() < '2030-01-01T00:00:00Z'").fetchone()
    assert row == later == (True,)


def test_postgres_away_is_transient() -> None:
    away = LedgerSettings(postgres_url=SecretStr("postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(Transient, match="Postgres"):
        migrate(away)


def test_a_pool_survives_that_the_server_cuts_its_connections(
    settings: LedgerSettings, ledger_url: str
) -> None:
    pool = open_pool(settings)
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
