"""The whole way: from a publisher's request to the first byte at the provider, in an open loop.

All that `make run` starts is there, with the channels and routes that it comes with; but webhooks
go to a receiver of the bench, which notes first bytes more finely than the inbox's milliseconds.
"""

import json
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from services.contracts.ids import alert_id, delivery_id
from services.contracts.topics import ALERTS
from services.machine.ports import free_ports
from tests.acceptance.system import CHANNELS, System
from tests.bench.delivering.chain import receiving
from tests.bench.delivering.publisher import Publisher
from tests.bench.delivering.receivers import Site
from tests.bench.disk import Disk
from tests.bench.pace import Pace
from tests.bench.percentiles import Latency, summary
from tests.bench.probe import Found, tail_reader
from tests.bench.sampling import sampled
from tests.bench.traffic import crossing, opening, probe_order
from tests.chaos.stage import programs

WATCH: Final = "over-purchase"
OPEN_BEFORE_SECONDS: Final = 2.0
SETTLE_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 0.005
"""What the provider takes to answer, as a real one does; so sends overlap."""


@dataclass(frozen=True)
class WholeWayRow:
    """So many alerts a second among so many other events, each told on every shipped channel.

    All three are from the instant at which the crossing purchase was to be sent: to the gateway's
    answer, to the alert in a reader's hands, and to the first byte at the webhook's receiver.
    """

    alerts: int
    missing: int
    repeats: int
    answered: Latency
    alerted: Latency
    first_byte: Latency
    alerts_per_second: float = 0.0
    events_per_second: int = 0
    cores: dict[str, float] = field(default_factory=dict)
    """Of each kind of program, while this was measured."""
    work_us: tuple[float, float] = (0.0, 0.0)
    """What a fixed piece of work took at its best, and in the median: a core's own speed."""
    disk: Latency = field(default_factory=lambda: summary([]))
    """What it took meanwhile to make a small block durable."""


@dataclass
class Passed:
    """When each probe came where, in nanoseconds of the monotonic clock."""

    found: Found = field(default_factory=Found)
    answered_ns: dict[int, int] = field(default_factory=dict)

    def answer_latencies(self) -> list[int]:
        """Return nanoseconds from intended send to the gateway's answer."""
        return [at - self.found.intended_ns[each] for each, at in self.answered_ns.items()]


@dataclass(frozen=True)
class Way:
    """Everything as it runs, and the far end."""

    system: System
    hook: str
    publisher: Publisher

    def cpu_seconds(self) -> dict[tuple[str, int], float]:
        """Return the processor time so far of each process, by the kind of program and its id."""
        return {
            (name.partition("-")[0], each.pid): sum(each.cpu_times()[:2])
            for name, processes in programs(self.system.process).items()
            for each in processes
        }


def measure_whole_way(
    alerts_per_second: float, events_per_second: int, seconds: float, warm_up_seconds: float
) -> WholeWayRow:
    """Offer probes among other events, and note how far each is when.

    Raises:
        RuntimeError: the receiver does not listen.
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as closing_all:
        home = Path(folder)
        site = Site(free_ports(1)[0], home, "", ANSWER_SECONDS)
        receiver = closing_all.enter_context(receiving("webhook", site))
        way = closing_all.enter_context(_running(home, f"{site.web}/in"))
        pace, disk = Pace(), closing_all.enter_context(closing(Disk(home / "block")))
        with _loaded(way.system, events_per_second):
            _offer(way, "warm", alerts_per_second, warm_up_seconds)
            before, begun = way.cpu_seconds(), time.monotonic()
            with sampled(pace.look), sampled(disk.look):
                passed = _offer(way, "run", alerts_per_second, seconds)
            took, spent = time.monotonic() - begun, way.cpu_seconds()
        said, _ = receiver.communicate("end\n", timeout=60)
    row = _row(passed, json.loads(said), way.hook)
    return replace(
        row,
        alerts_per_second=alerts_per_second,
        events_per_second=events_per_second,
        cores=_cores(before, spent, took),
        work_us=pace.work_us(),
        disk=disk.latency(),
    )


def _cores(
    before: Mapping[tuple[str, int], float], after: Mapping[tuple[str, int], float], seconds: float
) -> dict[str, float]:
    """Return the cores of each kind of program; what one that ended meanwhile took is not known."""
    cores: dict[str, float] = {}
    for (kind, pid), spent in after.items():
        cores[kind] = cores.get(kind, 0.0) + (spent - before.get((kind, pid), 0.0)) / seconds
    return {kind: round(each, 3) for kind, each in cores.items()}


@contextmanager
def _running(home: Path, hook: str) -> Iterator[Way]:
    """Run everything while the block lasts, with webhooks to that address."""
    variables = json.dumps({"inbox_url": hook})
    extra = {"ALDEBARAN_ROUTES_VARIABLES": variables}
    system = System(home / "home", extra=extra, channels=CHANNELS, deliverers=2)
    try:
        system.start()
        with closing(Publisher(system.port("gateway"), system.api_key())) as publisher:
            yield Way(system, hook, publisher)
    finally:
        system.stop()


@contextmanager
def _loaded(system: System, events_per_second: int) -> Iterator[None]:
    """Let the simulator send events that never alert while the block lasts."""
    load = system.simulate("--rate", str(events_per_second), "--over-share", "0")
    try:
        yield
    finally:
        load.process.terminate()
        load.finish()


def _offer(way: Way, run: str, rate: float, seconds: float) -> Passed:
    """Publish probes at their intended times; return what was seen of them some time later."""
    passed, over = Passed(), threading.Event()
    with _reading(way, passed.found, run, over):
        _publish(way.publisher, passed, run, rate, seconds)
        threading.Event().wait(SETTLE_SECONDS)
    return passed


def _publish(publisher: Publisher, passed: Passed, run: str, rate: float, seconds: float) -> None:
    count, ahead = int(rate * seconds), int(rate * OPEN_BEFORE_SECONDS)
    for index in range(min(ahead, count)):
        publisher.open(opening(probe_order(run, index)))
    started = time.monotonic_ns() + int(OPEN_BEFORE_SECONDS * 1e9)
    for index in range(count):
        intended = started + int(index / rate * 1e9)
        time.sleep(max(0.0, (intended - time.monotonic_ns()) / 1e9))
        passed.found.intended_ns[index] = intended
        publisher.cross(crossing(probe_order(run, index)), index, passed.answered_ns)
        if index + ahead < count:
            publisher.open(opening(probe_order(run, index + ahead)))


@contextmanager
def _reading(way: Way, found: Found, run: str, over: threading.Event) -> Iterator[None]:
    """Note alerts of this run while the block lasts."""
    ready = threading.Event()
    bootstrap = f"127.0.0.1:{way.system.port('kafka')}"
    thread = threading.Thread(target=_read, args=(bootstrap, found, run, ready, over))
    thread.start()
    try:
        if not ready.wait(60):
            raise TimeoutError("the reader was given no partitions within 60 s")
        yield
    finally:
        over.set()
        thread.join()


def _read(
    bootstrap: str, found: Found, run: str, ready: threading.Event, over: threading.Event
) -> None:
    consumer = tail_reader(bootstrap)
    consumer.subscribe([ALERTS], on_assign=lambda *_: ready.set())
    while not over.is_set():
        message = consumer.poll(0.1)
        now = time.monotonic_ns()
        if message is not None and message.error() is None:
            value = message.value() or b""
            if b"-probe-" in value:
                found.note_alert(value, run, now)
    consumer.close()


def _row(passed: Passed, seen: Mapping[str, list[int]], hook: str) -> WholeWayRow:
    found = passed.found
    ids = {
        index: delivery_id(alert_id(WATCH, [probe_order("run", index)]), "webhook", hook)
        for index in found.intended_ns
    }
    came = {index: seen[each] for index, each in ids.items() if each in seen}
    return WholeWayRow(
        alerts=len(ids),
        missing=len(ids) - len(came),
        repeats=sum(len(times) - 1 for times in came.values()),
        answered=summary(passed.answer_latencies()),
        alerted=summary(list(found.alert_latencies().values())),
        first_byte=summary([at[0] - found.intended_ns[n] for n, at in came.items()]),
    )
