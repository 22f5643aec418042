"""Who would be told, asked of a real lookout with its real routes."""

import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from httpx2 import Client

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused
from services.backbone.ledger.database import Pool
from services.backbone.web.keys import ApiKey, Keys, entry, key_hash, new_key
from services.console.lookout import lookout_client
from services.machine.supervision import child
from services.machine.supervision.readiness import HttpReadiness
from tests.integration.console.conftest import Console, running
from tests.integration.lookout.conftest import producer
from tests.integration.lookout.processes import Lookouts

__all__ = ["producer"]
pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.usefixtures("producer")]

ROUTES = """
version: 1
people:
  ann: {email: ann@example.com, bus: anns}
routes:
  - name: hot
    match: {watch: over-heat, labels: {hall: north}}
    send: [{channel: email, to: desk@example.com, fallback: [{channel: bus, to: spare}]}]
  - name: nights
    match: {watch: over-heat, during: night}
    send: [{person: ann}]
default:
  send: [{channel: bus, to: notifications}]
times:
  night: [{from: "20:00", to: "06:00"}]
"""


@pytest.fixture
def routes(tmp_path: Path) -> Path:
    file = tmp_path / "routes.yaml"
    file.write_text(ROUTES)
    return file


@pytest.fixture
def console(
    pool: Pool, ledger_url: str, kafka_bootstrap: str, routes: Path, tmp_path: Path
) -> Iterator[Console]:
    key, keys = new_key(), tmp_path / "keys.yaml"
    keys.write_text(f"keys:\n{entry(ApiKey, 'console', key)}")
    lookouts = Lookouts(kafka_bootstrap, ledger_url, tmp_path)
    lookouts.settings = {
        "ALDEBARAN_ROUTES_FILE": str(routes),
        "ALDEBARAN_OPERATOR_KEYS_FILE": str(keys),
    }
    lookout = lookout_client(address(lookouts.start()), key)
    with running(pool, ledger_url, lookout) as made:
        yield made
    lookouts.close()


def address(started: child.Child) -> str:
    readiness = started.program.readiness
    assert isinstance(readiness, HttpReadiness)
    return f"http://127.0.0.1:{readiness.port}"


def word(page: Client) -> str:
    return page.get("/routes").text.split('name="word" value="')[1].split('"')[0]


def who(console: Console, *arguments: str) -> str:
    """Ask by the command line, as one whose key the console knows."""
    keys = Keys([ApiKey(name="ann", sha256=key_hash("secret"))], console.watcher.life.clock)
    object.__setattr__(console.door, "keys", keys)
    settings = CommandSettings.model_validate(
        {"console_url": console.url, "operator_key": "secret"}
    )
    out, client = io.StringIO(), console_client(settings)
    with closing(client):
        carry_out(parser().parse_args(["who", *arguments]), client, ManualClock(), out)
        out.write(client.ask("POST", "/v1/routes/reload")["version_id"])
    return out.getvalue()


def test_the_command_line_tells_who_and_why(console: Console) -> None:
    north = who(console, "over-heat", "--label", "hall=north").splitlines()
    assert north[0] == "email to desk@example.com by hot, else bus to spare"
    assert any(line.startswith("# hot: ") for line in north)
    night = who(console, "over-heat", "--label", "hall=south", "--at", "2026-11-21T22:00:00Z")
    assert night.startswith("email to ann@example.com by nights, else bus to anns\n")
    with pytest.raises(Refused, match="watch"):
        who(console, "over heat")


def test_who_would_be_told_of_a_made_up_alert(console: Console, routes: Path) -> None:
    with console.client("ann") as page:
        asked = {"word": word(page), "watch": "over-heat", "severity": "critical"}
        north = page.post("/routes", data=asked | {"labels": "hall=north"})
        assert north.status_code == 200, north.text
        assert "<bdi>desk@example.com</bdi>" in north.text
        assert "bus to <bdi>spare</bdi>" in north.text
        south = page.post(
            "/routes", data=asked | {"labels": "hall=south", "at": "2026-11-21T12:00:00"}
        ).text
        assert "desk@example.com" not in south
        assert "<bdi>notifications</bdi>" in south
        night = asked | {"labels": "hall=south", "at": "2026-11-21T22:00:00"}
        assert "<bdi>ann@example.com</bdi>" in page.post("/routes", data=night).text
        bad = page.post("/routes", data=asked | {"watch": "Not A Name"})
        assert bad.status_code == 422
        assert 'role="alert"' in bad.text
        routes.write_text(ROUTES.replace("desk@example.com", "night@example.com"))
        again = page.post("/routes", data={"word": asked["word"], "what": "reload"})
        assert again.status_code == 200
        north = page.post("/routes", data=asked | {"labels": "hall=north"})
        assert "night@example.com" in north.text
        routes.write_text(ROUTES.replace("channel: email", "channel: pigeon"))
        refused = page.post("/routes", data={"word": asked["word"], "what": "reload"})
        assert refused.status_code == 422
        told = page.get("/routes").text
        line = ROUTES[: ROUTES.index("channel: email")].count("\n") + 1
        assert f"line {line}</code>" in told
        assert "pigeon" in told
