"""The archivist's metrics; `task` is one of its jobs, for example `archive <stream>`.

Prometheus has a label `job` of its own.
"""

from prometheus_client import Counter, Gauge

ARCHIVED = Counter("aldebaran_archivist_archived_total", "Events written to files.", ["stream"])
REJECTED = Counter(
    "aldebaran_archivist_rejected_total",
    "Records on a stream's topic that are no events, kept aside; repeats included.",
    ["stream"],
)
BATCHES = Counter("aldebaran_archivist_batches_total", "Batches that were committed.", ["task"])
FAILURES = Counter("aldebaran_archivist_failures_total", "Times a job failed.", ["task"])
COMPLETE_UNTIL = Gauge(
    "aldebaran_archivist_complete_until_timestamp_seconds",
    "Append time up to which a stream's archive is complete.",
    ["stream"],
)
ACCOUNTED = Counter(
    "aldebaran_archivist_accounted_total", "Rows found by accounts.", ["account", "reason"]
)
JUDGED_UNTIL = Gauge(
    "aldebaran_archivist_judged_until_timestamp_seconds",
    "Append time up to which an account has judged.",
    ["account"],
)
