"""The heartbeat's metrics."""

from contextlib import suppress

from prometheus_client import Counter, Gauge, Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

LATENCY = Histogram(
    "aldebaran_heartbeat_latency_seconds",
    "From sending a beat's events to reading the auditor's first answer.",
    ["watch", "auditor"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
FIRST_ANSWER = Histogram(
    "aldebaran_heartbeat_first_answer_seconds",
    "From sending a beat's events to the first answer, whichever auditor's it is.",
    ["watch"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
WATCHES = Gauge(
    "aldebaran_heartbeat_watches", "Watches that beat: they run, and declare a heartbeat."
)
ANSWER_AGE = Gauge(
    "aldebaran_heartbeat_answer_age_seconds",
    "Seconds since the auditor last answered in time.",
    ["watch", "auditor"],
)
IN_STEP = Gauge(
    "aldebaran_heartbeat_auditor_in_step",
    "1 while the auditor answers in time, 0 while it is dead, starting, or catching up.",
    ["watch", "auditor"],
)
DISAGREEMENTS = Counter(
    "aldebaran_heartbeat_disagreements_total",
    "Alerts that another auditor raised and this one did not in its time.",
    ["watch", "auditor"],
)
DISAGREEMENTS_OPEN = Gauge(
    "aldebaran_heartbeat_disagreements_open", "Disagreements that last, since this program started."
)
UNCOMPARED = Gauge(
    "aldebaran_heartbeat_uncompared_alerts",
    "Alerts whose comparison was given up: too many, a gap in what was read, or a rule no more.",
)
SENT = Counter("aldebaran_heartbeat_sent_total", "Beats sent.", ["watch"])
MISSED = Counter(
    "aldebaran_heartbeat_missed_total",
    "Beats that an auditor did not answer in time; auditor none while none ever answered.",
    ["watch", "auditor"],
)
UNSENT = Counter("aldebaran_heartbeat_unsent_total", "Beats that Kafka did not take.", ["watch"])
MALFORMED = Counter("aldebaran_heartbeat_malformed_total", "Answers that are not a record.")
"""Answers come from our own auditors only, so a malformed one is a bug of theirs."""


def forget(watch: str, auditor: str) -> None:
    """Show no more values of a watch that has ended; counters stay, as they only ever grow."""
    for gauge in (ANSWER_AGE, IN_STEP):
        with suppress(KeyError):
            gauge.remove(watch, auditor)
