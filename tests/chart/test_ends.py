"""The end of a pod: Kubernetes waits as long as its program drains."""

import pytest

from services.backbone.settings import Settings
from tests.chart.rendering import needs_helm, pods, rendered, setting

pytestmark = needs_helm

OWN = Settings.model_fields["drain_timeout_seconds"].default
GATEWAY = "components.gateway"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ([], 30),
        ([f"{GATEWAY}.preStopSeconds=60"], 60 + OWN + 10),
        ([f"{GATEWAY}.settings.drain_timeout_seconds=40.5"], 56),
        (["settings.drain_timeout_seconds=40"], 55),
        ([f"{GATEWAY}.preStopSeconds=60", f"{GATEWAY}.terminationGracePeriodSeconds=300"], 300),
    ],
    ids=str,
)
def test_a_program_is_not_killed_while_it_drains(told: list[str], seconds: int) -> None:
    gateway = pods(rendered(*setting(*told)))["t-aldebaran-gateway"]
    assert gateway["terminationGracePeriodSeconds"] == seconds
