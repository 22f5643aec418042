"""The console's metrics."""

from prometheus_client import Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

REQUESTS = Histogram(
    "aldebaran_console_request_seconds",
    "Time to answer, by route as declared and status.",
    ["route", "status"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
