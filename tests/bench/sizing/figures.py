"""What a unit of work costs: the committed figures, with the newest of the bench laid over."""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tests.bench.facts import machine_line

ROOT: Final = Path(__file__).parents[3]
FIGURES_FILE: Final = Path(__file__).with_name("figures.yaml")
BENCH_FILE: Final = ROOT / "docs" / "reports" / "bench.json"
PARTS_FILE: Final = ROOT / "docs" / "reports" / "parts.json"
DELIVERIES: Final = 3
"""Deliveries of an alert in the measured system."""
RULE: Final = "over-purchase"
OWN_ENGINES: Final = ("single", "real-time", "")
"""What the bench calls one auditor; older reports did not name it."""
AUDITORS: Final[Mapping[str, int]] = MappingProxyType({"single": 1, "pair": 2})
"""How many auditors the rows of the bench's latency have."""


SERVICES: Final = ("gateway", "lookout", "deliverers", "others")


class Figure(BaseModel):
    """One figure: what it counts, and where it is from."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    value: float = Field(gt=0, allow_inf_nan=False)
    unit: str
    origin: str = Field(alias="from", pattern=r"^(measured: .+|assumed.*)$")
    machine: str = ""
    """Where it was measured, if its report says so."""


Named = dict[str, Figure]


@dataclass(frozen=True)
class Figures:
    """All figures, named with their units."""

    rule_cpu_us: Figure
    auditor_awake_cores: Figure
    gateway_cpu_us: Figure
    broker_write_cpu_us: Figure
    broker_read_cpu_us: Figure
    archivist_cpu_us: Figure
    alert_cpu_us: Figure
    delivery_cpu_us: Figure
    book_memory_bytes: Figure
    book_disk_bytes: Figure
    measured_books: Figure
    auditor_base_mebibytes: Figure
    services_mebibytes: Figure
    alert_row_bytes: Figure
    delivery_row_bytes: Figure
    parquet_share: Figure

    def items(self) -> Iterator[tuple[str, Figure]]:
        """Return every figure by its name."""
        return ((each.name, getattr(self, each.name)) for each in fields(self))

    def machines(self) -> dict[str, list[str]]:
        """Return the machines that are named, each with the figures that are from it."""
        found: dict[str, list[str]] = {}
        for name, figure in self.items():
            if figure.machine:
                found.setdefault(figure.machine, []).append(name)
        return found


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
    return Figures(**read | of_parts(read, parts) | of_bench(read, bench))


def of_bench(read: Named, bench: Path) -> Named:
    """Return the figures that a report of the bench has; none where there is no such report."""
    report = _report(bench)
    found: Named = {}
    for part in (_drained, _awake, _taken_in, _opened):
        found |= part(read | found, report, bench.name)
    return found


def _drained(read: Named, report: Mapping[str, Any], name: str) -> Named:
    """Return what the largest backlogs cost: a small one is over before an engine is warm."""
    found = [each for each in report.get("drain", []) if _is_rule(each)]
    if not found:
        return {}
    most = max(each["events"] for each in found)
    rows = [each for each in found if each["events"] == most]
    visits = "once" if len(rows) == 1 else f"{len(rows)} times, the median"
    values = {
        "rule_cpu_us": _median(rows, "cpu_us_per_event"),
        "broker_read_cpu_us": _median(rows, "broker_cpu_us_per_event"),
    }
    origin = f"docs/reports/{name}, draining {most:,} events {visits}"
    return _measured(read, values, origin, _machine(report, "drain"))


def _awake(read: Named, report: Mapping[str, Any], name: str) -> Named:
    """Return the most that an auditor took at any rate beyond what draining as many costs."""
    drained = read["rule_cpu_us"].value / 1e6
    beyond = {
        row["cores"]["engine"] / AUDITORS[row["engine"]] - row["rate"] * drained: row["rate"]
        for row in report.get("latency", [])
        if row["engine"] in AUDITORS
    }
    if not beyond:
        return {}
    most, rates = max(beyond), sorted(set(beyond.values()))
    origin = f"docs/reports/{name}, at {rates[0]:,} to {rates[-1]:,} events a second, the most"
    return _measured(read, {"auditor_awake_cores": most}, origin, _machine(report, "latency"))


def _taken_in(read: Named, report: Mapping[str, Any], name: str) -> Named:
    """Return what requests of many events cost; publishers of single ones cost far more."""
    rows = report.get("gateway", [])
    if not rows:
        return {}
    row = max(rows, key=lambda each: int(each["events_per_request"]))
    values = {
        "gateway_cpu_us": 1e6 / row["events_per_core_second"],
        "broker_write_cpu_us": row.get("broker_cpu_us_per_event", 0.0),
    }
    origin = f"docs/reports/{name}, {row['events_per_request']} events a request"
    return _measured(read, values, origin, _machine(report, "gateway"))


def _opened(read: Named, report: Mapping[str, Any], name: str) -> Named:
    """Return what a book takes in memory and on disk, and how many were open at most."""
    books = [each["books"] for each in report.get("books", [])]
    if len(books) < 2:
        return {}
    each = report["bytes_per_open_book"]
    values = {
        "book_memory_bytes": each["memory"],
        "book_disk_bytes": each["disk"],
        "measured_books": max(books),
    }
    origin = f"docs/reports/{name}, {min(books):,} and {max(books):,} books"
    return _measured(read, values, origin, _machine(report, "books"))


def of_parts(read: Named, parts: Path) -> Named:
    """Return the figures that a measurement of the whole system has; none without one."""
    found = _report(parts)
    if not found:
        return {}
    event, alert, memory = (
        found[name] for name in ("cpu_us_per_event", "cpu_us_per_alert", "memory_mebibytes")
    )
    values = {
        "archivist_cpu_us": event["archivist"],
        # Of what Postgres does, half is for the alert and half for its deliveries.
        "alert_cpu_us": alert["lookout"] + alert["postgres"] / 2,
        "delivery_cpu_us": (alert["deliverers"] + alert["postgres"] / 2) / DELIVERIES,
        "services_mebibytes": sum(memory[each] for each in SERVICES),
    }
    origin = f"docs/reports/{parts.name}, the whole system on {found['cores']} cores"
    return _measured(read, values, origin, _told(found.get("machine", "")))


def _report(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _machine(report: Mapping[str, Any], section: str) -> str:
    """Return the machine on which a section was measured, if the report says it."""
    how: Mapping[str, str] = report.get("measured", {}).get(section, {})
    whole = report.get("machine")
    return _told(how.get("machine", machine_line(whole) if whole else ""))


def _told(line: str) -> str:
    return line.removeprefix("Machine: ").rstrip(".")


def _median(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    return statistics.median(float(row.get(key, 0)) for row in rows)


def _measured(read: Named, values: Mapping[str, float], where: str, machine: str) -> Named:
    """Return the values that were measured at all, each in its figure's unit."""
    return {
        name: Figure.model_validate(
            {
                "value": round(value, 1 if value >= 1 else 2),
                "unit": read[name].unit,
                "from": f"measured: {where}",
                "machine": machine,
            }
        )
        for name, value in values.items()
        if value > 0
    }


def _is_rule(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is of one auditor, and of one that found what the rule says."""
    ours = row.get("watch") == RULE and row.get("engine", "") in OWN_ENGINES
    return ours and row.get("agrees") is True
