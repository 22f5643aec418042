"""Sections `drain`, `variants` and `slope`: a full topic, taken as fast as it goes."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.contracts.streams import load_streams
from tests.bench.avro.encoding import encoder
from tests.bench.drain import STREAM, Backlog, DrainRow, drain, write_backlog
from tests.bench.engine import SHIPPED, Scene, Start
from tests.bench.engines import ENGINES, NO_RULE, avro
from tests.bench.report import Report
from tests.bench.rounds import Ratio, ratio
from tests.bench.sections.course import Course, attempt, bench_topics, say
from tests.bench.sections.latencies import OURS, PEERS
from tests.bench.stores import Broker, running_broker
from tests.bench.traffic import Encode, as_json
from tests.bench.variants import EncodingName, Variant, load_variants

STEPS = Path(__file__).parents[1] / "watches"
CEILING = "pass-through"


def measure_drain(report: Report, course: Course) -> None:
    """Fill one topic, and let each engine drain it, there and back; then parts of the rule."""
    told, partitions = course.told, load_streams()[STREAM].partitions
    report.drain, report.skipped["drain"] = course.kept(report.drain), []
    with running_broker(bench_topics()) as broker:
        say(f"writing {told.backlog} events")
        backlog = write_backlog(broker.bootstrap, told.backlog, partitions)

        def measure(name: str, watch: Path, number: int) -> None:
            home = broker.home / f"{name}-{watch.stem}-{number}"
            scene = Scene(broker.bootstrap, home, watch, told.drain_batch_seconds, partitions)
            has_rule = watch == SHIPPED and name not in NO_RULE
            row = drain(name, ENGINES[name], scene, broker, backlog, has_rule, number)
            report.drain.append(row)

        for name, watch, number in _drained(report.drain, course):
            say(f"draining with {name} ({watch.stem}), visit {number}")
            with attempt(report, "drain", name):
                measure(name, watch, number)
            report.ratios["drain"] = drain_ratios(report.drain)
            report.write(told.report)


def _drained(rows: Sequence[DrainRow], course: Course) -> Iterator[tuple[str, Path, int]]:
    """Yield engine, watch and number of each visit; parts of the rule are visited once."""
    made = {_visited(row) for row in rows if row.watch == SHIPPED.stem}
    for name, number in course.visits(course.told.drain_rows, made):
        yield name, SHIPPED, number
    for watch in sorted(STEPS.glob("*/*.yaml")) if course.told.steps else ():
        yield "single", watch, 0


def drain_ratios(rows: Sequence[DrainRow]) -> list[Ratio]:
    """Return warm rates of ours over each peer's and over the ceiling's, wrong rows left out."""
    right = [row for row in rows if row.watch == SHIPPED.stem and row.agrees is not False]
    found = [
        ratio("warm rate", ours, peer, right, _visited, _warm_rate)
        for ours in OURS
        for peer in (*PEERS, CEILING)
    ]
    return [each for each in found if each]


@dataclass(frozen=True, slots=True)
class _Filled:
    """A topic of events in one encoding, and the auditor that reads them so."""

    broker: Broker
    backlog: Backlog
    start: Start

    def drained(self, each: Variant, folder: str, batch_seconds: float, number: int) -> DrainRow:
        """Let a variant drain it."""
        broker, backlog = self.broker, self.backlog
        home, watch, parts = broker.home / folder, each.watch_file(), backlog.partitions
        scene = Scene(broker.bootstrap, home, watch, batch_seconds, parts, each.settings)
        return drain(each.name, self.start, scene, broker, backlog, True, number)


@contextmanager
def _filled(encoding: EncodingName, events: int) -> Iterator[_Filled]:
    stream = load_streams()[STREAM]
    ways: dict[EncodingName, tuple[Encode, Start]] = {
        "JSON": (as_json, ENGINES["single"]),
        "Avro": (encoder(stream), avro.single),
    }
    encode, start = ways[encoding]
    with running_broker(bench_topics()) as broker:
        say(f"writing {events} events as {encoding}")
        backlog = write_backlog(broker.bootstrap, events, stream.partitions, encode)
        yield _Filled(broker, backlog, start)


def measure_variants(report: Report, course: Course) -> None:
    """Drain one topic with each variant, there and back, and compare with the first.

    Events of another encoding stand in a topic of the same name at a broker of their own.
    """
    told, named = course.told, {each.name: each for each in load_variants(course.told.variants)}
    report.variants, report.skipped["variants"] = course.kept(report.variants), []
    with ExitStack() as closing:
        topics = {
            encoding: closing.enter_context(_filled(encoding, told.backlog))
            for encoding in dict.fromkeys(each.encoding for each in named.values())
        }
        made = {_visited(row) for row in report.variants}
        for name, number in course.visits(list(named), made):
            say(f"variant {name}, visit {number}")
            with attempt(report, "variants", name):
                each, folder = named[name], f"{list(named).index(name)}-{number}"
                topic, length = topics[each.encoding], told.drain_batch_seconds
                report.variants.append(topic.drained(each, folder, length, number))
            report.ratios["variants"] = variant_ratios(report.variants, list(named))
            report.write(told.report)


def variant_ratios(rows: Sequence[DrainRow], names: Sequence[str]) -> list[Ratio]:
    """Return rate and processor time of each variant over the first one's."""
    found = [
        each
        for name in names[1:]
        for each in (
            ratio("warm rate", name, names[0], rows, _visited, _warm_rate),
            ratio("CPU per event", name, names[0], rows, _visited, lambda r: r.cpu_us_per_event),
        )
    ]
    return [each for each in found if each]


def measure_slope(report: Report, course: Course) -> None:
    """Drain with one auditor on topics of few and many partitions."""
    report.slope = []
    for partitions in course.told.partitions:
        say(f"draining {partitions} partitions")
        with running_broker(bench_topics(partitions)) as broker:
            backlog = write_backlog(broker.bootstrap, course.told.backlog, partitions)
            home = broker.home / "slope"
            length = course.told.drain_batch_seconds
            scene = Scene(broker.bootstrap, home, SHIPPED, length, partitions)
            row = drain("single", ENGINES["single"], scene, broker, backlog, has_rule=True)
            report.slope.append(row)
        report.write(course.told.report)


def _warm_rate(row: DrainRow) -> float:
    return row.warm_events_per_second


def _visited(row: DrainRow) -> tuple[str, int]:
    return row.engine, row.visit
