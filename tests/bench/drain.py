"""How fast an engine takes a backlog, and whether it finds exactly what the rule says.

The topic holds orders in disorder, whose alerts are known, then the backlog between rows of marker
orders, one in each partition at its start and behind each tenth. All engines read the same topic
from its start, each alone; the second half is timed when the engine is warm.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from confluent_kafka import Producer

from services.contracts.topics import ALERTS
from tests.bench.disorder import disorder
from tests.bench.engine import Engine, Scene, Start
from tests.bench.headway import Headway, Spending
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.pace import Pace
from tests.bench.sampling import sampled
from tests.bench.stores import Broker
from tests.bench.traffic import Encode, as_json, background, crossing, opening, probe_order

STREAM = "trades"
MARKED = "m"
ROWS = 10
WARM_ROW = 5
DISORDER_SEED = 5
DISORDER_ORDERS = 2000
TIMEOUT_SECONDS = 300
QUIET_SECONDS = 2.0


@dataclass(frozen=True)
class DrainRow:
    """One engine draining the backlog.

    `warm`, as is the processor time, is of the second half while all partitions were at work.

    `agrees` tells whether the engine found exactly what the rule says among the orders in
    disorder; None where it does not run the rule.
    """

    engine: str
    watch: str
    partitions: int
    events: int
    seconds: float
    events_per_second: int
    warm_events_per_second: int
    cpu_us_per_event: float
    broker_cpu_us_per_event: float
    memory_mebibytes: int
    agrees: bool | None
    disagreement: str
    load_average: float
    visit: int = 0
    work_us: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Backlog:
    """What was written: how many events, on how many partitions, and which orders must alert."""

    events: int
    partitions: int
    crossed: frozenset[str]

    def markers(self, row: int) -> set[str]:
        """Return the marker orders of the start (0) or behind a tenth (1 to 10)."""
        return {self.marker(row, partition) for partition in range(self.partitions)}

    def marker(self, row: int, partition: int) -> str:
        """Return the marker order of a row in one partition."""
        return probe_order(MARKED, row * self.partitions + partition)


def write_backlog(
    bootstrap: str, events: int, partitions: int, encode: Encode = as_json
) -> Backlog:
    """Write the whole topic."""
    producer = client(bootstrap)
    mixed, crossed = disorder(DISORDER_SEED, DISORDER_ORDERS)
    for key, event in mixed:
        producer.produce(STREAM, encode(event), key)
    backlog = background("backlog")
    write_markers(producer, 0, partitions, encode)
    for row in range(1, ROWS + 1):
        for key, event in islice(backlog, events // ROWS):
            _produce(producer, key, encode(event))
        write_markers(producer, row * partitions, partitions, encode)
    return Backlog(events, partitions, frozenset(crossed))


def _produce(producer: Producer, key: str, event: bytes) -> None:
    while True:
        try:
            producer.produce(STREAM, event, key)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


def write_markers(
    producer: Producer, first: int, partitions: int, encode: Encode = as_json
) -> None:
    """Write one whole probe to each partition, after all that was produced before."""
    producer.flush(120)
    for partition in range(partitions):
        order = probe_order(MARKED, first + partition)
        for event in [*opening(order), crossing(order)]:
            producer.produce(STREAM, encode(event), order, partition)
    producer.flush(120)


def drain(
    name: str,
    start: Start,
    scene: Scene,
    broker: Broker,
    backlog: Backlog,
    has_rule: bool,
    visit: int = 0,
) -> DrainRow:
    """Start the engine on the full topic and time it from marker to marker."""
    pace = Pace()
    with (
        Markers(broker.bootstrap, ALERTS) as markers,
        start(scene) as engine,
        Spending(partial(_cpu, engine, broker)) as spending,
        sampled(pace.look),
    ):
        headway = headway_of(list(rows_passed(markers, backlog)), backlog)
        memory, load = engine.usage().memory_mebibytes, load_average()
        wrong = disagreement(markers.settle(QUIET_SECONDS), backlog) if has_rule else ""
    warm = headway.span_ns(WARM_ROW)
    events = headway.events_by(warm[1]) - headway.events_by(warm[0])
    cpu = [each / events * 1e6 for each in spending.between(*warm)]
    whole = headway.span_ns(0)[0], max(rows[-1] for rows in headway.reached_ns)
    return DrainRow(
        engine=name,
        watch=scene.watch.stem,
        partitions=scene.partitions,
        events=backlog.events,
        seconds=round((whole[1] - whole[0]) / 1e9, 2),
        events_per_second=int(headway.rate(*whole)),
        warm_events_per_second=int(headway.rate(*warm)),
        cpu_us_per_event=round(cpu[0], 1),
        broker_cpu_us_per_event=round(cpu[1], 1),
        memory_mebibytes=memory,
        agrees=not wrong if has_rule else None,
        disagreement=wrong,
        load_average=load,
        visit=visit,
        work_us=pace.work_us(),
    )


def rows_passed(markers: Markers, backlog: Backlog) -> Iterator[Mapping[str, int]]:
    """Yield when each marker order of a row was reached, row by row, once all of the row were."""
    for row in range(ROWS + 1):
        yield markers.wait(backlog.markers(row), TIMEOUT_SECONDS)


def headway_of(rows: Sequence[Mapping[str, int]], backlog: Backlog) -> Headway:
    """Return when each partition reached the rows."""
    reached = [
        [found[backlog.marker(row, partition)] for row, found in enumerate(rows)]
        for partition in range(backlog.partitions)
    ]
    return Headway(reached, backlog.events / ROWS)


def _cpu(engine: Engine, broker: Broker) -> list[float]:
    return [engine.usage().cpu_seconds, broker.usage().cpu_seconds]


def load_average() -> float:
    """Return that of the last minute."""
    return float(Path("/proc/loadavg").read_text().split()[0])


def disagreement(found: Counter[str], backlog: Backlog) -> str:
    """Say which orders were missed or alerted wrongly; empty where all is right."""
    markers = set().union(*(backlog.markers(row) for row in range(ROWS + 1)))
    missed = backlog.crossed - found.keys()
    strange = found.keys() - backlog.crossed - markers
    told = [f"missed {len(missed)}: {sorted(missed)[:3]}"] if missed else []
    told += [f"wrong {len(strange)}: {sorted(strange)[:3]}"] if strange else []
    return "; ".join(told)
