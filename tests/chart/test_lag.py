"""KEDA brings as many lookouts as the chart lets there be, by KEDA's own arithmetic."""

from math import ceil

import pytest

from tests.chart.rendering import needs_helm, rendered, setting

pytestmark = needs_helm
A_STORM = 10**9


def wanted(trigger: dict[str, str], partitions: int, lag: int) -> int:
    """Return the pods that KEDA's Kafka scaler asks for, as its source counts them."""
    threshold = int(trigger["lagThreshold"])
    is_capped = trigger.get("allowIdleConsumers", "false") != "true"
    if is_capped and lag // threshold > partitions:
        lag = partitions * threshold
    return ceil(lag / threshold)


@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.parametrize("readers", [1, 2])
def test_what_waits_brings_every_lookout_that_takes_work(partitions: int, readers: int) -> None:
    most = partitions * readers
    lookout = (
        f"mirrored={str(readers == 2).lower()}",
        f"partitions={partitions}",
        "autoscaling.type=keda",
        f"autoscaling.minReplicas={readers}",
        f"autoscaling.maxReplicas={most}",
    )
    made = rendered(*setting(*(f"components.lookout.{each}" for each in lookout)))
    (scaler,) = (each["spec"] for each in made if each["kind"] == "ScaledObject")
    (trigger,) = scaler["triggers"]
    assert wanted(trigger["metadata"], partitions, A_STORM) >= scaler["maxReplicaCount"] == most
    assert wanted(trigger["metadata"], partitions, 0) <= scaler["minReplicaCount"]
