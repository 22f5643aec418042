"""What waits is listed and moved on from a command line, by the try that was looked at."""

import psycopg
import pytest

from services.contracts.states import State
from services.deliverer.command_line import answer, parse
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres


def carried_out(*arguments: str) -> int:
    return answer(parse(arguments))


def test_a_word_holds_of_the_try_that_held_showed(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_POSTGRES_URL", ledger_url)
    monkeypatch.setenv("ALDEBARAN_CHANNEL", "webhook")
    assert carried_out("held") == 0
    assert capsys.readouterr().out == "none\n"
    with monkeypatch.context() as patch:
        patch.setenv("ALDEBARAN_CHANNEL", "wehbook")
        assert carried_out("held") == 1
    assert "no channel wehbook, there are bus, email" in capsys.readouterr().err
    one = add_delivery(
        ledger_url, add_alert(ledger_url, "one"), channel="webhook", state=State.HELD
    )
    for attempt in (1, 2):
        add_attempt(ledger_url, one, attempt, 0.02, 0.05, "IN_DOUBT")
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET attempt = 2, reason = E'a\\x1b[2J\\nforged'")
    assert carried_out("held") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "try 2" in line
    assert line.endswith("a\\x1b[2J\\nforged")
    said = ("resend", one, "--why", "seen", "--who", "ann")
    assert carried_out(*said, "--try", "1") == 1
    assert "is at try 2, your word is on try 1" in capsys.readouterr().err
    assert carried_out(*said, "--try", "2") == 0
    assert capsys.readouterr().out == "done\n"
    assert carried_out(*said, "--try", "2") == 1
    with pytest.raises(SystemExit):
        parse(["arrived", one, "--why", "seen", "--try", "1"])
    assert parse(["arrived", one, "--why", "seen"]).attempt is None
