"""An auditor that dies goes on where it was: nothing is missed, nothing of it is left running.

Spark lets the length of a running query's batches be set, for books as for windows.
"""

import os
import signal
import subprocess

import pytest

from tests.integration.auditor.running import Findings, Place, Running, Sender, wait_for
from tests.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

SHIPPED = ("over-purchase", "unusual-volume")
ENOUGH = 3
"""Boundaries after which every length has been set at least once."""


def over(sender: Sender, order_id: str) -> None:
    sender.request(order_id, 1)
    sender.purchase(f"{order_id}-p", order_id, 2)
    sender.flush()


def jvm_is_gone(auditor: Running) -> bool:
    """The JVM is in the auditor's process group, which a test can ask for."""
    group = ["pgrep", "-g", str(auditor.process.pid)]
    return subprocess.run(group, capture_output=True, check=False).returncode != 0


def told(auditor: Running, event: str) -> list[dict[str, object]]:
    return said(auditor.log(), event)


def boundaries(auditor: Running, watch: str) -> int:
    return len([line for line in told(auditor, "boundary") if line["watch"] == watch])


def test_killed_auditor_misses_nothing_and_each_watch_is_held_at_its_moments(place: Place) -> None:
    place.declare(*SHIPPED)
    sender, alerts = Sender(place), Findings(place)
    with place.auditor() as first:
        first.wait_until_ready()
        over(sender, "before")
        sender.request("half", 1)
        sender.flush()
        alerts.wait_for("before")
        wait_for("a batch is committed", lambda: batches(first) >= 1)
        sender.request("open", 1)
        sender.flush()
        first.kill()
        wait_for("the JVM has ended too", lambda: jvm_is_gone(first), 20)
        before = {watch: boundaries(first, watch) for watch in SHIPPED}
    over(sender, "while-away")
    sender.purchase("half-p", "half", 2)
    sender.purchase("open-p", "open", 2)
    with place.auditor() as second:
        second.wait_until_ready()
        over(sender, "after")
        alerts.wait_for("before", "while-away", "half", "open", "after")
        enough = {watch: begun + ENOUGH for watch, begun in before.items()}
        wait_for("boundaries", lambda: all(boundaries(second, w) >= n for w, n in enough.items()))
        assert told(second, "boundaries_not_held") == []
        assert second.terminate() == 0, second.log()[-3000:]
    assert {key for key in alerts.found() if "/" not in key} == {
        "before", "while-away", "half", "open", "after",
    }  # fmt: skip


def test_javas_end_is_told_as_such_and_ends_the_program(place: Place) -> None:
    place.declare("over-purchase")
    with place.auditor() as auditor:
        auditor.wait_until_ready()
        os.kill(java_of(auditor), signal.SIGKILL)
        assert auditor.wait() == 69, auditor.log()[-3000:]
    (ended,) = told(auditor, "client_ended")
    assert str(ended["reason"]).startswith("Java has ended (")


def java_of(auditor: Running) -> int:
    command = ["pgrep", "-x", "-g", str(auditor.process.pid), "java"]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def test_end_during_the_start_is_clean(place: Place) -> None:
    place.declare("over-purchase")
    with place.auditor(DRAIN_TIMEOUT_SECONDS=100) as auditor:
        wait_for("its pages are up", lambda: auditor.ask("/healthz/live")[0] == 200)
        assert auditor.terminate() == 0, auditor.log()[-3000:]
        wait_for("the JVM has ended too", lambda: jvm_is_gone(auditor), 20)
    events = [line["event"] for line in said(auditor.log())]
    assert events
    assert "bug" not in events


def batches(auditor: Running) -> float:
    return auditor.metric("aldebaran_auditor_batches_total", "over-purchase")
