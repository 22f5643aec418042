"""Work that grows until an autoscaler adds a pod: what makes it grow, for each such part."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

import httpx2

from services.simulator.report import Report
from tests.acceptance.system import Simulation
from tests.cluster.release import PAGES_PORT, Release

MINIMUM: Final = 1
MAXIMUM: Final = 2
PARTITIONS: Final = 3
"""As many as other cells give these parts, as none can be taken away again."""
CALM_SECONDS: Final = 90
"""So long the work must be little before a pod is taken away: one that was added has had some."""
SLOW_SECONDS: Final = 3.0
"""How long the far end takes to answer, less than a send may take."""
BUSY_DIALS: Final = ("--rate", "300", "--over-share", "0.02", "--seed", "2")
METRICS_API: Final = "v1beta1.metrics.k8s.io"
KEDA_API: Final = "v1beta1.external.metrics.k8s.io"
ADDON: Final = {METRICS_API: "metrics-server", KEDA_API: "keda"}
"""The add-on by which the API server has each API."""

Burden = Callable[[Release, str, list[Report]], AbstractContextManager[None]]
"""Makes a part's work grow while it is entered; what it has sent itself is added to the reports."""


def ended(load: Simulation) -> Report:
    """End a simulation; return what it did."""
    load.process.terminate()
    return load.finish()


@contextmanager
def busy_publisher(release: Release, run: str, reports: list[Report]) -> Iterator[None]:
    """Send many events: a gateway's core is busy."""
    load = release.simulate(*BUSY_DIALS, "--run-id", f"{run}-busy")
    try:
        yield
    finally:
        reports.append(ended(load))


@contextmanager
def ledger_locked(release: Release, run: str, reports: list[Report]) -> Iterator[None]:
    """Let nobody write alerts into the ledger: lookouts wait, and their topic's lag grows."""
    with release.connection() as connection:
        connection.execute("LOCK TABLE alerts IN SHARE MODE")
        yield


@contextmanager
def slow_provider(release: Release, run: str, reports: list[Report]) -> Iterator[None]:
    """Let the webhooks' receiver answer late: what is due waits in the ledger."""
    _turn(release, SLOW_SECONDS)
    try:
        yield
    finally:
        _turn(release, 0.0)


def _turn(release: Release, delay_seconds: float) -> None:
    url = f"http://{release.address('far-end')}:{PAGES_PORT}/dials"
    wanted = json.dumps({"hook": {"delay_seconds": delay_seconds}})
    httpx2.post(url, content=wanted, timeout=10).raise_for_status()


@dataclass(frozen=True)
class Growth:
    """How one part is scaled: by which API, told by which values, and what makes it grow."""

    component: str
    api: str
    burden: Burden
    at: str
    """Where the part's values stand."""
    told: Sequence[str]

    @property
    def values(self) -> list[str]:
        """The values by which it is scaled, as `--set` takes them."""
        scaling = f"{self.at}.autoscaling"
        calm = f"{scaling}.behavior.scaleDown.stabilizationWindowSeconds={CALM_SECONDS}"
        pods = [f"{scaling}.minReplicas={MINIMUM}", f"{scaling}.maxReplicas={MAXIMUM}", calm]
        return [*pods, *(f"{self.at}.{each}" for each in self.told)]


GROWTHS: Final = {
    growth.component: growth
    for growth in (
        Growth(
            "gateway",
            METRICS_API,
            busy_publisher,
            "components.gateway",
            ("autoscaling.type=hpa", "autoscaling.targetCpuPercent=100"),
        ),
        Growth(
            "lookout",
            KEDA_API,
            ledger_locked,
            "components.lookout",
            (
                *("autoscaling.type=keda", "autoscaling.lagThreshold=10", "mirrored=false"),
                f"partitions={PARTITIONS}",
            ),
        ),
        Growth(
            "deliverer-webhook",
            KEDA_API,
            slow_provider,
            "channels.webhook",
            (
                *("autoscaling.type=keda", "autoscaling.lagThreshold=5"),
                *(f"partitions={PARTITIONS}", "settings.concurrency=2"),
            ),
        ),
    )
}
"""All parts that something can scale here, one of each kind."""
