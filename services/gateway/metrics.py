"""Metrics of the on-ramps; labels take values from declared streams and short fixed lists only."""

from prometheus_client import Counter, Gauge, Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

EVENTS = Counter(
    "aldebaran_gateway_events_total",
    "Events by what became of them: accepted, rejected (kept aside), retry (not known to be kept).",
    ["stream", "result"],
)
REJECTED = Counter(
    "aldebaran_gateway_rejected_total",
    "Events kept aside, by reason; oversized: RabbitMQ's messages in their queue for those.",
    ["stream", "reason"],
)
REQUESTS = Counter("aldebaran_gateway_requests_total", "Requests by HTTP status.", ["status"])
REQUEST_SECONDS = Histogram(
    "aldebaran_gateway_request_seconds",
    "From a request's headers to its answer.",
    buckets=LATENCY_BUCKETS_SECONDS,
)
ACK_SECONDS = Histogram(
    "aldebaran_gateway_broker_ack_seconds",
    "From handing a batch to the producer until all in-sync replicas have it.",
    buckets=LATENCY_BUCKETS_SECONDS,
)
BODY_BYTES = Counter("aldebaran_gateway_body_bytes_total", "Bytes of bodies, decompressed.")
INFLIGHT_REQUESTS = Gauge("aldebaran_gateway_inflight_requests", "Requests in work.")
INFLIGHT_BYTES = Gauge("aldebaran_gateway_inflight_bytes", "Bytes of bodies held in memory.")
