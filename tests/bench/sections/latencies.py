"""Section `latency`: each engine visited in turn, each time on a fresh broker."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tests.bench.engine import SHIPPED, Scene
from tests.bench.engines import ENGINES
from tests.bench.latency import LatencyRow, Pace, visit
from tests.bench.report import Report
from tests.bench.rounds import Ratio, ratio
from tests.bench.sections.course import Course, attempt, bench_topics, say
from tests.bench.stores import running_broker

OURS = ("pair", "single")
PEERS = ("pair-together", "flink-heap", "flink-rocksdb", "micro-batch", "consumer")
PERCENTILES: Final[Mapping[str, Callable[[LatencyRow], float]]] = MappingProxyType(
    {
        "p50": lambda row: row.alert.p50_ms,
        "p99": lambda row: row.alert.p99_ms,
        "p99.9": lambda row: row.alert.p999_ms,
    }
)
"""What of a row is compared, by its name in the report."""


def measure_latency(report: Report, course: Course) -> None:
    """Visit each engine as often as told."""
    told = course.told
    report.latency, report.skipped["latency"] = course.kept(report.latency), []
    pace = Pace(tuple(told.rates), told.seconds, told.warm_up, told.probes)

    def measure(name: str, number: int) -> None:
        with running_broker(bench_topics()) as broker:
            scene = Scene(broker.bootstrap, broker.home / name, SHIPPED, told.batch_seconds)
            report.latency += visit(name, number, ENGINES[name], scene, broker, pace)

    made = {(row.engine, row.visit) for row in report.latency}
    for name, number in course.visits(told.latency_rows, made):
        say(f"latency of {name}, visit {number}")
        with attempt(report, "latency", name):
            measure(name, number)
        report.ratios["latency"] = latency_ratios(report.latency)
        report.write(told.report)


def latency_ratios(rows: list[LatencyRow]) -> list[Ratio]:
    """Return percentiles of ours over each peer's, at each rate, wrong rows left out."""
    right = [row for row in rows if row.missing == row.strange == 0]
    found = []
    for rate in sorted({row.rate for row in right}):
        here = [row for row in right if row.rate == rate]
        found += [
            ratio(f"{name} at {rate}/s", ours, peer, here, _visited, percentile)
            for ours in OURS
            for peer in PEERS
            for name, percentile in PERCENTILES.items()
        ]
    return [each for each in found if each]


def _visited(row: LatencyRow) -> tuple[str, int]:
    return row.engine, row.visit
