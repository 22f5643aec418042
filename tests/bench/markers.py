"""Reads when the first alert of each marker order came."""

import json
import threading
import time
import uuid

from confluent_kafka import Consumer


class Markers:
    """A reader on a thread of its own; notes each order's first alert on the monotonic clock."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"bench-{uuid.uuid4().hex}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe([topic])
        self._seen_ns: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Markers":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def wait(self, count: int, timeout_seconds: float) -> list[int]:
        """Return the times of `count` markers in nanoseconds.

        Raises:
            TimeoutError: they did not all come.
        """
        deadline = time.monotonic() + timeout_seconds
        while len(self._seen_ns) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self._seen_ns)} of {count} markers came")
            time.sleep(0.01)
        return list(self._seen_ns.values())

    def _read(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(0.1)
            now = time.monotonic_ns()
            if message is not None and message.error() is None:
                order = json.loads(message.value() or b"{}")["key"]["order_id"]
                self._seen_ns.setdefault(order, now)
