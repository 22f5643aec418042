"""Watches, routes and silences changed by values: taken while everything runs, no pod replaced.

A route of over-purchases has one more recipient from here on, so no cell of this release is counted
after it: each alert must be told once on each channel.
"""

import re
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from services.backbone.clock import SystemClock
from tests.cluster.release import Release

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]

HOUR_MS = 3_600_000
SUMMARY = "Changed by values"
RECIPIENT = "added@example.com"
QUIET, LOUD = "Quiet Fund", "Loud Fund"


def moment(hours_from_now: int) -> str:
    """Return a time as the routes file spells it."""
    at_ms = SystemClock().now_ms() + hours_from_now * HOUR_MS
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def change(values: Path) -> None:
    """Change what the watch says, add a recipient to its route, and silence one client."""
    texts: dict[str, Any] = yaml.safe_load(values.read_text("utf-8"))
    watches = texts["watches"]
    watches["over-purchase.yaml"] = re.sub(
        r"(?m)^summary: .*$", f'summary: "{SUMMARY}"', watches["over-purchase.yaml"]
    )
    routes = yaml.safe_load(texts["routes"]["routes.yaml"])
    routes["routes"][0]["send"].append({"channel": "email", "to": RECIPIENT})
    works = {"name": "works", "match": {"labels": {"client": QUIET}}, "author": "ann"}
    hours = {"from": moment(-1), "to": moment(2)}
    routes["silences"] = [{**works, **hours, "reason": "the fund moves house"}]
    texts["routes"]["routes.yaml"] = yaml.safe_dump(routes)
    values.write_text(yaml.safe_dump(texts), "utf-8")


def over_purchase(release: Release, client: str) -> str:
    """Send a request and a purchase of one share too many; return the order's id."""
    key = f"reload-{uuid.uuid4().hex[:8]}"
    trade = {"client": client, "stock": "ACME"}
    events = [
        {"id": key, "shares": 10, **trade},
        {"id": f"{key}-p", "initial order id": key, "#shares": 11, **trade},
    ]
    httpx2.post(
        f"http://{release.address('aldebaran-gateway')}/v1/streams/trades/events",
        json=events,
        headers={"x-api-key": release.api_key},
        timeout=30,
    ).raise_for_status()
    return key


def told(release: Release, key: str) -> dict[str, tuple[str, str]]:
    """Return state and summary of each recipient's delivery about an order, once all are there."""

    def found() -> list[tuple[Any, ...]]:
        return release.ask(
            "SELECT recipient, state, alerts.record->>'summary' FROM deliveries"
            " JOIN alerts USING (alert_id) WHERE alerts.record->>'key' LIKE %s",
            f"%{key}%",
        )

    release.wait_for(
        lambda: all(state in {"SENT", "SUPPRESSED"} for _, state, _ in found()) and bool(found()),
        f"nobody is told of {key}",
    )
    return {recipient: (state, summary) for recipient, state, summary in found()}


def pods(release: Release) -> set[str]:
    """Return which pods run the lookout and the auditors, and how often each was started.

    One that is to end does not count: whoever ran the auditors before may be on the way out.
    """
    parts = ("lookout", "auditor-a", "auditor-b")
    return {
        f"{pod['metadata']['uid']} {pod['status']['containerStatuses'][0]['restartCount']}"
        for part in parts
        for pod in release.pods(part)
        if "deletionTimestamp" not in pod["metadata"]
    }


def test_watch_route_and_silence_change_while_all_runs(release: Release) -> None:
    release.wait_for(
        lambda: RECIPIENT not in told(release, over_purchase(release, LOUD)),
        "what an earlier run changed is not taken back",
    )
    before = pods(release)
    change(release.values[-1])
    release.install()

    def all_taken() -> bool:
        loud = told(release, over_purchase(release, LOUD))
        quiet = told(release, over_purchase(release, QUIET))
        silent = all(state == "SUPPRESSED" for state, _ in quiet.values())
        return silent and loud.get(RECIPIENT, ("", ""))[1] == SUMMARY

    release.wait_for(all_taken, "the changes are not taken")
    assert pods(release) == before
