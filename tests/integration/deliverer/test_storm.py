"""A storm to one channel: alerts come far faster than the provider takes messages."""

import uuid
from collections import Counter
from pathlib import Path

import pytest

from services.backbone.kafka.producer import Outgoing
from services.contracts import topics
from services.contracts.ids import delivery_id
from services.contracts.states import State
from tests.bench.delivering.alerts import bench_alert
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.deliverer.waiting import until

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

ALERTS = 1_000
ROUTES = "version: 1\nroutes: []\ndefault:\n  send:\n    - {channel: webhook, to: 'URL'}\n"


def test_all_alerts_of_a_storm_from_two_auditors_come_once_past_a_limited_rate(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    run = uuid.uuid4().hex
    alerts = [bench_alert(run, index) for index in range(ALERTS)]
    routes = tmp_path / "routes.yaml"
    routes.write_text(ROUTES.replace("URL", receiver.url))
    deliverer = start("webhook", rate_per_second=400, rate_burst=50)
    environment = deliverer.environment | {
        "ALDEBARAN_CHANNELS": '["webhook"]',
        "ALDEBARAN_ROUTES_FILE": str(routes),
        "ALDEBARAN_LOOKOUT_GROUP": f"storm-{run}",
    }
    lookout = DelivererProcess(environment, tmp_path / "lookout.log", module="services.lookout")
    with lookout.running():
        for auditor in "ab":
            copies = [each.model_copy(update={"auditor": auditor}) for each in alerts]
            bus.producer.write(
                [Outgoing(topics.ALERTS, each.alert_id, each.encode()) for each in copies]
            )
        until(lambda: Counter(ledger.states().values()) == {State.SENT: ALERTS}, "all sent")
        counted = "SELECT auditor, copies, count(*) AS alerts FROM alert_repeats GROUP BY 1, 2"
        dropped = {"auditor": "b", "copies": 1, "alerts": ALERTS}
        until(lambda: ledger.rows(counted) == [dropped], "each second copy is counted")
    wanted = [delivery_id(each.alert_id, "webhook", receiver.url) for each in alerts]
    assert receiver.came() == Counter(wanted)
    assert ledger.states().keys() == set(wanted)
