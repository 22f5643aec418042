"""Checkpoints in an object store: continued after a kill, and not given up while it is away."""

import json
from pathlib import Path

import pytest

from services.machine.installation.setup import jars_folder
from tests.integration.auditor.running import Findings, Place, Running, Sender, wait_for
from tests.integration.s3 import BUCKET, IMPATIENT, S3Server
from tests.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

ADDRESS = f"s3a://{BUCKET}/checkpoints"


def settings(store: S3Server) -> dict[str, object]:
    """Return what an auditor is told of the store."""
    return {
        "AUDITOR_STORE": ADDRESS,
        "S3_JARS": jars_folder(store.tools, "s3"),
        "S3_OPTIONS": json.dumps(store.options | IMPATIENT),
    }


def batches(place: Place, store: S3Server, log: str) -> list[Path]:
    """Return what a log of batches has in the store, over all checkpoints that were begun."""
    home = store.folder / "data" / BUCKET / "checkpoints" / place.name
    found = home.glob(f"over-purchase/*/*/{log}/*")
    return [path for path in found if path.name.isdigit()]


def commits(place: Place, store: S3Server) -> int:
    """Return the number of the newest batch that the store has."""
    return max((int(path.name) for path in batches(place, store, "commits")), default=-1)


def forget(place: Place, store: S3Server, first: int) -> None:
    """Leave of these batches what a kill does between a batch's state and its entry in the logs."""
    for log in ("offsets", "commits"):
        for path in batches(place, store, log):
            if int(path.name) >= first:
                path.unlink()


def events(running: Running) -> list[str]:
    return [str(line.get("event")) for line in said(running.log())]


def over(sender: Sender, order_id: str) -> None:
    sender.purchase(f"{order_id}-p", order_id, 2)
    sender.flush()


@pytest.mark.long
def test_state_lives_in_the_store(place: Place, store: S3Server) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    told = settings(store)
    for order_id in ("killed", "away", "back"):
        sender.request(order_id, 1)
    sender.flush()
    with place.auditor((), **told) as first:
        wait_for("two batches are in the store", lambda: commits(place, store) >= 1)
        first.kill()
    kept = commits(place, store)
    with place.auditor((), **told) as second:
        over(sender, "killed")
        alerts.wait_for("killed")
        wait_for("it goes on where the first was", lambda: commits(place, store) > kept)
        store.kill()
        wait_for("the store is missed", lambda: "watch_failed" in events(second))
        over(sender, "away")
        store.start()
        alerts.wait_for("away")
        over(sender, "back")
        alerts.wait_for("back")
        assert second.terminate() == 0, second.log()[-3000:]
        assert "checkpoint_set_aside" not in events(second)
    assert not list((place.folder / "checkpoints").rglob("state"))


@pytest.mark.long
def test_a_batch_done_again_replaces_its_state(place: Place, store: S3Server) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    told = settings(store)
    sender.request("before", 1)
    sender.flush()
    with place.auditor((), **told) as first:
        wait_for("two batches are in the store", lambda: commits(place, store) >= 1)
        first.kill()
    again = commits(place, store)
    forget(place, store, again)
    sender.request("between", 1)
    sender.flush()
    with place.auditor((), **told) as second:
        wait_for("the batch is done again", lambda: commits(place, store) >= again)
        second.kill()
    forget(place, store, again + 1)
    with place.auditor((), **told):
        for order_id in ("before", "between"):
            over(sender, order_id)
            alerts.wait_for(order_id)


def test_a_missing_bucket_is_told(place: Place, store: S3Server) -> None:
    place.declare("over-purchase")
    said_of_it = place.refused(**settings(store) | {"AUDITOR_STORE": "s3a://no-such-bucket/a"})
    assert "there is no such bucket: create it" in said_of_it
