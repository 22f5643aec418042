"""The ledger's schema: brought up to date, and which programs it still serves.

While pods are replaced, and after a roll back, programs meet a ledger that is newer than they are.
A migration that takes nothing away from older programs says so in its first line, `-- Serves
programs since <the newest migration that those programs know>`, and they go on working; without
that line it serves only programs that ship it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from services.backbone.errors import Refused
from services.backbone.ledger.database import Connection, own_connection
from services.backbone.settings import LedgerSettings

MIGRATIONS: Final = Path(__file__).parent / "migrations"
_LOCK: Final = 0x616C6465  # one at a time, whoever starts first
_SERVES: Final = re.compile(r"-- Serves programs since (\w+)\n")

# What a program of before the column has applied serves nobody older, as far as is known.
_READY: Final = """
CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY);
ALTER TABLE migrations ADD COLUMN IF NOT EXISTS serves_since text;
"""
_APPLIED: Final = "SELECT name, coalesce(serves_since, name) FROM migrations"
_NOTE: Final = "INSERT INTO migrations (name, serves_since) VALUES (%s, %s)"


def migrate(settings: LedgerSettings) -> list[str]:
    """Bring the schema up to date; return the names of the migrations applied.

    Raises:
        Transient: Postgres is away.
        Refused: Postgres does not let us in, or the ledger is newer than this program and does not
            serve it any more.
    """
    with own_connection(settings) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(_READY)
        return _apply_missing(connection)


def serves_since(name: str, text: str) -> str:
    """Return the newest migration that a program must know to work after this one."""
    told = _SERVES.match(text)
    return told[1] if told else name


def not_served(serves: Mapping[str, str], newest_known: str) -> list[str]:
    """Return the migrations, given with what each serves, that rule out such a program."""
    return sorted(name for name, since in serves.items() if since > newest_known)


def _apply_missing(connection: Connection) -> list[str]:
    applied: dict[str, str] = dict(connection.execute(_APPLIED).fetchall())
    shipped = {path.stem: path.read_text("utf-8") for path in sorted(MIGRATIONS.glob("*.sql"))}
    newer = {name: since for name, since in applied.items() if name not in shipped}
    if refusing := not_served(newer, max(shipped)):
        known = f"this program knows it up to {max(shipped)}"
        raise Refused(f"the ledger has {', '.join(refusing)}, and {known}: run a newer Aldebaran")
    missing = {name: text for name, text in shipped.items() if name not in applied}
    for name, text in missing.items():
        connection.execute(text)
        connection.execute(_NOTE, (name, serves_since(name, text)))
    return list(missing)
