"""Latencies of a run, between and across the auditors' batch boundaries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

QUANTILES: Final = (0.5, 0.99, 0.999)
ECHO: Final = "echo"
"""What went straight through the broker, as the program tells it among the auditors."""
AROUND_MS: Final = 500.0
"""What was sent so shortly before a boundary's pause, or after it, counts as across it."""


@dataclass(frozen=True)
class Probe:
    """One order: when it was meant to cross, and by auditor how long its alert took.

    `echo_ms` is what a record took straight through the broker; None where none came.
    """

    at_ms: float
    latencies_ms: Mapping[str, float]
    echo_ms: float | None = None

    def first_ms(self) -> float | None:
        """Return how long the first alert took; None if none came."""
        return min(self.latencies_ms.values(), default=None)


def probe_of(told: Mapping[str, Any]) -> Probe:
    """Read what the program in the pod tells of one probe."""
    alerts = {name: ms for name, ms in told["ms"].items() if name != ECHO}
    return Probe(told["at_ms"], alerts, told["ms"].get(ECHO))


@dataclass(frozen=True)
class Pause:
    """How long one watch of one auditor stood still, and what that consisted of."""

    auditor: str
    ended_ms: float
    lasted_ms: float
    parts_ms: Mapping[str, int]

    def touches(self, at_ms: float) -> bool:
        """Tell whether what was sent then met this pause."""
        begun = self.ended_ms - self.lasted_ms
        return begun - AROUND_MS <= at_ms <= self.ended_ms + AROUND_MS


def pause_of(auditor: str, line: Mapping[str, Any]) -> Pause:
    """Read one pause from an auditor's log."""
    told_ms = datetime.fromisoformat(line["timestamp"]).timestamp() * 1000
    return Pause(auditor, told_ms, line["pause_seconds"] * 1000, line["parts_ms"])


def quantiles(latencies_ms: Iterable[float]) -> dict[str, float]:
    """Return p50, p99, p99.9 and the maximum; empty of nothing."""
    found = sorted(latencies_ms)
    if not found:
        return {}
    picked = {f"p{share:.1%}".rstrip("%").replace(".0", ""): share for share in QUANTILES}
    at = {
        name: found[min(len(found) - 1, int(share * len(found)))] for name, share in picked.items()
    }
    return {name: round(value, 1) for name, value in (at | {"max": found[-1]}).items()}


def table(probes: Iterable[Probe], pauses: Iterable[Pause]) -> dict[str, dict[str, float]]:
    """Return quantiles of each auditor and of the pair, in all, between, across, and the echo's."""
    every, stood = list(probes), list(pauses)
    auditors = sorted({name for probe in every for name in probe.latencies_ms})
    shown: dict[str, dict[str, float]] = {}
    for name in (*auditors, "pair"):
        own = [pause for pause in stood if name in ("pair", pause.auditor)]
        taken = [(probe.at_ms, _latency(probe, name)) for probe in every]
        found = [(at, latency) for at, latency in taken if latency is not None]
        across = [latency for at, latency in found if any(each.touches(at) for each in own)]
        between = [latency for at, latency in found if not any(each.touches(at) for each in own)]
        shown[f"{name}, all"] = quantiles(latency for _, latency in found)
        shown[f"{name}, between"] = quantiles(between)
        shown[f"{name}, across"] = quantiles(across)
    shown[ECHO] = quantiles(probe.echo_ms for probe in every if probe.echo_ms is not None)
    return {name: row for name, row in shown.items() if row}


def _latency(probe: Probe, name: str) -> float | None:
    return probe.first_ms() if name == "pair" else probe.latencies_ms.get(name)
