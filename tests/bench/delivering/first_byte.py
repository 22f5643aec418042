"""From an alert on the topic to its first byte at the provider, in an open loop."""

import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

from confluent_kafka import Producer

from services.contracts import topics
from tests.bench.delivering.alerts import bench_alert, bench_delivery_id
from tests.bench.delivering.chain import Chain, chain
from tests.bench.delivering.work import Work
from tests.bench.disk import Disk
from tests.bench.load import client
from tests.bench.pace import Pace
from tests.bench.percentiles import Latency, summary
from tests.bench.sampling import sampled

SETTLE_SECONDS = 5.0
STORES = ("postgres", "java")


@dataclass(frozen=True)
class FirstByteRow:
    """One channel at one rate."""

    channel: str
    rate: int
    alerts: int
    missing: int
    repeats: int
    first_byte: Latency
    cpu_ms: dict[str, float] = field(default_factory=dict)
    """Processor time for each delivery, of each program; between batches it idles a little too."""
    work_us: tuple[float, float] = (0.0, 0.0)
    """What a fixed piece of work took at its best, and in the median: a core's own speed."""
    disk: Latency = field(default_factory=lambda: summary([]))
    """What it took meanwhile to make a small block durable."""
    undisturbed: Latency = field(default_factory=lambda: summary([]))
    """Of the alerts sent while the disk did not stall."""
    programs_each: int = 1
    """Lookouts, and deliverers: one, or two of which the second is a mirror."""


def measure_first_byte(
    channel: str, rate: int, seconds: float, warm_up_seconds: float, each: int = 1
) -> FirstByteRow:
    """Offer `rate` alerts a second and note when each first byte comes out; `each` as in `chain`.

    Raises:
        Unavailable: this machine lacks the far end.
    """
    # The provider's answer takes time, as a real one's does; so sends overlap.
    with chain(channel, {}, answer_after=0.005, each=each) as running:
        producer = client(running.bootstrap)  # one, so that no connecting is measured
        offer(producer, "warm", rate, warm_up_seconds)
        pace, disk = Pace(), Disk(running.home / "block")
        before, stores = running.cpu_seconds(), {name: Work(name) for name in STORES}
        with closing(disk), ExitStack() as watching:
            for look in (pace.look, disk.look, *(work.look for work in stores.values())):
                watching.enter_context(sampled(look))
            intended = offer(producer, "run", rate, seconds)
            time.sleep(SETTLE_SECONDS)
        spent = {name: now - before[name] for name, now in running.cpu_seconds().items()}
        spent |= {name: work.seconds() for name, work in stores.items()}
        took_ms = {name: round(took / len(intended) * 1000, 2) for name, took in spent.items()}
        row = _row(running, rate, intended, running.received(), took_ms, (pace, disk))
        return replace(row, programs_each=each)


def offer(producer: Producer, run: str, rate: float, seconds: float) -> list[int]:
    """Send alerts at their intended times; return these in nanoseconds."""
    started = time.monotonic_ns() + 10_000_000
    intended = []
    for index in range(int(rate * seconds)):
        due = started + int(index / rate * 1e9)
        time.sleep(max(0.0, (due - time.monotonic_ns()) / 1e9))
        alert = bench_alert(run, index)
        producer.produce(topics.ALERTS, alert.encode(), alert.alert_id)
        producer.poll(0)
        intended.append(due)
    producer.flush(30)
    return intended


def _row(
    running: Chain,
    rate: int,
    intended: list[int],
    seen: dict[str, list[int]],
    cpu_ms: dict[str, float],
    beside: tuple[Pace, Disk],
) -> FirstByteRow:
    ids = [
        bench_delivery_id("run", index, running.channel, running.recipient)
        for index in range(len(intended))
    ]
    came = [(due, seen[each]) for due, each in zip(intended, ids, strict=True) if each in seen]
    pace, disk = beside
    still = disk.undisturbed(due for due, _ in came)
    return FirstByteRow(
        channel=running.channel,
        rate=rate,
        alerts=len(intended),
        missing=len(intended) - len(came),
        repeats=sum(len(times) - 1 for _, times in came),
        first_byte=summary([times[0] - due for due, times in came]),
        cpu_ms=cpu_ms,
        work_us=pace.work_us(),
        disk=disk.latency(),
        undisturbed=summary([times[0] - due for due, times in came if due in still]),
    )
