"""What a unit of work costs: the committed figures, with the newest of the bench laid over."""

import json
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

ROOT: Final = Path(__file__).parents[3]
FIGURES_FILE: Final = Path(__file__).with_name("figures.yaml")
BENCH_FILE: Final = ROOT / "docs" / "reports" / "bench.json"
PARTS_FILE: Final = ROOT / "docs" / "reports" / "parts.json"
BROKER_TIMES: Final = 4
"""How often the broker handles an event in the measured system: one copy, three readers."""
DELIVERIES: Final = 3
"""Deliveries of an alert in the measured system."""
RULE: Final = "over-purchase"
OWN_ENGINES: Final = ("single", "real-time", "")
"""What the bench calls one auditor; older reports did not name it."""


class Figure(BaseModel):
    """One figure: what it counts, and where it is from."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    value: float = Field(gt=0)
    unit: str
    origin: str = Field(alias="from", pattern=r"^(measured: .+|assumed.*)$")


@dataclass(frozen=True)
class Figures:
    """All figures, named with their units."""

    rule_cpu_us: Figure
    gateway_cpu_us: Figure
    broker_cpu_us: Figure
    archivist_cpu_us: Figure
    alert_cpu_us: Figure
    delivery_cpu_us: Figure
    book_bytes: Figure
    auditor_base_mebibytes: Figure
    services_mebibytes: Figure
    alert_row_bytes: Figure
    delivery_row_bytes: Figure
    parquet_share: Figure

    def items(self) -> Iterator[tuple[str, Figure]]:
        """Return every figure by its name."""
        return ((each.name, getattr(self, each.name)) for each in fields(self))


def read_figures(
    file: Path = FIGURES_FILE, bench: Path = BENCH_FILE, parts: Path = PARTS_FILE
) -> Figures:
    """Return the figures, with what the bench has measured in place of what the file says.

    Raises:
        ValueError: the file lacks a figure, has one too many, or one that is not above 0.
    """
    read = TypeAdapter(dict[str, Figure]).validate_python(yaml.safe_load(file.read_text("utf-8")))
    known = {each.name for each in fields(Figures)}
    if wrong := read.keys() ^ known:
        raise ValueError(f"{file.name}: missing or unknown figures: {', '.join(sorted(wrong))}")
    return Figures(**read | of_parts(read, parts) | measured(bench))


def measured(bench: Path) -> dict[str, Figure]:
    """Return the figures that a report of the bench has; none where there is no such report."""
    try:
        report = json.loads(bench.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    drained = report.get("drain", []) if isinstance(report, Mapping) else []
    rows = [each for each in drained if _is_rule(each)]
    if not rows:
        return {}
    visits = "once" if len(rows) == 1 else f"{len(rows)} times, the median"
    origin = f"measured: docs/reports/{bench.name}, draining {rows[0]['events']:,} events {visits}"
    told = {
        "rule_cpu_us": ("cpu_us_per_event", "one auditor, over-purchase watch"),
        "broker_cpu_us": ("broker_cpu_us_per_event", "of the broker, for one reader"),
    }
    return {
        name: Figure.model_validate(
            {"value": value, "unit": f"µs of CPU per event, {of_what}", "from": origin}
        )
        for name, (key, of_what) in told.items()
        if (value := statistics.median(row.get(key, 0) for row in rows)) > 0
    }


def of_parts(read: Mapping[str, Figure], parts: Path) -> dict[str, Figure]:
    """Return the figures that a measurement of the whole system has; none without one."""
    try:
        found = json.loads(parts.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    event, alert, memory = (
        found[name] for name in ("cpu_us_per_event", "cpu_us_per_alert", "memory_mebibytes")
    )
    values = {
        "gateway_cpu_us": event["gateway"],
        "broker_cpu_us": event["broker"] / BROKER_TIMES,
        "archivist_cpu_us": event["archivist"],
        # Of what Postgres does, half is for the alert and half for its deliveries.
        "alert_cpu_us": alert["lookout"] + alert["postgres"] / 2,
        "delivery_cpu_us": (alert["deliverers"] + alert["postgres"] / 2) / DELIVERIES,
        "services_mebibytes": memory["gateway"]
        + memory["lookout"]
        + memory["deliverers"]
        + memory["others"],
    }
    where = f"measured: docs/reports/{parts.name}, the whole system on {found['cores']} cores"
    return {
        name: Figure.model_validate({"value": value, "unit": read[name].unit, "from": where})
        for name, value in values.items()
        if value > 0
    }


def _is_rule(row: Mapping[str, Any]) -> bool:
    return row.get("watch") == RULE and row.get("engine", "") in OWN_ENGINES
