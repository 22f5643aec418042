"""A console that starts while another program brings the ledger up to date waits for its turn."""

from contextlib import closing

import psycopg
import pytest

from services.backbone.ledger import database
from services.backbone.ledger.database import open_pool
from services.console.program import ledger_watch
from services.console.settings import ConsoleSettings

pytestmark = pytest.mark.postgres


def test_a_ledger_that_another_brings_up_to_date_is_waited_for(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_STATEMENT_TIMEOUT_MS", 300)
    settings = ConsoleSettings.model_validate({"postgres_url": ledger_url})
    with closing(open_pool(settings)) as pool, psycopg.connect(ledger_url) as other:
        other.execute("LOCK TABLE migrations")
        ledger = ledger_watch(settings, pool)
        assert ledger.look() is None
        assert ledger.behind()
        other.rollback()
        assert ledger.look() is not None
        assert ledger.behind() is None
