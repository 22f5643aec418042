"""`make bench`: latency and sustained rate of watching and delivering, on servers of its own.

Every row runs alone, one after the other; compare rows of one section of one run only.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from services.contracts.streams import load_streams
from services.contracts.topics import Topic, core_topics, stream_topics
from services.machine.problems import MachineProblem
from tests.bench import report as reports
from tests.bench.arguments import arguments, command
from tests.bench.books import measure_books
from tests.bench.delivering.claims import measure_claims
from tests.bench.delivering.first_byte import measure_first_byte
from tests.bench.delivering.storm import measure_storm
from tests.bench.drain import STREAM, DrainRow, drain, write_backlog
from tests.bench.engine import SHIPPED, Scene, Unavailable
from tests.bench.engines import ENGINES, NO_RULE
from tests.bench.gateway import measure_gateway
from tests.bench.latency import ECHO, LatencyRow, Pace, visit
from tests.bench.loops import measure_loop
from tests.bench.report import Report, Skipped
from tests.bench.rounds import Ratio, ratio, there_and_back
from tests.bench.stores import running_broker
from tests.bench.variants import load_variants

STEPS = Path(__file__).parent / "watches"
PEERS = ("flink-heap", "flink-rocksdb", "micro-batch", "consumer")
CEILING = "pass-through"
OURS = ("pair", "single")
NOT_MEASURED = (Unavailable, MachineProblem, RuntimeError, TimeoutError)
"""What one row may raise without ending the others; the report tells it."""


def main() -> int:
    """Measure the sections that the arguments name; write the report after each."""
    told = arguments()
    report = reports.kept(told.report)
    measures = {
        "latency": measure_latency,
        "drain": measure_drain,
        "loops": loops,
        "variants": variants,
        "slope": slope,
        "books": books,
        "gateway": gateway,
        "claims": claims,
        "first_bytes": first_bytes,
        "storm": storm,
    }
    for section in told.sections:
        measures[section](report, told)
        report.note(section, command())
        table = report.write(told.report)
    sys.stdout.write(table.read_text())
    return 0


def bench_topics(partitions: int | None = None) -> list[Topic]:
    """Return the stream's, the core's and the echo topic."""
    declared = load_streams()[STREAM]
    stream = declared.model_copy(update={"partitions": partitions or declared.partitions})
    return [*stream_topics(stream), *core_topics([]), Topic(ECHO)]


def measure_latency(report: Report, told: argparse.Namespace) -> None:
    """Visit each engine as often as told, each time on a fresh broker."""
    report.latency, report.skipped["latency"] = [], []
    pace = Pace(tuple(told.rates), told.seconds, told.warm_up, told.probes)
    for name, number in there_and_back(told.latency_rows, told.visits):
        say(f"latency of {name}, visit {number}")
        try:
            with running_broker(bench_topics()) as broker:
                scene = Scene(broker.bootstrap, broker.home / name, SHIPPED, told.batch_seconds)
                report.latency += visit(name, number, ENGINES[name], scene, broker, pace)
        except NOT_MEASURED as missing:
            _skip(report, "latency", name, missing)
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


def measure_drain(report: Report, told: argparse.Namespace) -> None:
    """Fill one topic, and let each engine drain it, there and back."""
    rows: list[tuple[int, DrainRow]] = []
    report.skipped["drain"] = []
    with running_broker(bench_topics()) as broker:
        partitions = load_streams()[STREAM].partitions
        say(f"writing {told.backlog} events")
        backlog = write_backlog(broker.bootstrap, told.backlog, partitions)
        for name, watch, number in drained(told):
            say(f"draining with {name} ({watch.stem}), visit {number}")
            home = broker.home / f"{name}-{watch.stem}-{number}"
            scene = Scene(broker.bootstrap, home, watch, 60.0, partitions)
            has_rule = watch == SHIPPED and name not in NO_RULE
            try:
                row = drain(name, ENGINES[name], scene, broker, backlog, has_rule)
                rows.append((number, row))
            except NOT_MEASURED as missing:
                _skip(report, "drain", name, missing)
            report.drain = [row for _, row in rows]
            report.ratios["drain"] = drain_ratios(rows)
            report.write(told.report)


def drained(told: argparse.Namespace) -> list[tuple[str, Path, int]]:
    """Return engine, watch and number of each visit; steps of the rule are visited once."""
    visits = [(name, SHIPPED, n) for name, n in there_and_back(told.drain_rows, told.visits)]
    steps = sorted(STEPS.glob("*/*.yaml")) if told.steps else []
    return visits + [("single", watch, 0) for watch in steps]


def drain_ratios(rows: list[tuple[int, DrainRow]]) -> list[Ratio]:
    """Return warm rates of ours over each peer's and over the ceiling's, wrong rows left out."""
    shipped = [
        each for each in rows if each[1].watch == SHIPPED.stem and each[1].agrees is not False
    ]
    found = [
        ratio("warm rate", ours, peer, shipped, _drained, _warm_rate)
        for ours in OURS
        for peer in (*PEERS, CEILING)
    ]
    return [each for each in found if each]


def _warm_rate(row: tuple[int, DrainRow]) -> float:
    return row[1].warm_events_per_second


def _drained(row: tuple[int, DrainRow]) -> tuple[str, int]:
    return row[1].engine, row[0]


def loops(report: Report, told: argparse.Namespace) -> None:
    """Measure the rule by itself, in Java and in Python."""
    report.loops, report.skipped["loops"] = [], []
    for language in ("java", "python"):
        say(f"bare loop in {language}")
        try:
            report.loops.append(measure_loop(language, told.backlog // 2))
        except Unavailable as missing:
            _skip(report, "loops", language, missing)


def variants(report: Report, told: argparse.Namespace) -> None:
    """Drain one topic with each variant, there and back, and compare with the first."""
    rows: list[tuple[int, DrainRow]] = []
    named = {each.name: each for each in load_variants(told.variants)}
    report.skipped["variants"] = []
    partitions = load_streams()[STREAM].partitions
    with running_broker(bench_topics()) as broker:
        backlog = write_backlog(broker.bootstrap, told.backlog, partitions)
        for name, number in there_and_back(list(named), told.visits):
            say(f"variant {name}, visit {number}")
            home, each = broker.home / f"{list(named).index(name)}-{number}", named[name]
            scene = Scene(
                broker.bootstrap, home, each.watch_file(), 60.0, partitions, each.settings
            )
            try:
                row = drain(name, ENGINES["single"], scene, broker, backlog, has_rule=True)
                rows.append((number, row))
            except NOT_MEASURED as missing:
                _skip(report, "variants", name, missing)
            report.variants = [row for _, row in rows]
            report.ratios["variants"] = variant_ratios(rows, list(named))
            report.write(told.report)


def variant_ratios(rows: list[tuple[int, DrainRow]], names: list[str]) -> list[Ratio]:
    """Return rate and processor time of each variant over the first one's."""
    found = [
        each
        for name in names[1:]
        for each in (
            ratio("warm rate", name, names[0], rows, _drained, _warm_rate),
            ratio("CPU per event", name, names[0], rows, _drained, lambda r: r[1].cpu_us_per_event),
        )
    ]
    return [each for each in found if each]


def slope(report: Report, told: argparse.Namespace) -> None:
    """Drain with one auditor on topics of few and many partitions."""
    report.slope = []
    for partitions in told.partitions:
        say(f"draining {partitions} partitions")
        with running_broker(bench_topics(partitions)) as broker:
            backlog = write_backlog(broker.bootstrap, told.backlog, partitions)
            scene = Scene(broker.bootstrap, broker.home / "slope", SHIPPED, 60.0, partitions)
            row = drain("single", ENGINES["single"], scene, broker, backlog, has_rule=True)
            report.slope.append(row)
        report.write(told.report)


def books(report: Report, told: argparse.Namespace) -> None:
    """Measure what open books take, few and many."""
    report.books = []
    for number in told.books:
        say(f"{number} open books")
        with running_broker(bench_topics()) as broker:
            report.books.append(measure_books(broker, number, load_streams()[STREAM].partitions))
        report.write(told.report)


def gateway(report: Report, told: argparse.Namespace) -> None:
    """Measure the gateway with requests of one event and of many."""
    say("gateway")
    with running_broker(bench_topics()) as broker:
        report.gateway = measure_gateway(broker, (200, 1), min(20.0, told.seconds))


def _skip(report: Report, section: str, name: str, missing: Exception) -> None:
    say(f"  not measured: {missing}")
    skipped = Skipped(name, str(missing))
    if skipped not in report.skipped[section]:
        report.skipped[section].append(skipped)


def claims(report: Report, told: argparse.Namespace) -> None:
    """Measure claims."""
    report.claims = []
    for waiting in told.waiting:
        say(f"claims on {waiting} waiting deliveries")
        with tempfile.TemporaryDirectory() as folder:
            seconds = min(10.0, told.first_byte_seconds)
            report.claims += measure_claims(Path(folder), waiting, (1, 10, 100), seconds)
        report.write(told.report)


def first_bytes(report: Report, told: argparse.Namespace) -> None:
    """Measure the way from an alert to its first byte."""
    report.first_bytes = []
    for channel in told.channels:
        say(f"first byte on {channel}")
        row = measure_first_byte(channel, 100, told.first_byte_seconds, 15.0)
        report.first_bytes.append(row)
        report.write(told.report)


def storm(report: Report, told: argparse.Namespace) -> None:
    """Measure a storm of alerts."""
    say(f"storm of {told.storm} alerts")
    report.storm = measure_storm(told.storm, 10_000, 200)


def say(what: str) -> None:
    """Tell the person at the terminal what is going on."""
    sys.stderr.write(f"bench: {what}\n")


if __name__ == "__main__":
    sys.exit(main())
