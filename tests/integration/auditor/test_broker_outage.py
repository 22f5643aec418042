"""The broker goes away under a running auditor and comes back: nothing is lost."""

from pathlib import Path

import pytest

from tests.broker import OwnBroker
from tests.integration.auditor.running import Findings, Place, Running, Sender, wait_for

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.mark.long
def test_broker_stops_and_starts(
    own_broker: OwnBroker, aldebaran_tools: Path, tmp_path: Path
) -> None:
    place = Place(own_broker.node.bootstrap, tmp_path, aldebaran_tools / "jars" / "spark")
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    with place.auditor() as auditor:
        auditor.wait_until_ready()
        sender.request("across", 1)
        sender.flush()
        wait_for("a batch is committed", lambda: metric(auditor, "batches_total") >= 1)
        own_broker.running.stop()
        wait_for("batches stand still", lambda: metric(auditor, "progress_age_seconds") > 8)
        own_broker.start()
        sender.purchase("across-p", "across", 2)
        sender.flush()
        alerts.wait_for("across")
        assert auditor.terminate() == 0, auditor.log()[-3000:]
    assert alerts.found() == {"across"}


def metric(auditor: Running, name: str) -> float:
    return auditor.metric(f"aldebaran_auditor_{name}", "over-purchase")
