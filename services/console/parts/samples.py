"""Metrics as another program tells them, cut to what is wanted before it is parsed."""

import re
from collections.abc import Iterator
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

Key = tuple[str, tuple[tuple[str, str], ...]]
"""A sample's name, and its labels sorted by name."""
Samples = dict[Key, float]

WANTED: Final = frozenset(
    {
        "aldebaran_gateway_events_created",
        "aldebaran_gateway_events_total",
        "aldebaran_auditor_rows_per_second",
        "aldebaran_auditor_findings_per_second",
        "aldebaran_auditor_progress_age_seconds",
        "aldebaran_auditor_stopped",
        "aldebaran_auditor_processors",
        "aldebaran_auditor_state_bytes",
        "aldebaran_auditor_state_disk_bytes",
        "aldebaran_heartbeat_latency_seconds_bucket",
        "aldebaran_heartbeat_auditor_in_step",
        "aldebaran_heartbeat_answer_age_seconds",
        "aldebaran_heartbeat_disagreements_open",
        "aldebaran_lookout_outbox_unpublished",
        "aldebaran_lookout_detected_to_published_seconds_bucket",
        "aldebaran_deliverer_first_byte_seconds_bucket",
        "aldebaran_deliverer_breakers_open",
        "aldebaran_deliverer_overdue_seconds",
        "aldebaran_accountant_findings",
        "aldebaran_archivist_judged_until_timestamp_seconds",
    }
)
TEXT_LIMIT_BYTES: Final = 4 * 1024 * 1024
_NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def samples(text: str, wanted: frozenset[str] = WANTED) -> Samples:
    """Return the wanted samples.

    Raises:
        ValueError: the text is not in Prometheus' form.
    """
    kept = "".join(f"{line}\n" for line in text.splitlines() if _name(line) in wanted)
    return dict(_parsed(kept))


def _name(line: str) -> str:
    match = _NAME.match(line)
    return match[0] if match else ""


def _parsed(text: str) -> Iterator[tuple[Key, float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield (sample.name, tuple(sorted(sample.labels.items()))), float(sample.value)


def named(found: Samples, name: str) -> Iterator[tuple[dict[str, str], float]]:
    """Return the labels and values of one name."""
    return ((dict(labels), value) for (each, labels), value in found.items() if each == name)


def total(found: Samples, name: str, **labels: str) -> float | None:
    """Return the sum of a name's samples that have these labels; None if there is none."""
    values = [value for own, value in named(found, name) if labels.items() <= own.items()]
    return sum(values) if values else None


def growth(before: float, after: float) -> float:
    """Return by how much a counter has grown; a process that was started again counts from zero."""
    return after if after < before else after - before
