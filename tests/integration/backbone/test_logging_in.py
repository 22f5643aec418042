"""Who is not let in by Postgres is told what to set, at a start and by a command; nobody else is
refused for it.
"""

import psycopg
import pytest
from pydantic import SecretStr

from services.backbone.errors import Refused, Transient
from services.backbone.ledger.database import (
    open_pool,
    own_connection,
    pool_of_command,
    transaction,
)
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.lookout.__main__ import main
from services.machine.ports import free_ports

pytestmark = pytest.mark.postgres

WRONG = "hunter2"


def address(ledger_url: str, user: str) -> str:
    """Return the ledger's address with another user and password in it."""
    return f"postgresql://{user}@{ledger_url.rpartition('@')[2]}"


def settings(url: str) -> LedgerSettings:
    return LedgerSettings(postgres_url=SecretStr(url))


@pytest.mark.parametrize("user", ["aldebaran", f"aldebaran:{WRONG}", f"nobody:{WRONG}"])
def test_a_start_is_refused_with_what_to_set(ledger_url: str, user: str) -> None:
    with pytest.raises(Refused, match="ALDEBARAN_POSTGRES_URL") as refused:
        migrate(settings(address(ledger_url, user)))
    assert "password" in str(refused.value).split("; ")[0]
    assert WRONG not in str(refused.value)


def test_a_command_says_what_to_set(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", address(ledger_url, "aldebaran"))
    assert main(["why", "5faf0a92"]) == 1
    assert "set ALDEBARAN_POSTGRES_URL" in capsys.readouterr().err


def test_a_command_that_is_let_in_has_its_pool(ledger_url: str) -> None:
    with pool_of_command(settings(ledger_url)) as pool, transaction(pool) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_server_that_is_away_is_waited_for() -> None:
    nobody = settings(f"postgresql://aldebaran:{WRONG}@127.0.0.1:{free_ports(1)[0]}/aldebaran")
    with pytest.raises(Transient), own_connection(nobody):
        pass


def test_a_database_that_is_missing_is_no_question_of_the_password(postgres_url: str) -> None:
    elsewhere = settings(postgres_url.rpartition("/")[0] + "/nowhere")
    with pytest.raises(Transient), own_connection(elsewhere):
        pass


def test_a_statement_that_fails_is_a_bug_as_before(ledger_url: str) -> None:
    with (
        pytest.raises(psycopg.errors.UndefinedTable),
        own_connection(settings(ledger_url)) as connection,
    ):
        connection.execute("SELECT 1 FROM nothing")


def test_a_program_that_runs_refuses_nothing_that_it_has_in_hand(ledger_url: str) -> None:
    with (
        open_pool(settings(address(ledger_url, f"aldebaran:{WRONG}"))) as pool,
        pytest.raises(Transient),
        transaction(pool),
    ):
        pass
