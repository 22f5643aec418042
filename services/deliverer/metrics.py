"""The deliverer's metrics; one process serves one channel, so labels stay bounded."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

DELIVERIES: Final = Counter(
    "aldebaran_deliverer_deliveries_total",
    "Sends by what they came to: accepted, refused, permanent, unknown",
    ["channel", "outcome"],
)
FAILED: Final = Counter(
    "aldebaran_deliverer_failed_total",
    "Deliveries that failed for good, by the provider's answer, by evidence or a person's word",
    ["channel"],
)
SWEPT: Final = Counter(
    "aldebaran_deliverer_swept_total", "Rows that a sweep moved, by new state", ["channel", "state"]
)
LOOK_UPS: Final = Counter(
    "aldebaran_deliverer_look_ups_total",
    "Questions to the provider about doubts, by finding: taken, absent, unclear",
    ["channel", "finding"],
)
TOLD: Final = Counter(
    "aldebaran_deliverer_moves_by_evidence_total",
    "Moves by evidence or a person's word, by new state",
    ["channel", "state"],
)
NOT_IN_LEDGER: Final = Counter(
    "aldebaran_deliverer_not_in_ledger_total", "Messages of which the ledger knows no row"
)
LATE_OUTCOMES: Final = Counter(
    "aldebaran_deliverer_late_outcomes_total", "Outcomes whose row had already been moved on"
)
EVENTS_LOST: Final = Counter(
    "aldebaran_deliverer_events_lost_total", "Delivery events that Kafka did not take"
)
CLAIM_SECONDS: Final = Histogram(
    "aldebaran_deliverer_claim_seconds",
    "One claim of one or more rows, with their turns where the rate is limited",
    buckets=LATENCY_BUCKETS_SECONDS,
)
RECORD_SECONDS: Final = Histogram(
    "aldebaran_deliverer_record_seconds",
    "One recording statement, of one or more outcomes",
    buckets=LATENCY_BUCKETS_SECONDS,
)
SEND_SECONDS: Final = Histogram(
    "aldebaran_deliverer_send_seconds",
    "From the claim to the outcome",
    ["channel"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
FIRST_BYTE_SECONDS: Final = Histogram(
    "aldebaran_deliverer_first_byte_seconds",
    "From the alert's detection to the message's first byte; first tries of what was to go at once",
    ["channel"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
BREAKERS_OPEN: Final = Gauge(
    "aldebaran_deliverer_breakers_open",
    "Destinations that failed lately and are left alone",
    ["channel"],
)
IN_FLIGHT: Final = Gauge(
    "aldebaran_deliverer_in_flight", "Claims not recorded yet, of this process", ["channel"]
)
IN_DOUBT: Final = Gauge("aldebaran_deliverer_in_doubt", "Rows in doubt", ["channel"])
HELD: Final = Gauge("aldebaran_deliverer_held", "Rows that wait for a person", ["channel"])
DUE: Final = Gauge("aldebaran_deliverer_due", "Rows that could be claimed now", ["channel"])
OVERDUE_SECONDS: Final = Gauge(
    "aldebaran_deliverer_overdue_seconds", "How long the longest waiting row is due", ["channel"]
)
WAITING: Final = (DUE, OVERDUE_SECONDS)
"""What grows unseen while the ledger is away, so missing then; nothing leaves doubt or a hold."""
PAUSED: Final = Gauge(
    "aldebaran_deliverer_paused", "1 while a person has stopped the channel", ["channel"]
)
