"""Escalations, fallbacks and tests on real programs, servers and a real deliverer."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from services.backbone.clock import SystemClock
from services.backbone.kafka.producer import Producer
from services.backbone.ledger.database import Pool
from services.backbone.web.keys import ApiKey, entry, new_key
from services.backbone.web.links import Links
from services.contracts.ids import delivery_id
from services.contracts.records import Delivery
from services.machine.supervision.child import Child
from services.machine.supervision.readiness import HttpReadiness
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.lookout.findings import findings
from tests.integration.lookout.later_rows import message, record, rows
from tests.integration.lookout.processes import Lookouts, Reader, eventually, write_alerts

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

ROOT = Path(__file__).parents[3]
SECRET = "s" * 40
ROUTES = """
version: 1
routes:
  - name: hot
    match: {watch: over-heat}
    send: [{channel: bus, to: notifications}]
    escalate: desk
escalations:
  desk:
    - after: 1s
      send: [{channel: bus, to: second-desk}]
      repeat: {every: 1s, times: 1000}
default:
  send: [{channel: bus, to: notifications}]
"""
FALLBACK = {"fallback": [{"channel": "webhook", "recipient": "https://b.example.com"}]}


@pytest.fixture
def key(lookouts: Lookouts, tmp_path: Path) -> str:
    """The key of an operator of every lookout that the test starts."""
    key = new_key()
    (tmp_path / "keys.yaml").write_text("keys:\n" + entry(ApiKey, "ann", key))
    (tmp_path / "routes.yaml").write_text(ROUTES)
    lookouts.settings |= {
        "ALDEBARAN_OPERATOR_KEYS_FILE": str(tmp_path / "keys.yaml"),
        "ALDEBARAN_ROUTES_FILE": str(tmp_path / "routes.yaml"),
        "ALDEBARAN_LOOKOUT_KEEPER_SECONDS": "0.2",
        "ALDEBARAN_CALLBACKS_PUBLIC_URL": "https://alerts.example.com",
        "ALDEBARAN_LINK_SECRETS": json.dumps({"k": SECRET}),
    }
    return key


def command(lookout: Child, key: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    readiness = lookout.program.readiness
    assert isinstance(readiness, HttpReadiness)
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "ALDEBARAN_LOOKOUT_URL": f"http://127.0.0.1:{readiness.port}",
        "ALDEBARAN_OPERATOR_KEY": key,
    }
    return subprocess.run(
        [sys.executable, "-m", "services.lookout", *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_nobody_acknowledges_so_it_is_told_again_until_somebody_does(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str, key: str
) -> None:
    lookout = lookouts.start()
    (alert,) = findings(1)
    write_alerts(producer, [alert])
    told = [delivery_id(alert.alert_id, "bus", "second-desk", number) for number in range(3)]
    reader.wait_for([delivery_id(alert.alert_id, "bus", "notifications"), *told])
    done = command(lookout, key, "ack", alert.alert_id, "--note", "I look at it")
    assert (done.returncode, "ann at" in done.stdout) == (0, True), done.stderr
    count = "SELECT count(*) FROM deliveries WHERE alert_id = %s"
    after = rows(ledger_url, count, alert.alert_id)
    records = {each.delivery_id: each for each in map(_delivery, reader.found) if each}
    assert records[told[1]].repetition == 1
    assert records[told[0]].text.startswith("Escalation desk, step 1 of 1: nobody has")
    link = records[told[0]].text.partition("acknowledge: ")[2].splitlines()[0]
    assert link.startswith("https://alerts.example.com/acknowledge/k.")
    ticket = Links({"k": SECRET.encode()}).read(link.rpartition("/")[2], SystemClock().now_ms())
    assert ticket.delivery_id == told[0]
    lookouts.kill(lookout)
    (later,) = findings(1)
    write_alerts(producer, [later])
    lookouts.start()
    reader.wait_for([delivery_id(later.alert_id, "bus", "second-desk")])
    assert rows(ledger_url, count, alert.alert_id) == after
    states = "SELECT state FROM escalations WHERE alert_id = %s"
    assert rows(ledger_url, states, alert.alert_id) == [("ENDED",)]


def _delivery(found: object) -> Delivery | None:
    value = getattr(found, "value", None)
    return Delivery.decode(value) if value else None


def test_a_failure_is_followed_once_whatever_is_killed(
    lookouts: Lookouts, pool: Pool, reader: Reader, ledger_url: str, key: str
) -> None:
    alerts = findings(300)
    for alert in alerts:
        plan = {"route": "hot", **FALLBACK}
        record(pool, alert, message(alert, "email", "a@example.com", plan=plan))
    with psycopg.connect(ledger_url) as connection:
        connection.execute("UPDATE deliveries SET state = 'FAILED', reason = '550 no such user'")
    wanted = [delivery_id(each.alert_id, "webhook", "https://b.example.com") for each in alerts]
    for reached in (1, 100, 200):
        victim = lookouts.start(ready=False)
        wait_for_followers(ledger_url, reached)
        lookouts.kill(victim)
    lookouts.start()
    reader.wait_for(wanted)
    assert _followed(ledger_url) == 300
    decided = "SELECT decided, count(*) FROM decisions WHERE stage = 'fallback' GROUP BY decided"
    assert rows(ledger_url, decided) == [("next", 300)]
    said = rows(ledger_url, "SELECT record ->> 'text' FROM deliveries WHERE channel = 'webhook'")
    assert all("Fallback: email to a@example.com failed: 550" in text for (text,) in said)


def wait_for_followers(url: str, least: int) -> None:
    eventually(lambda: _followed(url) >= least, "nothing follows")


def _followed(url: str) -> int:
    found: int = rows(url, "SELECT count(*) FROM deliveries WHERE channel = 'webhook'")[0][0]
    return found


def test_a_test_goes_the_whole_way_and_shows_it(
    lookouts: Lookouts, kafka_bootstrap: str, ledger_url: str, tmp_path: Path, key: str
) -> None:
    settings = {
        "ALDEBARAN_CHANNEL": "bus",
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": kafka_bootstrap,
        "ALDEBARAN_POSTGRES_URL": ledger_url,
        "ALDEBARAN_SWEEP_SECONDS": "0.2",
    }
    lookout = lookouts.start()
    silenced = ("silence", "add", "--watch", "*", "--lasts", "1h", "--reason", "nobody is here")
    assert command(lookout, key, *silenced).returncode == 0
    asked = ("test-send", "--channel", "bus", "--to", "notifications", "--wait")
    with DelivererProcess(settings, tmp_path / "deliverer.log").running():
        done = command(lookout, key, *asked)
        assert done.returncode == 0, done.stderr + done.stdout
        assert "bus notifications: SENT" in done.stdout

        def is_held() -> bool:
            again = ("--heed-silences", "--wait-seconds", "2", "--key", "one-test")
            held = command(lookout, key, *asked, *again)
            assert held.returncode == 1, held.stdout
            return "bus notifications: SUPPRESSED" in held.stdout

        eventually(is_held, "it is not shown as held back")
    question = """SELECT record ->> 'subject', state FROM deliveries
      WHERE record -> 'alert' ->> 'watch' = 'test-send' ORDER BY state"""
    subjects = rows(ledger_url, question)
    assert [state for _, state in subjects] == ["SENT", "SUPPRESSED"]
    assert all(subject.startswith("[TEST] ") for subject, _ in subjects)


def test_commands_say_what_to_do(lookouts: Lookouts, key: str) -> None:
    lookout = lookouts.start()
    wrong = command(lookout, "wrong", "silence", "list")
    assert (wrong.returncode, "ALDEBARAN_OPERATOR_KEY" in wrong.stderr) == (1, True)
    nobody = command(lookout, key, "ack", "f" * 32)
    assert (nobody.returncode, "no alert" in nobody.stderr) == (1, True)
    listed = command(lookout, key, "silence", "list")
    assert (listed.returncode, listed.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl: apt-get install curl")
def test_the_documents_examples_work(lookouts: Lookouts, key: str) -> None:
    readiness = lookouts.start().program.readiness
    assert isinstance(readiness, HttpReadiness)
    text = (ROOT / "docs/operating.md").read_text()
    block = next(each for each in text.split("```")[1::2] if "api() {" in each)
    told = {
        "ALDEBARAN_LOOKOUT_URL": f"http://127.0.0.1:{readiness.port}",
        "ALDEBARAN_OPERATOR_KEY": key,
    }
    command = ["bash", "-eu", "-c", block]
    done = subprocess.run(
        command, env=os.environ | told, capture_output=True, text=True, check=True, timeout=120
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == block.count("\napi ") == 9
    problems = {each["title"] for each in answers if "title" in each}
    assert problems == {"no_such_alert", "no_such_silence"}
