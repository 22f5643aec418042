"""Open-loop load: sends at the intended times, whatever the broker answers; its own process."""

import argparse
import json
import sys
import time
from itertools import islice

from confluent_kafka import Producer

from tests.bench.traffic import background

TICK_SECONDS = 0.002


def client(bootstrap: str) -> Producer:
    """Return a producer for load: small batches, written by all replicas, in order.

    It is not idempotent: such a client of librdkafka keeps a core busy while it waits for a slow
    broker (docs/reports/tuning.md), and would slow what is measured.
    """
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "max.in.flight.requests.per.connection": 1,
            "linger.ms": 1,
            "queue.buffering.max.messages": 1_000_000,
            "log_level": 3,
        }
    )


def offer(bootstrap: str, topic: str, run: str, rate: float, seconds: float) -> dict[str, float]:
    """Send `rate` events a second for `seconds`; return what was sent and how late at worst.

    The processor time is that of the `seconds` which it returns: the start is in neither.
    """
    producer = client(bootstrap)
    events = background(run)
    started, spent = time.monotonic(), time.process_time()
    sent, worst_lag = 0, 0.0
    while (elapsed := time.monotonic() - started) < seconds:
        due = int(elapsed * rate) - sent
        for key, event in islice(events, due):
            producer.produce(topic, event, key)
        sent += due
        worst_lag = max(worst_lag, time.monotonic() - started - elapsed)
        producer.poll(0)
        time.sleep(TICK_SECONDS)
    unsent = producer.flush(30)
    return {
        "sent": sent - unsent,
        "unsent": unsent,
        "worst_lag_seconds": round(worst_lag, 4),
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
