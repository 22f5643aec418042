"""The ledger's schema on a real Postgres: applied once, by one at a time, by whom it serves."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from services.backbone.errors import Refused, Transient
from services.backbone.ledger.schema import MIGRATIONS, migrate
from services.backbone.settings import LedgerSettings
from services.contracts.states import State

pytestmark = pytest.mark.postgres
SHIPPED = sorted(path.stem for path in MIGRATIONS.glob("*.sql"))
NEWEST = SHIPPED[-1]


@pytest.fixture
def settings(empty_database: str) -> LedgerSettings:
    return LedgerSettings(postgres_url=SecretStr(empty_database))


def test_several_programs_may_start_at_once(settings: LedgerSettings) -> None:
    with ThreadPoolExecutor(4) as starters:
        applied = list(starters.map(migrate, [settings] * 4))
    assert sorted(applied) == [[], [], [], SHIPPED]


def test_a_newer_ledger_that_serves_older_programs_is_used(
    settings: LedgerSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    more = "CREATE TABLE tomorrow (id text);\n"
    shipped_with(tmp_path, "9998_tomorrow", f"-- Serves programs since {NEWEST}\n{more}")
    with monkeypatch.context() as newer:
        newer.setattr("services.backbone.ledger.schema.MIGRATIONS", tmp_path)
        assert migrate(settings) == [*SHIPPED, "9998_tomorrow"]
    assert migrate(settings) == []


@pytest.mark.parametrize("told", ["", "-- Serves programs since 9998_a_day_before\n"])
def test_a_newer_ledger_that_does_not_serve_this_program_is_refused(
    settings: LedgerSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str
) -> None:
    shipped_with(tmp_path, "9999_tomorrow", f"{told}CREATE TABLE tomorrow (id text);\n")
    with monkeypatch.context() as newer:
        newer.setattr("services.backbone.ledger.schema.MIGRATIONS", tmp_path)
        migrate(settings)
    known = f"9999_tomorrow, and this program knows it up to {NEWEST}: run a newer Aldebaran"
    with pytest.raises(Refused, match=known):
        migrate(settings)


def test_a_ledger_of_before_what_a_migration_serves_was_noted(
    settings: LedgerSettings, empty_database: str
) -> None:
    migrate(settings)
    with psycopg.connect(empty_database) as connection:
        connection.execute("ALTER TABLE migrations DROP COLUMN serves_since")
    assert migrate(settings) == []
    with psycopg.connect(empty_database) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999_by_such_a_program')")
    with pytest.raises(Refused, match="9999_by_such_a_program"):
        migrate(settings)


def shipped_with(folder: Path, name: str, text: str) -> None:
    """Make the migrations of a newer program."""
    for path in MIGRATIONS.glob("*.sql"):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
    (folder / f"{name}.sql").write_text(text, "utf-8")


def test_the_table_knows_exactly_the_states(settings: LedgerSettings, empty_database: str) -> None:
    migrate(settings)
    with psycopg.connect(empty_database) as connection:
        found = connection.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname LIKE '%state%'"
        ).fetchone()
    assert found is not None
    assert {state for state in State if f"'{state}'" in found[0]} == set(State)


def test_what_refers_to_a_row_is_found_by_an_index_when_that_row_goes(
    settings: LedgerSettings, empty_database: str
) -> None:
    """Else Postgres reads the whole table for each row that is removed."""
    migrate(settings)
    with psycopg.connect(empty_database) as connection:
        unindexed = connection.execute(
            """SELECT conname FROM pg_constraint WHERE contype = 'f' AND NOT EXISTS (
              SELECT FROM pg_index WHERE indrelid = conrelid AND indpred IS NULL
                AND (indkey::int2[])[0:cardinality(conkey) - 1] = conkey)"""
        ).fetchall()
    assert unindexed == []


def test_the_ledgers_clock_can_be_set_for_a_test(
    settings: LedgerSettings, empty_database: str
) -> None:
    migrate(settings)
    with psycopg.connect(empty_database) as connection:
        connection.execute("SET aldebaran.now = '2030-01-01T00:00:00Z'")
        row = connection.execute("SELECT ledger_now() = '2030-01-01T00:00:00Z'").fetchone()
        connection.execute("RESET aldebaran.now")
        later = connection.execute("SELECT ledger_now() < '2030-01-01T00:00:00Z'").fetchone()
    assert row == later == (True,)


def test_postgres_away_is_transient() -> None:
    away = LedgerSettings(postgres_url=SecretStr("postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(Transient, match="Postgres"):
        migrate(away)
