"""Reads alerts from now on: when each order's first one came, and how many there were."""

import json
import threading
import time
import uuid
from collections import Counter

from confluent_kafka import Consumer, TopicPartition


class Markers:
    """A reader on a thread of its own; times are of the monotonic clock."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"bench-{uuid.uuid4().hex}",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
            }
        )
        _, end = self._consumer.get_watermark_offsets(TopicPartition(topic, 0), 30)
        self._consumer.assign([TopicPartition(topic, 0, end)])
        self._first_ns: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Markers":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def wait(self, orders: set[str], timeout_seconds: float) -> dict[str, int]:
        """Return when the first alert of each of these orders came, in nanoseconds.

        Raises:
            TimeoutError: they did not all come.
        """
        deadline = time.monotonic() + timeout_seconds
        while missing := orders - self._first_ns.keys():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no alert for {sorted(missing)[:5]} ({len(missing)} in all)")
            time.sleep(0.01)
        return {order: self._first_ns[order] for order in orders}

    def settle(self, quiet_seconds: float) -> Counter[str]:
        """Return the number of alerts by order, once none has come for a while."""
        seen = -1
        while self._counts.total() != seen:
            seen = self._counts.total()
            time.sleep(quiet_seconds)
        return Counter(self._counts)

    def _read(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.1)
            now = time.monotonic_ns()
            if message is not None and message.error() is None:
                order = json.loads(message.value() or b"{}")["key"]["order_id"]
                self._first_ns.setdefault(order, now)
                self._counts[order] += 1
