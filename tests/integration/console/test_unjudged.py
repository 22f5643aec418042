"""What no watch judged, read from its real topic by the API and the command line."""

import io
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import ManualClock
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Outgoing, Producer, ProducerSettings
from services.backbone.ledger.database import Pool
from services.contracts.ids import accounted_id
from services.contracts.records import Accounted
from services.contracts.topics import ACCOUNTS, Topic
from tests.integration.console.conftest import Console, running

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


@dataclass
class Scene:
    """A console beside the topic on which accounts, one of them the test's own, list."""

    console: Console
    settings: ProducerSettings
    account: str

    def list(self, purchase: str, *, appended_at_ms: int) -> Accounted:
        """Write a row as the archivist does."""
        key = {"order_id": "R-1O", "purchase": purchase}
        row = Accounted(
            accounted_id=accounted_id(self.account, key.values()),
            account=self.account,
            reason="never_opened",
            key=key,
            values={"client": "Ann", "shares": 30},
            appended_at_ms=appended_at_ms,
            accounted_at_ms=appended_at_ms + 3_600_000,
        )
        with closing(Producer(self.settings, "test")) as producer:
            producer.write([Outgoing(ACCOUNTS, row.accounted_id, row.encode())])
        return row

    def ask(self, **query: Any) -> Any:
        with self.console.client() as client:
            answer = client.get("/v1/unjudged", params={"contains": self.account} | query)
            return {"status": answer.status_code} | answer.json()

    def command(self, *arguments: str) -> str:
        settings = CommandSettings.model_validate({"console_url": self.console.url})
        out, client = io.StringIO(), console_client(settings)
        with closing(client):
            carry_out(parser().parse_args(["unjudged", *arguments]), client, ManualClock(), out)
        return out.getvalue()


@pytest.fixture
def scene(pool: Pool, ledger_url: str, kafka_bootstrap: str) -> Iterator[Scene]:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(settings, "test").declare((Topic(ACCOUNTS),))
    with running(pool, ledger_url, brokers=kafka_bootstrap) as console:
        yield Scene(console, settings, f"a-{uuid.uuid4().hex}")


def test_what_an_account_listed_is_told_the_newest_first(scene: Scene) -> None:
    assert scene.ask()["rows"] == []
    older, newer = (scene.list(f"P-{n}", appended_at_ms=n * 1000) for n in (1, 2))
    told = scene.ask()
    assert [row["accounted_id"] for row in told["rows"]] == [newer.accounted_id, older.accounted_id]
    assert told["looked"]["whole"]
    first = told["rows"][0]
    assert first.pop("place").startswith("accounts/0/")
    assert first == {
        "accounted_id": newer.accounted_id,
        "at_ms": 3_602_000,
        "appended_at_ms": 2000,
        "account": scene.account,
        "reason": "never_opened",
        "key": {"order_id": "R-1O", "purchase": "P-2"},
        "values": {"client": "Ann", "shares": 30},
        "detail": "",
    }
    page = scene.ask(limit=1)
    (further,) = scene.ask(limit=1, cursor=page["next_cursor"])["rows"]
    assert further["accounted_id"] == older.accounted_id
    assert scene.ask(limit=0)["status"] == scene.ask(contains="x" * 201)["status"] == 422
    (line, _) = scene.command("--contains", scene.account, "--limit", "1").splitlines()
    assert f"{scene.account}: never_opened: order_id=R-1O purchase=P-2" in line
    with scene.console.client() as client:
        page = client.get("/unjudged", params={"contains": scene.account}).text
    assert page.index("P-2") < page.index("P-1")


def test_who_may_not_look_at_alerts_may_not_look_here(pool: Pool, ledger_url: str) -> None:
    with running(pool, ledger_url, open_to_readers=False) as console, console.client() as client:
        assert client.get("/v1/unjudged").status_code == 401
        assert client.get("/unjudged").url.path == "/login"


def test_brokers_that_are_away_are_told(console: Console) -> None:
    with console.client() as client:
        assert client.get("/v1/unjudged").json()["title"] == "topics_away"
        assert client.get("/unjudged").status_code == 503
