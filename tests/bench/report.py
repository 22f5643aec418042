"""The bench's result: one JSON file, and the same as a table that people read."""

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.bench.delivering.claims import ClaimsRow
from tests.bench.delivering.first_byte import FirstByteRow
from tests.bench.delivering.storm import StormRow
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
    claims: list[ClaimsRow] = field(default_factory=list)
    first_bytes: list[FirstByteRow] = field(default_factory=list)
    storm: StormRow | None = None
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
        if self.latency:
            yield ""
            yield from self._latency_lines()
        if self.drain:
            yield ""
            yield from self._drain_lines()
        if self.claims:
            yield ""
            yield from self._claims_lines()
        if self.first_bytes:
            yield ""
            yield from self._first_byte_lines()
        if self.storm:
            yield ""
            yield from _storm_lines(self.storm)

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

    def _claims_lines(self) -> Iterator[str]:
        yield "## Claims: claimed and settled per second, two owners, nothing sent in between"
        yield ""
        first = self.claims[0]
        yield f"{first.waiting} deliveries waited, recorded at {first.intake_per_second} a second."
        yield ""
        yield "| claimed at once | claimed and settled/s | one claim: p50 ms | p99 ms |"
        yield "|---" * 4 + "|"
        for row in self.claims:
            claim = row.claim
            yield f"| {row.batch} | {row.per_second} | {claim.p50_ms} | {claim.p99_ms} |"

    def _first_byte_lines(self) -> Iterator[str]:
        yield "## From an alert on topic `alerts` to its first byte at the provider"
        yield ""
        yield "Open loop, in ms, from the intended send time; lookout and deliverer as processes."
        yield ""
        yield "| channel | alerts/s | alerts (missing, repeats) | p50 | p99 | p99.9 | max | cores |"
        yield "|---" * 8 + "|"
        for row in self.first_bytes:
            first, cores = row.first_byte, ", ".join(f"{k} {v}" for k, v in row.cores.items())
            yield (
                f"| {row.channel} | {row.rate} | {row.alerts} ({row.missing}, {row.repeats}) "
                f"| {first.p50_ms} | {first.p99_ms} | {first.p999_ms} | {first.max_ms} | {cores} |"
            )


def _storm_lines(storm: StormRow) -> Iterator[str]:
    yield "## A storm to one channel whose provider takes much less"
    yield ""
    yield (
        "| alerts | offered/s | recorded | recorded/s | provider's limit/s | sent/s: median "
        "| least | repeats |"
    )
    yield "|---" * 8 + "|"
    yield (
        f"| {storm.alerts} | {storm.offered_per_second} | {storm.recorded} "
        f"| {storm.recorded_per_second} | {storm.provider_limit_per_second} "
        f"| {storm.sent_median_per_second} | {storm.sent_least_per_second} | {storm.repeats} |"
    )
