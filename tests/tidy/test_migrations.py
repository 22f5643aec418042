"""A migration that takes nothing away from older programs says so, and no other does."""

import re
from pathlib import Path

import pytest

from services.backbone.ledger.schema import MIGRATIONS, serves_since

SHIPPED = {path.stem: path for path in sorted(MIGRATIONS.glob("*.sql"))}
BEFORE_THE_LINE = "0018_words_planned_once"
"""The last migration that nobody can be asked to roll back behind: it knows of no such line."""
NEW_TABLE = re.compile(r"^CREATE TABLE (IF NOT EXISTS )?\w+ \(.*?^\)[^;]*;", re.S | re.M)
TAKES_AWAY = re.compile(
    r"\b(DROP|RENAME|TYPE|TRUNCATE|DELETE|UPDATE|UNIQUE|CONSTRAINT|TRIGGER|REPLACE)\b"
    r"|\bSET NOT NULL\b|\bADD COLUMN\b(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT NULL\b",
    re.I,
)


def takes_away(text: str) -> list[str]:
    """Return what an older program's statements may stumble over; new tables are no matter."""
    return [found[0] for found in TAKES_AWAY.finditer(NEW_TABLE.sub("", text))]


@pytest.mark.parametrize("path", SHIPPED.values(), ids=SHIPPED)
def test_a_migration_serves_whom_it_says(path: Path) -> None:
    text = path.read_text("utf-8")
    since = serves_since(path.stem, text)
    assert since in SHIPPED, f"{since} is no migration"
    assert since <= path.stem, "it cannot serve only programs that come later"
    assert since == path.stem or not takes_away(text)


@pytest.mark.parametrize("stem", [stem for stem in SHIPPED if stem > BEFORE_THE_LINE])
def test_a_migration_that_takes_nothing_away_says_so(stem: str) -> None:
    """Else a roll back behind it is refused for nothing."""
    text = SHIPPED[stem].read_text("utf-8")
    assert takes_away(text) or serves_since(stem, text) < stem


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE alerts DROP COLUMN record;",
        "ALTER TABLE alerts RENAME record TO told;",
        "ALTER TABLE alerts ALTER COLUMN record TYPE text;",
        "ALTER TABLE alerts ADD COLUMN place text NOT NULL;",
        "CREATE UNIQUE INDEX one ON alerts (watch);",
        "CREATE OR REPLACE FUNCTION ledger_now() RETURNS text LANGUAGE sql AS 'SELECT 1';",
    ],
)
def test_what_older_programs_stumble_over_is_seen(text: str) -> None:
    assert takes_away(text)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE more (\n  id text PRIMARY KEY,\n  told text UNIQUE NOT NULL\n);",
        "ALTER TABLE alerts ADD COLUMN place text, ADD COLUMN count int NOT NULL DEFAULT 0;",
        "CREATE INDEX alerts_watch ON alerts (watch);",
    ],
)
def test_what_only_adds_is_left_alone(text: str) -> None:
    assert not takes_away(text)
