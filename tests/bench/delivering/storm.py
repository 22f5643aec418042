"""A storm: far more alerts than the provider takes; claiming must keep the provider busy."""

import time
from collections import Counter
from dataclasses import dataclass

import psycopg
from confluent_kafka import Producer

from services.contracts import topics
from tests.bench.delivering.alerts import bench_alert
from tests.bench.delivering.chain import Chain, chain
from tests.bench.load import client

DRAIN_TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class StormRow:
    """What was offered, and what the provider got per second while it lasted."""

    alerts: int
    offered_per_second: int
    provider_limit_per_second: int
    recorded: int
    recorded_per_second: int
    sent_median_per_second: int
    sent_least_per_second: int
    repeats: int


def measure_storm(alerts: int, rate: int, provider_limit: int) -> StormRow:
    """Offer alerts at `rate`; watch sends per second until the lookout has recorded them all."""
    settings = {"ALDEBARAN_RATE_PER_SECOND": str(provider_limit), "ALDEBARAN_RATE_BURST": "50"}
    with chain("webhook", settings) as running:
        begun_ns = time.monotonic_ns()
        offered_per_second = burst(client(running.bootstrap), alerts, rate)
        recorded = wait_recorded(running, alerts)
        ended_ns = time.monotonic_ns()
        seen = running.received()
    seconds = Counter((times[0] - begun_ns) // 1_000_000_000 for times in seen.values())
    # The first second starts with nothing recorded, the last one is cut.
    whole = sorted(seconds[each] for each in range(1, (ended_ns - begun_ns) // 1_000_000_000))
    return StormRow(
        alerts=alerts,
        offered_per_second=offered_per_second,
        provider_limit_per_second=provider_limit,
        recorded=recorded,
        recorded_per_second=int(recorded / ((ended_ns - begun_ns) / 1e9)),
        sent_median_per_second=whole[len(whole) // 2],
        sent_least_per_second=whole[0],
        repeats=sum(len(times) - 1 for times in seen.values()),
    )


def burst(producer: Producer, alerts: int, rate: int) -> int:
    """Send alerts at this rate, or as fast as this process can; return how many a second."""
    begun = time.monotonic()
    for index in range(alerts):
        if index % 100 == 0:
            time.sleep(max(0.0, index / rate - (time.monotonic() - begun)))
        alert = bench_alert("storm", index)
        producer.produce(topics.ALERTS, alert.encode(), alert.alert_id)
        producer.poll(0)
    producer.flush(60)
    return int(alerts / (time.monotonic() - begun))


def wait_recorded(running: Chain, alerts: int) -> int:
    """Wait until every alert has its row; return how many have."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_SECONDS
    with psycopg.connect(running.postgres_url, autocommit=True) as connection:
        while True:
            row = connection.execute("SELECT count(*) FROM deliveries").fetchone()
            count = int(row[0]) if row else 0
            if count >= alerts or time.monotonic() > deadline:
                return count
            time.sleep(0.5)
