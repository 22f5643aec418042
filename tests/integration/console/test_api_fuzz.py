"""Every endpoint of the API, asked by what its own description allows: it keeps its word."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from services.backbone.kafka.admin import TopicAdmin
from services.backbone.ledger.database import Pool
from services.backbone.settings import KafkaSettings
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.console.api.description import examples
from services.console.lookout import lookout_client
from services.contracts.states import State
from services.contracts.topics import ACCOUNTS, Topic
from tests.integration.console.conftest import Console, running
from tests.integration.console.ledger_rows import add_alert, add_delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

EXAMPLES = 12
"""Of each endpoint; together they take some seconds."""
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

PASSED_ON = (
    "POST /v1/silences",
    "POST /v1/silences/preview",
    "GET /v1/routes",
    "POST /v1/routes/explain",
)
"""What the console answers as the lookout does."""


def played(request: httpx2.Request) -> httpx2.Response:
    """Answer in the lookout's stead, with what all of its pages have."""
    told: dict[str, Any] = {"alert_id": "0" * 32, "delivery_ids": []}
    for each in PASSED_ON:
        told |= examples()["answers"][each]
    return httpx2.Response(200, json=told)


@pytest.fixture
def desk(pool: Pool, ledger_url: str, kafka_bootstrap: str) -> Iterator[Console]:
    brokers = KafkaSettings(kafka_bootstrap_servers=kafka_bootstrap)
    TopicAdmin(brokers, "test").declare((Topic(ACCOUNTS),))
    alert = add_alert(ledger_url, "one")
    for state in State:
        add_delivery(ledger_url, alert, recipient=state.value, state=state)
    lookout = lookout_client("http://lookout", "key", httpx2.MockTransport(played))
    with running(pool, ledger_url, lookout, brokers=kafka_bootstrap) as made:
        keys = Keys([ApiKey(name="ann", sha256=key_hash("secret"))], made.watcher.life.clock)
        object.__setattr__(made.door, "keys", keys)
        yield made


def test_every_endpoint_keeps_its_word(desk: Console) -> None:
    schema = schemathesis.openapi.from_url(f"{desk.url}/openapi.json")
    asked = []
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        asked.append(f"{operation.method.upper()} {operation.path}")
        _ask(operation)
    assert len(asked) >= 18
    assert "POST /v1/deliveries/{delivery_id}/word" in asked


def _ask(operation: Any) -> None:
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        answer = case.call(headers={"Authorization": "Bearer secret"})
        case.validate_response(answer, checks=CHECKS)

    ask()
