"""Watches change while the auditor runs: nothing is missed, and a bad change changes nothing."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from services.machine.installation.setup import required_java
from tests.integration.auditor.inside import rewrite
from tests.integration.auditor.running import ROOT, Findings, Place, Running, Sender, wait_for
from tests.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

DOCS = ROOT / "docs"
EXAMPLE = DOCS / "examples" / "limits"
HOUR_SECONDS = 3600


class Live:
    """A running auditor, its files, and orders that go over their request one after the other."""

    def __init__(self, place: Place, auditor: Running) -> None:
        self.place = place
        self.auditor = auditor
        self.sender = Sender(place)
        self.alerts = Findings(place)
        self.sent: list[str] = []

    def edit(self, before: str, after: str, watch: str = "over-purchase") -> None:
        path = self.place.folder / "watches" / f"{watch}.yaml"
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    def over(self, order_id: str) -> None:
        self.sender.request(order_id, 1)
        self.sender.purchase(f"{order_id}-p", order_id, 2)
        self.sender.flush()
        self.sent.append(order_id)

    def find_all(self) -> None:
        self.alerts.wait_for(*self.sent)

    def told(self, event: str, **fields: str) -> list[dict[str, object]]:
        """Return the log lines of an event that have these fields."""
        return [
            line
            for line in said(self.auditor.log(), event)
            if fields.items() <= {k: str(v) for k, v in line.items()}.items()
        ]

    def wait_told(self, event: str, **fields: str) -> None:
        wait_for(f"{event} {fields}", lambda: self.told(event, **fields) != [])

    def notes(self) -> str:
        return str(json.loads(self.auditor.ask("/healthz/live")[1]).get("notes"))


@pytest.fixture
def live(place: Place) -> Iterator[Live]:
    place.declare("over-purchase")
    with place.auditor(AUDITOR_RELOAD_DELAY_SECONDS=0.2) as auditor:
        auditor.wait_until_ready()
        yield Live(place, auditor)
        assert auditor.terminate() == 0, auditor.log()[-3000:]


def test_watches_change_while_they_run(live: Live) -> None:
    live.over("first")
    live.sender.request("half", 1)
    live.sender.flush()
    live.find_all()

    live.edit("severity: critical", "severity: loud")
    live.wait_told("watch_file_rejected", file="over-purchase.yaml")
    assert "over-purchase.yaml, line " in live.notes()
    live.edit("severity: loud", "severity: critical")
    wait_for("the note is gone", lambda: "line" not in live.notes())

    live.edit("WHERE worst IS NOT NULL", "WHERE worst IS NOT NULL ORDER BY order_id")
    live.wait_told("change_rejected", watch="over-purchase", old_goes_on="True")
    live.over("after-bad-changes")
    live.find_all()
    live.edit(" ORDER BY order_id", "")

    live.edit('summary: "Order', 'summary: "The order')
    live.wait_told("change_done", watch="over-purchase")
    live.sender.purchase("half-p", "half", 2)
    live.sent.append("half")
    live.find_all()
    half = next(alert for alert in live.alerts.alerts if alert.key == {"order_id": "half"})
    assert half.summary.startswith("The order half of Ann")

    live.edit("limit: 24 hours", "limit: 25 hours")
    live.wait_told("change_begins", kind="replace")
    while len(live.told("change_done", watch="over-purchase")) < 2:
        live.over(f"during-{len(live.sent)}")
        live.find_all()
    live.over("after-change")
    live.find_all()
    wait_for("batches of the watch's length", lambda: any(n <= 7.5 for n in lengths_after(live)))
    versions = live.place.folder / "checkpoints" / live.place.name / "over-purchase"
    assert len([path for path in versions.iterdir() if (path / "spark").exists()]) == 2

    live.edit("version: 1", "version: 1\npaused: true")
    live.wait_told("watch_ended", watch="over-purchase")
    live.over("while-paused")
    live.edit("paused: true\n", "")
    live.find_all()
    assert live.alerts.found() == set(live.sent)


@pytest.mark.long
def test_a_changed_text_is_settled_by_an_answer_to_a_later_heartbeat(place: Place) -> None:
    """No batch ends within the test, so nothing but an answer can show that the query judges."""
    place.declare("over-purchase")
    half_an_hour_on = (time.time() / HOUR_SECONDS + 0.5) % 1
    with place.auditor(
        AUDITOR_RELOAD_DELAY_SECONDS=0.2,
        AUDITOR_BATCH_SECONDS=HOUR_SECONDS,
        AUDITOR_PHASE=half_an_hour_on,
    ) as auditor:
        auditor.wait_until_ready()
        live = Live(place, auditor)
        live.edit('summary: "Order', 'summary: "The order')
        beats = count()

        def is_settled() -> bool:
            beat = f"~beat-{next(beats)}"
            live.sender.request(beat, 1, beat=True)
            live.sender.purchase(f"{beat}-p", beat, 2, beat=True)
            live.sender.flush()
            return live.told("change_settled", watch="over-purchase") != []

        wait_for("the change is settled", is_settled)
        assert live.told("change_settled", verdict="judges"), auditor.log()[-3000:]
        assert not live.told("batch")


@pytest.mark.long
def test_rules_change_while_they_run(live: Live) -> None:
    folder = live.place.folder / "watches"
    text = (EXAMPLE / "client-limit.yaml").read_text()
    for before in ("streams: [", "FROM "):
        text = text.replace(f"{before}trades", f"{before}{live.place.stream}")
    (folder / "client-limits.csv").write_text("client,stock,most_shares\nAnn,ACME,many\n")
    (folder / "client-limit.yaml").write_text(text)
    live.wait_told("watch_file_rejected", file="client-limit.yaml")
    assert "client-limits.csv, line 2: most_shares: 'many' is no bigint" in live.notes()

    (folder / "client-limits.csv").write_text("client,stock,most_shares\nAnn,ACME,50\n")
    live.wait_told("watch_started", watch="client-limit")
    live.sender.purchase("p1", "o", 50)
    live.sender.purchase("p2", "o", 10, client="Bob")
    live.sender.flush()
    (folder / "client-limits.csv").write_text("client,stock,most_shares\nBob,ACME,11\n")
    wait_for("new rules", lambda: len(live.told("change_done", watch="client-limit")) >= 2)
    live.sender.purchase("p3", "o", 2, client="Bob")
    live.sender.flush()
    wait_for("Bob is over", lambda: limited(live.alerts) == {"Bob"})


def lengths_after(live: Live) -> list[float]:
    """Return how long batches were told to be, from the second that ended after the last change."""
    lines = said(live.auditor.log())
    done = max(number for number, line in enumerate(lines) if line["event"] == "change_done")
    ended = [line for line in lines[done:] if line["event"] == "boundary"]
    return [line["length_seconds"] for line in ended if line["watch"] == "over-purchase"][1:]


def limited(alerts: Findings) -> set[str]:
    alerts.found()
    return {alert.key["client"] for alert in alerts.alerts if alert.watch == "client-limit"}


def test_check_tells_good_files_from_bad(place: Place) -> None:
    place.declare("over-purchase")
    good = place.folder / "watches" / "over-purchase.yaml"
    bad = place.folder / "watches" / "bad.yaml"
    bad.write_text(good.read_text())
    rewrite(place, "SELECT <columns>, <rest> FROM trades GROUP BY order_id ORDER BY 1", "bad")
    loud = place.folder / "watches" / "loud.yaml"
    loud.write_text(good.read_text().replace("key: [order_id]", "key: [stock]"))
    command = [sys.executable, "-m", "auditor", "check", str(good), str(bad), str(loud)]
    checked = subprocess.run(
        command, env=place.environment(), capture_output=True, text=True, check=False
    )
    assert checked.returncode == 78, checked.stderr
    first, room, second, third = checked.stdout.splitlines()
    assert first == f"{good}: can run"
    assert room.startswith(f"{good}: needs 5 slots and fits: over-purchase 5")
    assert "do not sort" in second
    assert third.startswith(f"{loud}: watch over-purchase: its heartbeat would alert people")


@pytest.mark.long
def test_the_check_on_the_page_works_as_it_stands_and_says_what_it_lacks(
    aldebaran_tools: Path,
) -> None:
    page = (DOCS / "watches.md").read_text("utf-8")
    (command,) = re.findall(r"^(\S+ -m services.aldebaran watch check \S+)$", page, re.MULTILINE)
    here = command.replace(".tools/", f"{aldebaran_tools}/")
    checked = as_typed(f"ALDEBARAN_TOOLS={aldebaran_tools} {here}")
    lacking = as_typed(f"ALDEBARAN_TOOLS=/nowhere {here}")
    assert checked.returncode == 0, checked.stderr
    verdict, room = checked.stdout.splitlines()[-2:]
    assert verdict.endswith(": can run")
    assert room.endswith(" and fits: over-purchase 5, unusual-volume 5, client-limit 5, of 16")
    assert lacking.returncode == 78
    assert "set ALDEBARAN_AUDITOR_JARS to" in lacking.stdout


def test_watch_check_needs_the_folder_of_tools_and_no_other_setting(
    aldebaran_tools: Path, tmp_path: Path
) -> None:
    """Spark by itself starts what JAVA_HOME names, be it what it may; the check does not."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    path = f"{required_java(os.environ).parent}:{os.environ['PATH']}"
    page = (DOCS / "streams.md").read_text("utf-8")
    (command,) = re.findall(r"^(\S+ -m services\.aldebaran watch check .+)$", page, re.MULTILINE)
    typed = command.replace(".tools/", f"{aldebaran_tools}/")
    told = f"ALDEBARAN_TOOLS={aldebaran_tools} JAVA_HOME={tmp_path} PATH={path}"
    checked = as_typed(f"{told} {typed}")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    form, sql, room = checked.stdout.splitlines()
    assert form == "cpu-high: its form is right"
    assert sql.endswith("/docs/examples/servers/watches/cpu-high.yaml: can run")
    assert room.endswith(": needs 5 slots and fits: cpu-high 5, of 16")


def as_typed(command: str) -> "subprocess.CompletedProcess[str]":
    """Run what somebody types who has set nothing of ours."""
    environment = {name: told for name, told in os.environ.items() if "ALDEBARAN" not in name}
    return subprocess.run(
        ["sh", "-c", command],  # noqa: S607 - as typed
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
