"""The bench's result: one JSON file, and the same as a table that people read."""

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.bench.percentiles import Latency


def facts() -> dict[str, str]:
    """Return what the machine is."""
    return {
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class LatencyRow:
    """One engine at one rate: alerts and echoes of the same probes."""

    engine: str
    rate: int
    probes: int
    missing: int
    alert: Latency
    between_boundaries: Latency
    echo: Latency
    boundaries: int
    engine_cpu_cores: float
    engine_memory_mebibytes: int
    load: dict[str, float]


@dataclass(frozen=True)
class DrainRow:
    """One watch draining a backlog."""

    watch: str
    events: int
    seconds: float
    events_per_second: int
    cpu_us_per_event: float


@dataclass
class Report:
    """All rows of one run, in the order in which they were measured."""

    latency: list[LatencyRow] = field(default_factory=list)
    drain: list[DrainRow] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=facts)

    def write(self, folder: Path) -> Path:
        """Write bench.json and bench.md; return the latter."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "bench.json").write_text(json.dumps(asdict(self), indent=1) + "\n")
        table = folder / "bench.md"
        table.write_text("\n".join(self.lines()) + "\n")
        return table

    def lines(self) -> Iterator[str]:
        """Yield the report as Markdown."""
        yield "# Bench"
        yield ""
        yield "Made by `make bench`. " + ", ".join(f"{k}: {v}" for k, v in self.machine.items())
        yield ""
        yield from self._latency_lines()
        yield ""
        yield from self._drain_lines()

    def _latency_lines(self) -> Iterator[str]:
        yield "## Latency: intended send time of a crossing purchase to its alert at the reader"
        yield ""
        yield (
            "Open loop, in ms. *Between* leaves out probes within a second of a batch boundary. "
            "Echo is the same probe sent at the same instant straight through the broker."
        )
        yield ""
        yield (
            "| engine | load/s | probes (missing) | p50 | p99 | p99.9 | max | between: p50 | p99 "
            "| max | echo: p50 | p99 | max | p99 less echo | boundaries | cores | MiB |"
        )
        yield "|---" * 17 + "|"
        for row in self.latency:
            alert, between, echo = row.alert, row.between_boundaries, row.echo
            yield (
                f"| {row.engine} | {row.rate} | {row.probes} ({row.missing}) | {alert.p50_ms} "
                f"| {alert.p99_ms} | {alert.p999_ms} | {alert.max_ms} | {between.p50_ms} "
                f"| {between.p99_ms} | {between.max_ms} | {echo.p50_ms} | {echo.p99_ms} "
                f"| {echo.max_ms} | {between.p99_ms - echo.p99_ms:.1f} | {row.boundaries} "
                f"| {row.engine_cpu_cores} | {row.engine_memory_mebibytes} |"
            )

    def _drain_lines(self) -> Iterator[str]:
        yield "## Sustained rate and the cost of each step: draining a backlog"
        yield ""
        yield "| watch | events | seconds | events/s | CPU µs per event | share of first |"
        yield "|---" * 6 + "|"
        for row in self.drain:
            share = row.events_per_second / self.drain[0].events_per_second
            yield (
                f"| {row.watch} | {row.events} | {row.seconds:.1f} | {row.events_per_second} "
                f"| {row.cpu_us_per_event:.1f} | {share:.2f} |"
            )
