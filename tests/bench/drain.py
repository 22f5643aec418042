"""How fast an engine takes a backlog, and whether it finds exactly what the rule says.

The topic holds orders in disorder, whose alerts are known, then the backlog between three rows of
marker orders: at its start, its middle and its end, in every partition. All engines read the same
topic from its start, each alone; the second half is timed when the engine is warm.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from confluent_kafka import Producer

from services.contracts.topics import ALERTS
from tests.bench.disorder import disorder
from tests.bench.engine import Engine, Scene, Start
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.stores import Broker
from tests.bench.traffic import background, crossing, opening, probe_order

STREAM = "trades"
MARKED = "m"
DISORDER_SEED = 5
DISORDER_ORDERS = 2000
TIMEOUT_SECONDS = 300
QUIET_SECONDS = 2.0


@dataclass(frozen=True)
class DrainRow:
    """One engine draining the backlog; `warm` is its second half, as is the processor time.

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


@dataclass(frozen=True)
class Backlog:
    """What was written: how many events, on how many partitions, and which orders must alert."""

    events: int
    partitions: int
    crossed: frozenset[str]

    def markers(self, row: int) -> set[str]:
        """Return the marker orders of the start (0), the middle (1) or the end (2)."""
        return {probe_order(MARKED, row * self.partitions + p) for p in range(self.partitions)}


def write_backlog(bootstrap: str, events: int, partitions: int) -> Backlog:
    """Write the whole topic."""
    producer = client(bootstrap)
    mixed, crossed = disorder(DISORDER_SEED, DISORDER_ORDERS)
    for key, event in mixed:
        producer.produce(STREAM, event, key)
    backlog = background("backlog")
    write_markers(producer, 0, partitions)
    for row in (1, 2):
        for key, event in islice(backlog, events // 2):
            _produce(producer, key, event)
        write_markers(producer, row * partitions, partitions)
    return Backlog(events, partitions, frozenset(crossed))


def _produce(producer: Producer, key: str, event: bytes) -> None:
    while True:
        try:
            producer.produce(STREAM, event, key)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


def write_markers(producer: Producer, first: int, partitions: int) -> None:
    """Write one whole probe to each partition, after all that was produced before."""
    producer.flush(120)
    for partition in range(partitions):
        order = probe_order(MARKED, first + partition)
        for event in [*opening(order), crossing(order)]:
            producer.produce(STREAM, event, order, partition)
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
    with Markers(broker.bootstrap, ALERTS) as markers, start(scene) as engine:
        begun = markers.wait(backlog.markers(0), TIMEOUT_SECONDS)
        middle = markers.wait(backlog.markers(1), TIMEOUT_SECONDS)
        before = _cpu(engine, broker)
        end = markers.wait(backlog.markers(2), TIMEOUT_SECONDS)
        spent = [now - then for now, then in zip(_cpu(engine, broker), before, strict=True)]
        memory, load = engine.usage().memory_mebibytes, _load_average()
        wrong = disagreement(markers.settle(QUIET_SECONDS), backlog) if has_rule else ""
    cpu = [each / (backlog.events / 2) * 1e6 for each in spent]
    seconds = (max(end.values()) - min(begun.values())) / 1e9
    warm = (max(end.values()) - max(middle.values())) / 1e9
    return DrainRow(
        engine=name,
        watch=scene.watch.stem,
        partitions=scene.partitions,
        events=backlog.events,
        seconds=round(seconds, 2),
        events_per_second=int(backlog.events / seconds),
        warm_events_per_second=int(backlog.events / 2 / warm),
        cpu_us_per_event=round(cpu[0], 1),
        broker_cpu_us_per_event=round(cpu[1], 1),
        memory_mebibytes=memory,
        agrees=not wrong if has_rule else None,
        disagreement=wrong,
        load_average=load,
        visit=visit,
    )


def _cpu(engine: Engine, broker: Broker) -> list[float]:
    return [engine.usage().cpu_seconds, broker.usage().cpu_seconds]


def _load_average() -> float:
    return float(Path("/proc/loadavg").read_text().split()[0])


def disagreement(found: Counter[str], backlog: Backlog) -> str:
    """Say which orders were missed or alerted wrongly; empty where all is right."""
    markers = set().union(*(backlog.markers(row) for row in range(3)))
    missed = backlog.crossed - found.keys()
    strange = found.keys() - backlog.crossed - markers
    told = [f"missed {len(missed)}: {sorted(missed)[:3]}"] if missed else []
    told += [f"wrong {len(strange)}: {sorted(strange)[:3]}"] if strange else []
    return "; ".join(told)
