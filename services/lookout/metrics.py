"""The lookout's metrics."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

ALERTS: Final = Counter(
    "aldebaran_lookout_alerts_total",
    "Alerts read: new, repeat (a copy), rejected, mirrored (recorded before, by another lookout)",
    ["result"],
)
SET_ASIDE: Final = ALERTS.labels("rejected")
"""Counts from nought, as a rule tells of the first."""
UNROUTED: Final = Counter(
    "aldebaran_lookout_unrouted_alerts_total",
    "New alerts that no route was for, told to the default recipients",
)
DELIVERIES: Final = Counter(
    "aldebaran_lookout_deliveries_total", "Deliveries recorded, by channel", ["channel"]
)
SUPPRESSED: Final = Counter(
    "aldebaran_lookout_suppressed_total",
    "New deliveries that wait, by what for: silence, window, inhibition, quiet, group",
    ["kind"],
)
REFUSED: Final = Counter(
    "aldebaran_lookout_unpublishable_total",
    "Tries to publish that Kafka refused for good; the deliveries stay in the outbox",
    ["channel"],
)
TEMPLATE_FAILURES: Final = Counter(
    "aldebaran_lookout_template_failures_total",
    "Messages that were sent in plain words because their template failed",
    ["template"],
)
ROUTES_FAILED: Final = Gauge(
    "aldebaran_lookout_routes_reload_failed",
    "1 while the newest routes file cannot be used and the routes before it are in use",
)
ROUTES_WARNINGS: Final = Gauge(
    "aldebaran_lookout_routes_warnings",
    "Warnings about the routes in use: recipients that no deliverer knows, and others",
)
ROUTES_LOADED: Final = Gauge(
    "aldebaran_lookout_routes_loaded_timestamp_seconds",
    "When routes were taken over last, in seconds since 1970",
)
OUTBOX: Final = Gauge(
    "aldebaran_lookout_outbox_unpublished",
    "Deliveries recorded or released ALDEBARAN_LOOKOUT_RELAY_AGE_SECONDS ago or earlier and not "
    "published yet",
)
RELAYED: Final = Counter(
    "aldebaran_lookout_relayed_total", "Deliveries published by the relay, after a crash or outage"
)
BATCH_SECONDS: Final = Histogram(
    "aldebaran_lookout_batch_seconds",
    "Time for one batch, from read to published",
    buckets=LATENCY_BUCKETS_SECONDS,
)
PUBLISHED_SECONDS: Final = Histogram(
    "aldebaran_lookout_detected_to_published_seconds",
    "Time from an auditor's finding to its deliveries on their topics",
    buckets=LATENCY_BUCKETS_SECONDS,
)
DUTY_SECONDS: Final = Histogram(
    "aldebaran_lookout_duty_seconds",
    "Time for one turn of what the keeper looks after",
    ["duty"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
DUTY_ROWS: Final = Counter(
    "aldebaran_lookout_duty_rows_total", "What the keeper has done, by duty", ["duty"]
)
ESCALATED: Final = Counter(
    "aldebaran_lookout_escalation_steps_total",
    "Steps of escalations that came due: nobody had acknowledged in time, or it was too late to",
)
FALLBACKS: Final = Counter(
    "aldebaran_lookout_fallbacks_total", "Messages to the next recipient after one failed for good"
)
FALLBACKS_EXHAUSTED: Final = Counter(
    "aldebaran_lookout_fallback_exhausted_total",
    "Failures after which no fallback was left: somebody was not told",
)
TRIALS: Final = Counter("aldebaran_lookout_test_sends_total", "Test messages that were asked for")
