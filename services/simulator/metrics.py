"""The simulator's metrics; counts are read from the tally when somebody asks."""

from collections.abc import Callable, Iterator

from prometheus_client import Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS
from services.simulator.history import Kind
from services.simulator.tally import Outcome, Tally

LAG = Histogram(
    "aldebaran_simulator_lag_seconds",
    "How late batches left, against their intended time.",
    buckets=LATENCY_BUCKETS_SECONDS,
)


class TallyCollector(Collector):
    """Shows a tally to Prometheus without a cost per message."""

    def __init__(self, tally: Tally, retried: Callable[[], int]) -> None:
        self._tally = tally
        self._retried = retried

    def collect(self) -> Iterator[Metric]:
        """Return the counts as they are now."""
        sent = CounterMetricFamily(
            "aldebaran_simulator_sent", "Messages sent, by kind.", labels=["kind"]
        )
        settled = CounterMetricFamily(
            "aldebaran_simulator_settled", "Messages with an outcome.", labels=["kind", "outcome"]
        )
        for kind in Kind:
            sent.add_metric([kind.name.lower()], self._tally.sent[kind])
            for outcome in Outcome:
                count = self._tally.outcomes[outcome][kind]
                settled.add_metric([kind.name.lower(), outcome.name.lower()], count)
        yield sent
        yield settled
        yield CounterMetricFamily(
            "aldebaran_simulator_retried", "Messages sent again.", value=self._retried()
        )
