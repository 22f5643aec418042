"""The shipped watch in Real-time Mode, Kafka to Kafka: exact alerts, whatever else comes."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from services.contracts.ids import alert_id
from services.contracts.topics import HEARTBEATS
from tests.integration.auditor.running import SLOTS, Findings, Place, Running, Sender, wait_for

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

POISON = [
    b"not json",
    None,
    b"",
    b"\xff\xfe{",
    b"[" * 5000,
    b"null",
    b"[]",
    b'"text"',
    b'{"kind": "request", "event_id": "x", "order_id": "x", "shares": 1e400}',
    b'{"kind": "request", "event_id": "x", "order_id": "x", "shares": "many"}',
    b'{"kind": "request", "event_id": {}, "order_id": [], "shares": 5}',
    b'{"kind": "request"',
]

FURTHER = 50
"""Purchases of an order that has crossed; so many batches the test does not take."""


def test_exact_alerts_between_poison(place: Place) -> None:
    place.declare("over-purchase")
    sender, alerts, beats = Sender(place), Findings(place), Findings(place, HEARTBEATS)
    with place.auditor() as auditor:
        auditor.wait_until_ready()
        _small_workload(sender)
        alerts.wait_for("over", "early", "quoted\"'{}é")
        beats.wait_for("~beat-1")
        assert not sockets_between_tasks(auditor)
        wait_for("its cost is told", lambda: is_told_while_events_come(auditor, sender))
        assert cost(auditor, "state_bytes") > 0
        assert cost(auditor, "state_looks_total") > 0
        batches = cost(auditor, "batches_total")
        assert auditor.terminate() == 0, auditor.log()[-3000:]
    assert alerts.found() == {"over", "early", "quoted\"'{}é"}
    assert beats.found() == {"~beat-1"}
    found, *again = (alert for alert in alerts.alerts if alert.key == {"order_id": "over"})
    assert len(again) <= batches, "told again with each further purchase, not with each batch"
    assert found.alert_id == alert_id("over-purchase", ["over"])
    assert found.severity == "critical"
    assert found.summary == "Order over of Ann: 101 shares of ACME purchased, 100 requested"
    assert found.labels == {"client": "Ann", "stock": "ACME"}
    assert found.values.items() >= {"requested": 100, "purchased": 101, "excess": 1}.items()
    assert sorted(found.event_ids) == ["over-1", "over-2"]
    assert 0 <= found.detected_at_ms - found.appended_at_ms < 60_000


def sockets_between_tasks(auditor: Running) -> bool:
    """Tell whether Spark's own shuffle runs, which flushes by a thread for each task."""
    java = psutil.Process(auditor.process.pid).children(recursive=True)
    names = [name for each in java for name in thread_names(each.pid)]
    assert any(name.startswith("Executor task") for name in names)
    return any(name.startswith("time-based-flus") for name in names)


def thread_names(pid: int) -> Iterator[str]:
    """Yield the names of a process' threads; Java ends some while one looks."""
    for thread in Path(f"/proc/{pid}/task").glob("*/comm"):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield thread.read_text()


def is_told_while_events_come(auditor: Running, sender: Sender) -> bool:
    """An empty batch has no rows, so each look sends one."""
    sender.request("another", 1)
    is_measured = 0 < cost(auditor, "processors") < SLOTS
    return is_measured and cost(auditor, "rows_per_second") > 0


def cost(auditor: Running, of: str) -> float:
    return auditor.metric(f"aldebaran_auditor_{of}", "over-purchase")


def _small_workload(sender: Sender) -> None:
    sender.request("equal", 100)
    sender.purchase("equal-1", "equal", 60)
    sender.purchase("equal-2", "equal", 40)
    sender.purchase("equal-2", "equal", 40)
    for poison in POISON:
        sender.raw(poison)
    for number in range(4):  # more than may be on its way to one task at once
        sender.request(f"large-{number}", 100, client="c" * 700_000)
    sender.request("over", 100)
    sender.purchase("over-1", "over", 100)
    sender.purchase("over-2", "over", 1)
    for number in range(FURTHER):
        sender.purchase(f"over-{number + 3}", "over", 1)
    sender.purchase("early-1", "early", 5)
    sender.request("early", 4)
    sender.request("quoted\"'{}é", 1)
    sender.purchase("quoted-1", "quoted\"'{}é", 2)
    sender.purchase("nobody-1", "nobody", 1_000_000_000_000)
    sender.request("~beat-1", 1, beat=True)
    sender.purchase("~beat-1-purchase", "~beat-1", 2, beat=True)
    sender.request("~beat-forged", 1)
    sender.purchase("~beat-forged-1", "~beat-forged", 2)
    sender.request("no-beat", 1, beat=True)
    sender.purchase("no-beat-1", "no-beat", 2, beat=True)
    sender.flush()
