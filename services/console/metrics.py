"""The console's metrics."""

from prometheus_client import Gauge, Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

REQUESTS = Histogram(
    "aldebaran_console_request_seconds",
    "Time to answer, by route as declared and status.",
    ["route", "status"],
    buckets=LATENCY_BUCKETS_SECONDS,
)

LAG = Gauge(
    "aldebaran_console_lag_records",
    "Records that a consumer group has not settled of our topics; as the brokers said last.",
    ["group", "topic"],
)
UNREAD = Gauge(
    "aldebaran_console_groups_without_members",
    "Consumer groups that have records of our topics to settle and nobody who reads.",
)
MADE_AGAIN = Gauge(
    "aldebaran_console_topics_made_again",
    "Topics that were deleted and made again, of which a group that read the one before has "
    "settled nothing.",
)
BROKERS_ANSWER = Gauge(
    "aldebaran_console_brokers_answer",
    "1 while the brokers tell how far consumer groups are behind, else 0.",
)
