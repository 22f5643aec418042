"""Section `latency`: each engine visited in turn, each time on a fresh broker."""

from tests.bench.engine import SHIPPED, Scene
from tests.bench.engines import ENGINES
from tests.bench.latency import LatencyRow, Pace, visit
from tests.bench.report import Report
from tests.bench.rounds import Ratio, ratio
from tests.bench.sections.course import Course, attempt, bench_topics, say
from tests.bench.stores import running_broker

OURS = ("pair", "single")
PEERS = ("pair-together", "flink-heap", "flink-rocksdb", "micro-batch", "consumer")


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
    """Return p50 and p99 of ours over each peer's, at each rate."""
    found = []
    for rate in sorted({row.rate for row in rows}):
        here = [row for row in rows if row.rate == rate]
        for ours in OURS:
            for peer in PEERS:
                found += [
                    ratio(f"p50 at {rate}/s", ours, peer, here, _visited, lambda r: r.alert.p50_ms),
                    ratio(f"p99 at {rate}/s", ours, peer, here, _visited, lambda r: r.alert.p99_ms),
                ]
    return [each for each in found if each]


def _visited(row: LatencyRow) -> tuple[str, int]:
    return row.engine, row.visit
