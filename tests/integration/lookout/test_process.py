"""The whole program on a real broker and a real Postgres, killed, doubled, and without stores."""

import subprocess
import sys
from pathlib import Path

import pytest

from services.backbone.kafka.producer import Outgoing, Producer
from services.contracts import topics
from services.contracts.examples import examples
from services.contracts.records import Delivery, Rejected
from tests.integration.lookout.findings import findings, wait_until_recorded, wanted
from tests.integration.lookout.processes import (
    Lookouts,
    Reader,
    eventually,
    page,
    write_alerts,
)

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def test_an_alert_becomes_a_delivery(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    lookouts.start()
    alerts = findings(3)
    producer.write([Outgoing(topics.ALERTS, "x", b"no alert")])
    write_alerts(producer, [*alerts, *alerts])
    reader.wait_for(wanted(alerts))
    wait_until_recorded(ledger_url, alerts)
    records = [Delivery.decode(each.value) for each in reader.found]
    assert {each.alert.alert_id for each in records} >= {alert.alert_id for alert in alerts}


def test_kill_9_under_load_loses_nothing_and_doubles_nothing(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    alerts = findings(3000)
    victim = lookouts.start()
    for part in (alerts[:1000], alerts[1000:2000], alerts[2000:]):
        write_alerts(producer, part)
        reader.wait_for(wanted(part[:20]))
        lookouts.kill(victim)
        victim = lookouts.start()
    reader.wait_for(wanted(alerts))
    wait_until_recorded(ledger_url, alerts)


def test_two_lookouts_share_the_work_and_one_may_die(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    alerts = findings(1500)
    first = lookouts.start()
    lookouts.start()
    write_alerts(producer, alerts[:1000])
    reader.wait_for(wanted(alerts[:20]))
    lookouts.kill(first)
    write_alerts(producer, alerts[500:])
    reader.wait_for(wanted(alerts))
    wait_until_recorded(ledger_url, alerts)


def test_what_cannot_be_used_is_kept_aside_and_holds_nothing_up(
    lookouts: Lookouts, producer: Producer, reader: Reader, kafka_bootstrap: str
) -> None:
    lookouts.start()
    good = findings(2)
    (poison,) = findings(1)
    poison = poison.model_copy(update={"values": {"text": "a\0b"}})
    invalid = [each.content for each in examples("alerts", "invalid")]
    producer.write([Outgoing(topics.ALERTS, "k", each) for each in invalid])
    write_alerts(producer, [good[0], poison, good[1]])
    kept = Reader(kafka_bootstrap, [topics.rejected(topics.ALERTS)])
    try:
        reader.wait_for(wanted(good))
        kept.wait_for([poison.alert_id])
        originals = [Rejected.decode(each.value).original for each in kept.found]
    finally:
        kept.close()
    assert set(originals) >= {*invalid, poison.encode()}
    assert not wanted([poison]) & set(reader.keys())


def test_it_says_what_it_did(lookouts: Lookouts, producer: Producer, reader: Reader) -> None:
    running = lookouts.start()
    alerts = findings(2)
    write_alerts(producer, alerts)
    reader.wait_for(wanted(alerts))
    assert '"ok"' in page(running, "/healthz/live")
    logged = [*(alert.alert_id for alert in alerts), *wanted(alerts)]
    eventually(lambda: all(each in lookouts.log() for each in logged), "not logged")
    metrics = page(running, "/metrics")
    assert 'aldebaran_lookout_alerts_total{result="new"}' in metrics
    assert 'aldebaran_lookout_deliveries_total{channel="bus"}' in metrics
    assert "aldebaran_lookout_outbox_unpublished" in metrics


ROOT = Path(__file__).parents[3]


def ask(*arguments: str, routes: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(ROOT)}
    if routes is not None:
        environment["ALDEBARAN_ROUTES_FILE"] = str(routes)
    command = [sys.executable, "-m", "services.lookout", *arguments]
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_bad_routes_file_ends_the_program_with_line_and_reason(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\ndefault:\n  send:\n    - {channel: emial, to: a@b}\n")
    checked, run = ask("check", str(bad)), ask(routes=bad)
    assert (checked.returncode, run.returncode) == (1, 78)
    for said in (checked.stderr, run.stderr):
        assert "bad.yaml:4: unknown channel 'emial', did you mean 'email'?" in said


def test_check_and_explain_answer_without_any_server() -> None:
    shipped = "services/lookout/routes.yaml"
    example = "services/contracts/examples/alerts/valid/over_purchase.json"
    assert ask("check", shipped).stdout == "OK\n"
    explained = ask("explain", shipped, example).stdout
    assert "routed by: over-purchase" in explained
    assert "email to desk@aldebaran.local" in explained
    assert ask("explain", shipped, "README.missing").returncode == 1
