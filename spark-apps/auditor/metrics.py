"""The auditor's metrics."""

from contextlib import suppress

from prometheus_client import Counter, Gauge, Histogram

WATCH = ["watch"]

BATCHES = Counter("aldebaran_auditor_batches_total", "Batches that were committed.", WATCH)
ROWS = Counter("aldebaran_auditor_rows_total", "Records read.", WATCH)
MALFORMED = Counter(
    "aldebaran_auditor_malformed_total",
    "Records that break their declaration.",
    WATCH,
)
FULL_BOOKS = Counter(
    "aldebaran_auditor_full_books_total",
    "Events whose book was full, so that its oldest events had to go.",
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
ROW_RATE = Gauge(
    "aldebaran_auditor_rows_per_second",
    "Records read in the last batch, by its length; the counter moves only when a batch ends.",
    WATCH,
)
FINDING_RATE = Gauge(
    "aldebaran_auditor_findings_per_second",
    "Messages sent in the last batch, by its length; repeats and heartbeats included.",
    WATCH,
)
FAILURES = Counter("aldebaran_auditor_failures_total", "Times the query failed.", WATCH)
STOPPED = Gauge("aldebaran_auditor_stopped", "1: the watch waits for a person.", WATCH)
SET_ASIDE = Counter(
    "aldebaran_auditor_checkpoints_set_aside_total", "Checkpoints built again from topics.", WATCH
)
SPARED = Counter(
    "aldebaran_auditor_spared_records_total", "Records set aside as the SQL fails on them.", WATCH
)
LOST = Counter(
    "aldebaran_auditor_lost_records_total", "Records deleted before the watch read them.", WATCH
)
BAD_FILES = Gauge("aldebaran_auditor_bad_files", "Watch files that cannot be used right now.")
REJECTED = Counter(
    "aldebaran_auditor_changes_rejected_total", "Changes refused; the old one goes on.", WATCH
)
BEHIND = Gauge(
    "aldebaran_auditor_change_behind_records", "What a changed rule still has to read.", WATCH
)
STATE_BYTES = Gauge("aldebaran_auditor_state_bytes", "Memory that the state store uses.", WATCH)
STATE_DISK_BYTES = Gauge(
    "aldebaran_auditor_state_disk_bytes",
    "Sorted files of the state store on disk; what is newest is in its memory and its log.",
    WATCH,
)
PROCESSORS = Gauge(
    "aldebaran_auditor_processors",
    "Processors that the watch's tasks kept busy from one commit to the next.",
    WATCH,
)
STATE_UPDATES = Counter("aldebaran_auditor_state_updates_total", "State rows written.", WATCH)
STATE_LOOKS = Counter(
    "aldebaran_auditor_state_looks_total", "Looks for a key in the state store.", WATCH
)
STATE_LOOK_SECONDS = Counter(
    "aldebaran_auditor_state_look_seconds_total",
    "Time that looks for a key in the state store took, of all tasks.",
    WATCH,
)
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


_GAUGES = (
    ROW_RATE,
    FINDING_RATE,
    STOPPED,
    BEHIND,
    STATE_BYTES,
    STATE_DISK_BYTES,
    PROCESSORS,
    WATERMARK,
    PROGRESS_AGE,
    PHASE_ERROR,
)


def begin(watch: str) -> None:
    """Count from nought what rules look for the growth of.

    A counter that begins with its first event would look to Prometheus as if none had come.
    """
    for counter in (FAILURES, LOST, SPARED, REJECTED, FULL_BOOKS):
        counter.labels(watch)


def idle(watch: str) -> None:
    """Show that no query of the watch runs now; what it has kept is still there."""
    for gauge in (ROW_RATE, FINDING_RATE, PROCESSORS):
        gauge.labels(watch).set(0)


def change_is_over(watch: str) -> None:
    """Show no more how far a changed rule is, since it has taken over or was given up."""
    with suppress(KeyError):
        BEHIND.remove(watch)


def forget(watch: str) -> None:
    """Show no more values of a watch that has ended; counters stay, as they only ever grow."""
    for gauge in _GAUGES:
        with suppress(KeyError):
            gauge.remove(watch)
