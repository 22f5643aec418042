"""Open-loop load: sends at the intended times, whatever the broker answers; its own process."""

import argparse
import json
import sys
import time
from collections.abc import Callable
from itertools import islice

from confluent_kafka import KafkaError, Producer

from tests.bench.traffic import background

TICK_SECONDS = 0.002


def client(bootstrap: str, failed: Callable[[KafkaError], object] | None = None) -> Producer:
    """Return a producer for load: small batches, written by all replicas, in order.

    It is not idempotent: such a client of librdkafka keeps a core busy while it waits for a slow
    broker (docs/reports/tuning.md), and would slow what is measured. `failed` is called with the
    reason of each delivery that fails, and of no other: an answer to each would cost time too.
    """
    settings: dict[str, object] = {
        "bootstrap.servers": bootstrap,
        "acks": "all",
        "max.in.flight.requests.per.connection": 1,
        "linger.ms": 1,
        "queue.buffering.max.messages": 1_000_000,
        "log_level": 3,
    }
    if failed:
        settings["delivery.report.only.error"] = True
        settings["on_delivery"] = lambda error, _: failed(error)
    return Producer(settings)


class Schedule:
    """Which events are due at a rate, and how late one was at worst; times are since its start."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self.sent = 0
        self.worst_lag_seconds = 0.0

    def due(self, elapsed: float) -> int:
        """Return how many events should have been sent by then, and were not."""
        return int(elapsed * self._rate) - self.sent

    def done(self, count: int, elapsed: float) -> None:
        """Note that so many were sent by then: the first of them had waited longest."""
        if count > 0:
            lag = elapsed - (self.sent + 1) / self._rate
            self.worst_lag_seconds = max(self.worst_lag_seconds, lag)
            self.sent += count


def offer(bootstrap: str, topic: str, run: str, rate: float, seconds: float) -> dict[str, float]:
    """Send `rate` events a second for `seconds`; return what was sent and how late at worst.

    The processor time is that of the `seconds` which it returns: the start is in neither.
    """
    failures: list[KafkaError] = []
    producer, schedule = client(bootstrap, failures.append), Schedule(rate)
    events = background(run)
    started, spent = time.monotonic(), time.process_time()
    elapsed = 0.0
    while elapsed < seconds:
        time.sleep(TICK_SECONDS)
        elapsed = min(time.monotonic() - started, seconds)
        due = schedule.due(elapsed)
        for key, event in islice(events, due):
            producer.produce(topic, event, key)
        schedule.done(due, time.monotonic() - started)
        producer.poll(0)
    unsent = producer.flush(30)
    return {
        "sent": schedule.sent - unsent - len(failures),
        "unsent": unsent,
        "failed": len(failures),
        "worst_lag_seconds": round(schedule.worst_lag_seconds, 4),
        "seconds": time.monotonic() - started,
        "cpu_seconds": time.process_time() - spent,
    }


def main() -> None:
    """Offer the load that the arguments describe; print the outcome as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    told = parser.parse_args()
    outcome = offer(told.bootstrap, told.topic, told.run, told.rate, told.seconds)
    sys.stdout.write(json.dumps(outcome) + "\n")


if __name__ == "__main__":
    main()
