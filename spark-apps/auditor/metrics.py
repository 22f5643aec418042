"""The auditor's metrics."""

from prometheus_client import Counter, Gauge, Histogram

WATCH = ["watch"]

BATCHES = Counter("aldebaran_auditor_batches_total", "Batches that were committed.", WATCH)
ROWS = Counter("aldebaran_auditor_rows_total", "Records read.", WATCH)
MALFORMED = Counter(
    "aldebaran_auditor_malformed_total",
    "Records that break their declaration.",
    WATCH,
)
LATE = Counter(
    "aldebaran_auditor_late_rows_total",
    "Rows dropped behind the watermark.",
    WATCH,
)
FINDINGS = Counter(
    "aldebaran_auditor_findings_total", "Messages sent, repeats and heartbeats included.", WATCH
)
FAILURES = Counter("aldebaran_auditor_failures_total", "Times the query failed.", WATCH)
STATE_BYTES = Gauge("aldebaran_auditor_state_bytes", "Memory that the state store uses.", WATCH)
STATE_UPDATES = Counter("aldebaran_auditor_state_updates_total", "State rows written.", WATCH)
WATERMARK = Gauge(
    "aldebaran_auditor_watermark_timestamp_seconds", "Append time before which windows end.", WATCH
)
PROGRESS_AGE = Gauge(
    "aldebaran_auditor_progress_age_seconds", "Time since the last batch was committed.", WATCH
)
PHASE_ERROR = Gauge(
    "aldebaran_auditor_phase_error_seconds",
    "How far the last boundary lay behind the moment that is this auditor's; negative is before.",
    WATCH,
)
BOUNDARY = Histogram(
    "aldebaran_auditor_boundary_seconds",
    "Time between batches in which the watch stands still.",
    WATCH,
    buckets=(0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0),
)
