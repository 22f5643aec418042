"""Alerts for the bench: as many as are asked for, each found again by its delivery id."""

import time

from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Alert, Severity

WATCH = "bench"


def bench_alert(run: str, index: int) -> Alert:
    """Return alert number `index` of a run, of the usual size, detected now."""
    key = f"{run}-{index}"
    now_ms = time.time_ns() // 1_000_000
    return Alert(
        alert_id=alert_id(WATCH, [key]),
        watch=WATCH,
        severity=Severity.WARNING,
        summary=f"number {index} of run {run}: 120 of 100 used",
        key={"key": key},
        labels={"run": run, "zone": "north"},
        values={"used": 120, "limit": 100, "over": 20},
        event_ids=[f"{key}-{each}" for each in range(3)],
        appended_at_ms=now_ms,
        detected_at_ms=now_ms,
        auditor="a",
    )


def bench_delivery_id(run: str, index: int, channel: str, recipient: str) -> str:
    """Return the id under which the alert reaches the recipient."""
    return delivery_id(alert_id(WATCH, [f"{run}-{index}"]), channel, recipient)
