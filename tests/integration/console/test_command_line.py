"""The command line, asking a running console."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Container
from contextlib import closing
from pathlib import Path

import httpx2
import psycopg
import pytest

from services.aldebaran import alerts
from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.aldebaran.completion import Shell, script
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.backbone.web.client import ApiClient
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.contracts.states import State
from tests.integration.console.conftest import Console
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres

SHIPPED = Path("spark-apps/auditor/watches/over-purchase.yaml")

Run = Callable[..., str]


@pytest.fixture
def run(console: Console) -> Run:
    """Run a command and return what it shows."""
    keys = Keys([ApiKey(name="ann", sha256=key_hash("secret"))], console.watcher.life.clock)
    object.__setattr__(console.door, "keys", keys)
    settings = CommandSettings.model_validate(
        {"console_url": console.url, "operator_key": "secret"}
    )

    def run_one(*arguments: str) -> str:
        out, client = io.StringIO(), console_client(settings)
        with closing(client):
            carry_out(parser().parse_args(arguments), client, ManualClock(), out)
        return out.getvalue()

    return run_one


def test_lists_are_whole_though_they_have_more_than_a_page(run: Run, ledger_url: str) -> None:
    made = {add_alert(ledger_url, str(n), accepted=n) for n in range(103)}
    held = {add_delivery(ledger_url, each, state=State.HELD) for each in made}
    assert {line.split()[0] for line in run("todo").splitlines()} == held
    assert len(run("todo", "--limit", "3").splitlines()) == 3
    assert len(run("todo", "--limit", "-3").splitlines()) == 1
    assert len(run("alerts", "list", "--limit", "102").splitlines()) == 102


def test_what_waits_is_listed_by_channel_for_people_and_programs(run: Run, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    email, sms = (
        add_delivery(ledger_url, alert, channel=channel, state=State.FAILED)
        for channel in ("email", "sms")
    )
    dead = ("todo", "--state", "FAILED")
    assert {line.split()[0] for line in run(*dead).splitlines()} == {email, sms}
    (only,) = run(*dead, "--channel", "sms").splitlines()
    assert only.startswith(f"{sms} FAILED ")
    (told,) = run(*dead, "--channel", "sms", "--json").splitlines()
    assert json.loads(told)["delivery_id"] == sms
    assert run("todo", "--channel", "sms", "--json") == ""
    assert run("todo") == "nothing waits; 2 failed for good: see aldebaran todo --state FAILED\n"
    assert run("todo", "--channel", "sms").startswith("nothing waits; 1 failed for good: ")
    assert run("todo", "--channel", "bus") == "nothing waits\n"
    assert run("todo", "--state", "HELD") == "nothing waits\n"
    with pytest.raises(Refused, match="by channel only these"):
        run("todo", "--state", "SENT", "--channel", "sms")


def test_alerts_are_listed_and_explained(run: Run, ledger_url: str) -> None:
    made = [add_alert(ledger_url, str(n), accepted=n, summary=f"Number {n}") for n in range(3)]
    add_delivery(ledger_url, made[2], state=State.SENT)
    lines = run("alerts", "list", "number").splitlines()
    assert [line.partition("watch: ")[2].partition(" [")[0] for line in lines] == [
        "Number 0", "Number 1", "Number 2",
    ]  # fmt: skip
    assert lines[2].endswith("[email sent]")
    (only,) = run("alerts", "list", "--label", "name=1", "--json").splitlines()
    assert json.loads(only)["alert_id"] == made[1]
    told = run("why", made[2][:8])
    assert "Number 2" in told
    assert "email to desk@example.org: sent once" in told
    waits = add_alert(ledger_url, "waits")
    add_delivery(ledger_url, waits, state=State.PENDING)
    with psycopg.connect(ledger_url) as connection:
        connection.execute("INSERT INTO channel_pauses VALUES ('email', 'boss', 'it moves')")
        connection.execute("INSERT INTO set_aside VALUES (%s)", ("e" * 32,))
    assert "; boss has stopped channel email since 20" in run("why", waits)
    with pytest.raises(Refused, match=f"{'e' * 32} was set aside"):
        run("why", "e" * 32)


def test_what_is_said_of_an_alert_in_hand_is_told_to_the_next(run: Run, ledger_url: str) -> None:
    alert = add_alert(ledger_url, "one")
    assert "acknowledged" not in run("why", alert)
    assert run("ack", alert, "--note", "mine") == "yours; first was ann\n"
    assert run("ack", alert[:8]) == "noted before; first was ann\n"
    assert run("ack", alert, "--note", "a fan") == "noted; first was ann\n"
    other = add_alert(ledger_url, "other", accepted=1)
    (mine, its) = run("alerts", "list").splitlines()
    assert (mine[25:33], its[25:33]) == (alert[:8], other[:8])
    assert mine.endswith("[nobody is told], acknowledged")
    assert run("alerts", "list", "--open").splitlines() == [its]
    with psycopg.connect(ledger_url) as connection:
        connection.execute(
            "INSERT INTO alert_repeats (alert_id, auditor, copies, first_at, last_at)"
            " VALUES (%s, 'b', 2, now(), now())",
            (alert,),
        )
        deeds = connection.execute("SELECT detail FROM audit_log ORDER BY 1").fetchall()
    lines = [re.sub(r"20\d\d-[\d: .-]+Z", "TIME", line) for line in run("why", alert).splitlines()]
    assert lines[1:] == [
        f"alert {alert}, taken in TIME",
        "acknowledged TIME",
        "  TIME acknowledge: acknowledged: by ann (console): mine",
        "  TIME acknowledge: noted: by ann (console): a fan",
        "  TIME dropped as a repeat: 2 copies by auditor b",
    ]
    assert deeds == [("a fan",), ("mine",)]


def test_a_doubt_is_resolved(run: Run, ledger_url: str) -> None:
    one = add_delivery(ledger_url, add_alert(ledger_url, "one"), state=State.HELD)
    add_attempt(ledger_url, one, 1, 0.02, 0.05, "IN_DOUBT")
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET attempt = 1")
    assert re.match(rf"{one} HELD +\d+\.\d h try 1 email to ", run("todo"))
    with pytest.raises(Refused, match="is at try 1, your word is on try 2"):
        run("say", one, "resend", "--why", "nobody knows", "--try", "2")
    assert run("say", one, "resend", "--why", "nobody knows", "--try", "1") == "done\n"
    assert run("todo") == "nothing waits\n"
    with pytest.raises(Refused, match="not_waiting"):
        run("say", one, "close", "--why", "again")


def test_what_is_wrong_is_said(run: Run, console: Console) -> None:
    with pytest.raises(Refused, match="ledger has no alert"):
        run("why", "0" * 8)
    with pytest.raises(Refused, match="NAME=VALUE"):
        run("silence", "preview", "--label", "x")
    with pytest.raises(Transient, match=r"lookout does not answer.*--key \w{32} does it once"):
        run("send-test", "--person", "ann")
    path, no_key = f"/v1/alerts/{'0' * 32}/acknowledge", "ALDEBARAN_OPERATOR_KEY"
    with closing(asking(console.url)) as stranger, pytest.raises(Refused, match=no_key):
        stranger.ask("POST", path)
    away, no_console = "http://127.0.0.1:9", "ALDEBARAN_CONSOLE_URL"
    with closing(asking(away)) as nobody, pytest.raises(Transient, match=no_console):
        nobody.ask("GET", "/v1/alerts")


def asking(url: str) -> ApiClient:
    """Return one who has no key."""
    return console_client(CommandSettings.model_validate({"console_url": url}))


class EndingClock(ManualClock):
    """Lets something happen at each wait, and ends the tail when there is nothing left."""

    def __init__(self, deeds: list[Callable[[], object]]) -> None:
        super().__init__()
        self._deeds = deeds

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        if not self._deeds:
            raise KeyboardInterrupt
        self._deeds.pop(0)()
        return super().wait(stop, seconds)


def test_a_tail_shows_each_alert_once(console: Console, ledger_url: str) -> None:
    add_alert(ledger_url, "old", summary="Old")
    deeds: list[Callable[[], object]] = [
        lambda: add_alert(ledger_url, "new", accepted=5, summary="New"),
        lambda: None,
        lambda: add_alert(ledger_url, "newer", accepted=6, summary="Newer"),
    ]
    out = io.StringIO()
    with closing(asking(console.url)) as client, pytest.raises(KeyboardInterrupt):
        carry_out(parser().parse_args(["alerts", "tail"]), client, EndingClock(deeds), out)
    shown = [line.partition("watch: ")[2].split(" ")[0] for line in out.getvalue().splitlines()]
    assert shown == ["Old", "New", "Newer"]


def test_a_tail_shows_all_that_came_between_two_looks(
    console: Console, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts, "TAIL_ROWS", 2)
    monkeypatch.setattr(alerts, "TAIL_PAGES", 3)

    def come(*numbers: int) -> None:
        for number in numbers:
            add_alert(ledger_url, str(number), accepted=number, summary=f"No.{number}")

    come(1, 2, 3)
    deeds = [lambda: come(*range(4, 9)), lambda: come(*range(9, 17))]
    out, ask = io.StringIO(), ["alerts", "tail", "--limit", "1"]
    with closing(asking(console.url)) as client, pytest.raises(KeyboardInterrupt):
        carry_out(parser().parse_args(ask), client, EndingClock(list(deeds)), out)
    lines = out.getvalue().splitlines()
    shown = [line.partition("No.")[2].split(" ")[0] for line in lines if "No." in line]
    assert shown == [str(number) for number in [3, *range(4, 9), *range(11, 17)]]
    assert [line for line in lines if line.startswith("#")] == [
        "# more came at once: these are the newest 6"
    ]


class Interrupted(httpx2.HTTPTransport):
    """Does not reach the console for some questions, counted from one."""

    def __init__(self, lost: Container[int]) -> None:
        super().__init__()
        self._lost, self._asked = lost, 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._asked += 1
        if self._asked in self._lost:
            raise httpx2.ConnectError("refused", request=request)
        return super().handle_request(request)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_tail_says_each_outage_once_at_once_and_not_among_json(
    console: Console, ledger_url: str, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    add_alert(ledger_url, "old", summary="Old")
    settings = CommandSettings.model_validate({"console_url": console.url})
    client = console_client(settings, Interrupted({2, 3, 5}))
    written = io.BytesIO()
    out = io.TextIOWrapper(written)
    said, seen = "", list[int]()

    def look() -> None:
        nonlocal said
        said += capsys.readouterr().err
        seen.append((said + written.getvalue().decode()).count("# no console answers"))

    ask = ["alerts", "tail", *(["--json"] if as_json else [])]
    with closing(client), pytest.raises(KeyboardInterrupt):
        carry_out(parser().parse_args(ask), client, EndingClock([look] * 5), out)
    assert seen == [0, 1, 1, 1, 2]
    if as_json:
        (only,) = written.getvalue().decode().splitlines()
        assert json.loads(only)["summary"] == "Old"


@pytest.mark.parametrize(("shell", "as_bash"), [("bash", ""), ("zsh", "emulate sh;")])
def test_the_shell_completes_what_the_parser_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell, as_bash: str
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: apt-get install {shell}")
    monkeypatch.setenv("ZDOTDIR", str(tmp_path))
    (tmp_path / "completion").write_text(script(parser(), sys.executable, shell))
    ask = (
        f"source ./completion; {as_bash} COMP_WORDS=(aldebaran {{}}); COMP_CWORD={{}}; _aldebaran;"
        ' echo "${{COMPREPLY[*]}}"'
    )

    def completed(words: str) -> set[str]:
        command = [shell, "-c", ask.format(words, len(words.split()) + words.endswith(" "))]
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        # Zsh itself leaves out what does not begin so.
        begun = words.rsplit(maxsplit=1)[-1].strip('"')
        return {word for word in made.stdout.split() if shell == "bash" or word.startswith(begun)}

    assert {"alerts", "why", "silence", "send-test", "watch"} <= completed('""')
    assert completed("alerts t") == {"tail"}
    assert completed("silence add --wat") == {"--watch"}
    assert completed("traces --") == {"--help"}


def test_a_watch_is_checked(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(SHIPPED.read_text().replace("version: 1", "version: 2"))

    def check(file: Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "services.aldebaran", "watch", "check", str(file)]
        return subprocess.run(
            [*command, "--form-only"],
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    assert check(SHIPPED).stdout.startswith("over-purchase: its form is right")
    refused = check(bad)
    assert refused.returncode == 1
    assert "bad.yaml, line" in refused.stderr
