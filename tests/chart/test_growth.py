"""The values by which the cluster's tests have parts scaled are values of the chart."""

from typing import Any

import pytest

from tests.chart.rendering import needs_helm, rendered, setting
from tests.cluster.growth import CALM_SECONDS, GROWTHS, KEDA_API, MAXIMUM, MINIMUM, Growth

pytestmark = needs_helm


def bounds(growth: Growth, spec: dict[str, Any]) -> tuple[int, int, dict[str, Any]]:
    """Return the fewest and the most pods, and how slowly they go, as either kind says it."""
    if growth.api == KEDA_API:
        behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
        return spec["minReplicaCount"], spec["maxReplicaCount"], behavior
    return spec["minReplicas"], spec["maxReplicas"], spec["behavior"]


@pytest.mark.parametrize("growth", GROWTHS.values(), ids=list(GROWTHS))
def test_each_part_that_grows_in_a_cluster_has_its_autoscaler(growth: Growth) -> None:
    kind = "ScaledObject" if growth.api == KEDA_API else "HorizontalPodAutoscaler"
    (scaler,) = (each for each in rendered(*setting(*growth.values)) if each["kind"] == kind)
    assert scaler["metadata"]["name"] == f"t-aldebaran-{growth.component}"
    slowly = {"scaleDown": {"stabilizationWindowSeconds": CALM_SECONDS}}
    assert bounds(growth, scaler["spec"]) == (MINIMUM, MAXIMUM, slowly)
