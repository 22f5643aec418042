"""Far ends that note when the first byte of each delivery came."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

Seen = dict[str, list[int]]
"""Nanoseconds of the monotonic clock, by delivery id."""


@dataclass(frozen=True)
class Site:
    """Where a far end is: its port, a folder of its own, and the Kafka that it may read.

    A provider answers after `answer_after_seconds`.
    """

    port: int
    folder: Path
    bootstrap: str
    answer_after_seconds: float = 0.0

    @property
    def web(self) -> str:
        """The address of what listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def rabbitmq(self) -> str:
        """The address of a RabbitMQ, which lets its guest in from this machine."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"


Taking = Callable[[Site, Seen], AbstractAsyncContextManager[None]]
"""Notes in `seen` whatever comes while it lasts."""
