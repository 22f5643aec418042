"""A watch's rate and cost, on its pages, by the API and the command line."""

import io
import json
from collections.abc import Iterator
from contextlib import closing

import pytest
from httpx2 import Client

from auditor import metrics
from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import ManualClock
from services.machine.waiting import wait_until
from tests.integration.console.conftest import Console

pytestmark = pytest.mark.postgres
WATCH = "over-purchase"


@pytest.fixture
def told(console: Console) -> Iterator[None]:
    """The console looks at an auditor's metrics, which its own process tells here."""
    metrics.PROGRESS_AGE.labels(WATCH).set(3)
    metrics.ROW_RATE.labels(WATCH).set(200)
    metrics.FINDING_RATE.labels(WATCH).set(0.25)
    metrics.STATE_BYTES.labels(WATCH).set(18 * 2**20)
    metrics.STATE_DISK_BYTES.labels(WATCH).set(3 * 2**20)
    metrics.PROCESSORS.labels(WATCH).set(0.4184)
    console.parts["itself"] = console.url
    yield
    metrics.forget(WATCH)


def listed(console: Console, *more: str) -> str:
    settings = CommandSettings.model_validate({"console_url": console.url})
    out, client = io.StringIO(), console_client(settings)
    with closing(client):
        carry_out(parser().parse_args(["watch", "list", *more]), client, ManualClock(), out)
    return out.getvalue()


@pytest.mark.usefixtures("told")
def test_the_cost_of_a_watch_is_shown(console: Console, browser: Client) -> None:
    wait_until(lambda: "0.42 processors" in browser.get("/watches").text, 30, "no cost is shown")
    page = browser.get(f"/watches/{WATCH}").text
    assert '<dd class="number">200 /s</dd>' in page
    assert "0.42 processors, 18 MiB memory and 3.0 MiB disk for its state" in page
    own = browser.get(f"/v1/watches/{WATCH}").json()
    assert own["declared"]["sql"].strip()
    assert own["figures"]["processors"] == 0.4184
    (row,) = [each for each in browser.get("/v1/watches").json()["rows"] if each["watch"] == WATCH]
    assert row["figures"] == own["figures"]
    (part,) = browser.get("/v1/now").json()["parts"]
    assert part["part"] == "itself"
    cost = "0.42 processors, state 18.0 MiB memory, 3.0 MiB disk"
    assert f"{WATCH}: runs, 200 rows/s, 0.2 findings/s, {cost}\n" in listed(console)
    assert json.loads(listed(console, "--json").splitlines()[0])["figures"] == own["figures"]


def test_a_watch_that_no_auditor_can_start_is_shown_as_stopped(
    console: Console, browser: Client
) -> None:
    metrics.STOPPED.labels(WATCH).set(1)
    console.parts["itself"] = console.url
    try:
        wait_until(lambda: ">stopped</span>" in browser.get("/watches").text, 30, "it is not seen")
        page = browser.get(f"/watches/{WATCH}").text
        assert "stopped: it waits for a person" in page
        assert "last commit" not in page
        assert browser.get(f"/v1/watches/{WATCH}").json()["figures"]["behind_seconds"] is None
        assert f"{WATCH}: stopped: it waits for a person\n" in listed(console)
    finally:
        metrics.forget(WATCH)


def test_a_watch_that_nobody_runs_has_no_figures(console: Console, browser: Client) -> None:
    assert browser.get(f"/v1/watches/{WATCH}").json()["figures"] is None
    assert "no auditor tells of it" in browser.get(f"/watches/{WATCH}").text
    assert f"{WATCH}: no auditor tells of it\n" in listed(console)
    missing = browser.get("/v1/watches/no-such")
    assert (missing.status_code, missing.json()["title"]) == (404, "no_such_watch")


def test_what_a_book_keeps_is_shown(console: Console, browser: Client) -> None:
    page = browser.get("/watches/over-purchase").text
    assert "kept of each event for early + limit" in page
    assert "sum(purchased)" in page
    assert "Its book" not in browser.get("/watches/unusual-volume").text
