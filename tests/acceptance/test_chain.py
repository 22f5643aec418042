"""The whole chain on real parts: what a trader does, and what the desk then gets.

Every test counts exactly: a missing alert fails, and so does one too many.
"""

import json
import os
import subprocess
import sys
from functools import partial

import pytest

from services.contracts.ids import alert_id
from tests.acceptance.counts import reconcile
from tests.acceptance.system import ROOT, System

pytestmark = pytest.mark.timeout(600)
WATCH = ROOT / "spark-apps" / "auditor" / "watches" / "over-purchase.yaml"
EVENTS = "/v1/streams/trades/events"


def request(order: str, shares: int) -> dict[str, object]:
    return {"id": order, "shares": shares, "client": "Baker Fund", "stock": "ACME"}


def purchase(order: str, number: int, shares: int) -> dict[str, object]:
    return {
        "id": f"{order}-{number}",
        "initial order id": order,
        "#shares": shares,
        "client": "Baker Fund",
        "stock": "ACME",
    }


def alerts_of(system: System, order: str) -> list[tuple[str, ...]]:
    return system.ask(
        "SELECT alert_id, summary FROM alerts WHERE record->'key'->>'order_id' = %s", order
    )


def trade(system: System) -> None:
    """Request 100, buy 90, then 30: one alert. Buy to exactly 100: none. More after it: none."""
    system.post("gateway", EVENTS, [request("exact", 100), purchase("exact", 1, 100)])
    system.post("gateway", EVENTS, [request("over", 100), purchase("over", 1, 90)])
    system.post("gateway", EVENTS, purchase("over", 2, 30))
    system.post("gateway", EVENTS, [purchase("over", 3, 5), purchase("over", 2, 30)])
    system.post("gateway", EVENTS, [purchase("early", 1, 11), request("early", 10)])
    system.wait_for(lambda: len(alerts_of(system, "early")) == 1, "an early purchase is not judged")
    system.wait_for(lambda: len(alerts_of(system, "over")) == 1, "no alert for 120 of 100")


def test_one_over_purchase_reaches_the_desk_once_on_every_channel(system: System) -> None:
    trade(system)
    found = alerts_of(system, "over")[0]
    assert found[0] == alert_id("over-purchase", ["over"])
    assert "over" in found[1]
    system.wait_for(lambda: states(system, found[0]) == {"SENT"}, "not sent on every channel")
    received = system.get("inbox", "/received")
    for way, channel in (("hook", "webhook"), ("mail", "email")):
        sent = system.ask(
            "SELECT delivery_id FROM deliveries WHERE alert_id = %s AND channel = %s",
            found[0],
            channel,
        )
        assert [received[way]["ids"].get(row[0]) for row in sent] == [1]
    assert alerts_of(system, "exact") == []


@pytest.mark.long
def test_a_watch_is_tried_on_what_has_just_come_and_nobody_is_told(system: System) -> None:
    trade(system)
    before = system.ask("SELECT count(*) FROM alerts")
    environment = {
        **os.environ,
        "ALDEBARAN_CONSOLE_URL": system.url("console"),
        "ALDEBARAN_OPERATOR_KEY": (system.home / "operator-key").read_text().strip(),
    }
    command = [sys.executable, "-m", "services.aldebaran", "watch", "try", str(WATCH), "--json"]
    tried = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stderr
    answer = json.loads(tried.stdout)["answer"]
    orders = {each["key"]["order_id"] for each in answer["raised"]}
    assert {"over", "early"} <= orders
    assert "exact" not in orders
    assert answer["counts"]["new"] == answer["counts"]["live"] == 0 < answer["counts"]["both"]
    assert system.ask("SELECT count(*) FROM alerts") == before


def states(system: System, alert: str) -> set[str]:
    return {row[0] for row in system.ask("SELECT state FROM deliveries WHERE alert_id = %s", alert)}


def test_a_disordered_run_with_repeats_and_nonsense_is_counted_exactly(system: System) -> None:
    running = system.simulate(
        *("--orders", "400", "--rate", "300", "--over-share", "0.2", "--seed", "7"),
        *("--disorder", "0.3", "--duplicates", "0.2", "--malformed", "0.05"),
    )
    report = running.finish()
    assert report.malformed == report.rejected > 0
    reconcile(system, report)


def test_events_straight_to_kafka_are_watched_just_the_same(system: System) -> None:
    running = system.simulate(
        *("--orders", "300", "--rate", "max", "--to", "kafka", "--over-share", "0.1", "--seed", "8")
    )
    reconcile(system, running.finish())


def test_a_wrong_event_is_answered_with_what_is_wrong(system: System) -> None:
    answer = system.post("gateway", EVENTS, purchase("bad", 1, -5))
    assert answer.status_code == 422
    assert "shares" in answer.text


def test_the_heartbeat_measures_the_live_latency(system: System) -> None:
    def answered() -> bool:
        page = system.text("heartbeat", "/metrics")
        return any(
            line.startswith("aldebaran_heartbeat_latency_seconds_count")
            and not line.endswith(" 0.0")
            for line in page.splitlines()
        )

    system.wait_for(answered, "no heartbeat came back")


def test_every_part_has_health_and_metrics(system: System) -> None:
    parts = [
        *("gateway", "auditor", "lookout", "heartbeat", "console", "inbox"),
        *("accountant", "callbacks", "archivist", "rehearsal"),
        *(f"deliverer_{channel}" for channel in system.channels),
    ]
    for part in parts:
        system.wait_for(partial(is_well, system, part), f"{part} is not well")
        assert "process_cpu_seconds_total" in system.text(part, "/metrics")


def is_well(system: System, part: str) -> bool:
    """Tell whether a part lives and is ready; on a busy machine it may not be for a moment."""
    pages = ("/healthz/live", "/healthz/ready")
    return all(system.get(part, page)["status"] == "ok" for page in pages)
