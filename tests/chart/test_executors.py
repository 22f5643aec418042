"""Executors as pods: how many a drain may take, and what memory they ask for."""

import pytest

from tests.chart.rendering import needs_helm, rendered, setting

pytestmark = needs_helm

APART = setting("auditor.runner=cluster", "auditor.checkpoints.sharedNode=true")


@pytest.mark.parametrize(("count", "stay"), [(1, 1), (3, 5)])
def test_a_drain_takes_one_executor_of_both_auditors(count: int, stay: int) -> None:
    made = rendered(*APART, *setting(f"auditor.executors.count={count}"))
    (budget,) = (
        each
        for each in made
        if each["kind"] == "PodDisruptionBudget" and each["metadata"]["name"].endswith("executors")
    )
    assert budget["spec"]["minAvailable"] == stay
