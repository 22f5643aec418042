"""A storm to one channel: alerts come far faster than the provider takes messages."""

import uuid
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
DROPPED = (
    "FROM alert_repeats JOIN alerts USING (alert_id) WHERE record -> 'labels' ->> 'run' = '{}'"
)
"""Of one run: other tests may have left alerts on the topic."""


def sent(ledger: Ledger) -> set[str]:
    return {each for each, state in ledger.states().items() if state == State.SENT}


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
    wanted = [delivery_id(each.alert_id, "webhook", receiver.url) for each in alerts]
    lookout = DelivererProcess(environment, tmp_path / "lookout.log", module="services.lookout")
    with lookout.running():
        for auditor in "ab":
            copies = [each.model_copy(update={"auditor": auditor}) for each in alerts]
            bus.producer.write(
                [Outgoing(topics.ALERTS, each.alert_id, each.encode()) for each in copies]
            )
        until(lambda: sent(ledger) >= set(wanted), "all sent")
        counted = f"SELECT auditor, copies, count(*) AS alerts {DROPPED} GROUP BY 1, 2"
        dropped = {"auditor": "b", "copies": 1, "alerts": ALERTS}
        until(lambda: ledger.rows(counted.format(run)) == [dropped], "second copies are counted")
    came = receiver.came()
    assert {each: came[each] for each in wanted} == dict.fromkeys(wanted, 1)
