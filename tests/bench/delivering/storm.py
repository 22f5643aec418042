"""A storm: far more alerts than the provider takes; claiming must keep the provider busy.

It is followed to its end, until each delivery has come to rest and the far end has been counted.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import psycopg
from confluent_kafka import Producer

from services.contracts import topics
from services.contracts.states import State
from tests.bench.delivering.alerts import bench_alert, bench_delivery_id
from tests.bench.delivering.chain import chain
from tests.bench.load import client

RUN: Final = "storm"
BURST: Final = 50
LOOK_SECONDS: Final = 1.0
RECORD_TIMEOUT_SECONDS: Final = 600.0
SPARE_SECONDS: Final = 120.0
"""So much longer than the provider's limit asks for may a storm last before it is given up."""


@dataclass(frozen=True)
class StormEnd:
    """How a storm ended: sends a second from the first to the last, and what was counted then.

    `states` is how many deliveries the ledger has in each state; `missing` never came to the far
    end. `most_behind` is by how many sends the provider's limit was ahead of them at the worst.
    """

    sent_per_second: float
    most_behind: int
    states: dict[str, int]
    received: int
    missing: int


@dataclass(frozen=True)
class StormRow:
    """What was offered, and what the provider got per second while that was being recorded."""

    alerts: int
    offered_per_second: int
    provider_limit_per_second: int
    recorded: int
    recorded_per_second: int
    sent_median_per_second: int
    sent_least_per_second: int
    repeats: int
    end: StormEnd | None = None
    programs_each: int = 1
    """Lookouts, and deliverers: one, or two of which the second is a mirror."""


def measure_storm(alerts: int, rate: int, provider_limit: int, each: int = 1) -> StormRow:
    """Offer alerts at `rate`; count what the far end has got when nothing is under way any more.

    `each` as in `chain`.
    """
    settings = {
        "ALDEBARAN_RATE_PER_SECOND": str(provider_limit),
        "ALDEBARAN_RATE_BURST": str(BURST),
    }
    with chain("webhook", settings, each=each) as running:
        url, begun_ns = running.postgres_url, time.monotonic_ns()
        offered_per_second = burst(client(running.bootstrap), alerts, rate)
        found = states_when(url, lambda now: now.total() >= alerts, RECORD_TIMEOUT_SECONDS)
        recorded_ns = time.monotonic_ns()
        lasts_seconds = alerts / provider_limit + SPARE_SECONDS
        states = states_when(url, lambda now: now[State.SENT] >= alerts, lasts_seconds)
        seen = running.received()
        wanted = {
            bench_delivery_id(RUN, index, running.channel, running.recipient)
            for index in range(alerts)
        }
    firsts_ns = sorted(times[0] for times in seen.values())
    median, least = by_second(firsts_ns, recorded_ns)
    return StormRow(
        alerts=alerts,
        offered_per_second=offered_per_second,
        provider_limit_per_second=provider_limit,
        recorded=found.total(),
        recorded_per_second=int(found.total() / ((recorded_ns - begun_ns) / 1e9)),
        sent_median_per_second=median,
        sent_least_per_second=least,
        repeats=sum(len(times) - 1 for times in seen.values()),
        end=StormEnd(
            sent_per_second=round((len(firsts_ns) - 1) / (firsts_ns[-1] - firsts_ns[0]) * 1e9, 1),
            most_behind=most_behind(firsts_ns, provider_limit),
            states=dict(states),
            received=len(seen),
            missing=len(wanted - seen.keys()),
        ),
        programs_each=each,
    )


def by_second(firsts_ns: Sequence[int], until_ns: int) -> tuple[int, int]:
    """Return how many sends began in the median second and in the least, the cut last left out."""
    found = Counter((each - firsts_ns[0]) // 1_000_000_000 for each in firsts_ns)
    seconds = max(1, (until_ns - firsts_ns[0]) // 1_000_000_000)
    whole = sorted(found[each] for each in range(seconds))
    return whole[seconds // 2], whole[0]


def most_behind(firsts_ns: Sequence[int], per_second: int) -> int:
    """Return how many sends the limit was ahead at the worst: what a burst does not make good."""
    allowed = ((each - firsts_ns[0]) / 1e9 * per_second for each in firsts_ns)
    return max(int(limit) - number for number, limit in enumerate(allowed))


def burst(producer: Producer, alerts: int, rate: int) -> int:
    """Send alerts at this rate, or as fast as this process can; return how many a second."""
    begun = time.monotonic()
    for index in range(alerts):
        if index % 100 == 0:
            time.sleep(max(0.0, index / rate - (time.monotonic() - begun)))
        alert = bench_alert(RUN, index)
        producer.produce(topics.ALERTS, alert.encode(), alert.alert_id)
        producer.poll(0)
    producer.flush(60)
    return int(alerts / (time.monotonic() - begun))


def states_when(
    postgres_url: str, enough: Callable[[Counter[str]], bool], timeout_seconds: float
) -> Counter[str]:
    """Wait until there are enough deliveries, or for so long; count those in each state."""
    deadline = time.monotonic() + timeout_seconds
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        while True:
            rows = connection.execute("SELECT state, count(*) FROM deliveries GROUP BY 1")
            states = Counter({str(state): int(count) for state, count in rows})
            if enough(states) or time.monotonic() > deadline:
                return states
            time.sleep(LOOK_SECONDS)
