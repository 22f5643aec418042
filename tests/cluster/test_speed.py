"""How fast alerts come in the cluster, over batch boundaries; measured, not judged.

`SPEED_SECONDS` is how long events flow, `SPEED_RATE` how many a second, `SPEED_PROBES` how many
orders a second cross beside them, `SPEED_WARM` how long they flow before that; `SPEED_NOTE` is what
the report tells beside these; `CLUSTER_WATCHES` names the watches that run.
"""

import json
import os

import pytest

from tests.chaos.facts import load
from tests.cluster.conftest import RUNS, watches
from tests.cluster.kubectl import ready
from tests.cluster.release import HERE, Release
from tests.cluster.report import ClusterReport
from tests.cluster.speed import Pause, Probe, pause_of, probe_of, table

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]

PROGRAM = HERE / "latency_probe.py"
SECONDS, WARM = os.environ.get("SPEED_SECONDS", "75"), os.environ.get("SPEED_WARM", "40")
RATE, PROBES = os.environ.get("SPEED_RATE", "200"), os.environ.get("SPEED_PROBES", "20")
NOTE = [note] if (note := os.environ.get("SPEED_NOTE")) else []
WATCH = "over-purchase"


def probe(release: Release, seconds: str) -> list[Probe]:
    """Send events from a pod, and read the alerts there."""
    pod = next(each["metadata"]["name"] for each in release.pods("gateway") if ready(each))
    arguments = (RATE, PROBES, seconds)
    told = release.kubectl.python(pod, PROGRAM.read_text("utf-8"), *arguments)
    return [probe_of(each) for each in json.loads(told)]


def pauses(release: Release, since_ms: float) -> list[Pause]:
    """Return the boundaries of the measured watch that its auditors have told of since."""
    found = [
        pause_of(auditor, line)
        for auditor in ("a", "b")
        for pod in release.pods(f"auditor-{auditor}")
        for line in release.kubectl.logged(pod["metadata"]["name"], "boundary")
        if line["watch"] == WATCH
    ]
    return [pause for pause in found if pause.ended_ms >= since_ms]


def test_latency_over_boundaries(release: Release, cluster_report: ClusterReport) -> None:
    probe(release, WARM)
    before = load()
    probes = probe(release, SECONDS)
    stood = pauses(release, probes[0].at_ms)
    missing = [each for each in probes if not each.latencies_ms]
    only = ", ".join(path.stem for path in watches())
    title = ", ".join((f"{RUNS}, {RATE}/s, {PROBES} alerts/s, {only}", *NOTE))
    cluster_report.speed[title] = {
        "load": f"{before} before, {load()} after",
        "probes": len(probes),
        "missing": len(missing),
        "rows": table(probes, stood),
        "pauses": [
            {"auditor": each.auditor, "ms": round(each.lasted_ms), "parts": dict(each.parts_ms)}
            for each in stood
        ],
    }
    cluster_report.write()
    assert not missing
    assert stood
