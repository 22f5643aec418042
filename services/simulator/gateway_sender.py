"""Posts batches to the gateway, several at once, the same events again while it says: later."""

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import httpx2

from services.backbone.backoff import Backoff
from services.backbone.clock import Clock
from services.simulator.gateway_answer import Answer, read_answer
from services.simulator.history import Message
from services.simulator.sending import Settled
from services.simulator.tally import Outcome

IN_FLIGHT_BATCHES: Final = 32
REQUEST_TIMEOUT_SECONDS: Final = 30.0
CLOSE_TIMEOUT_SECONDS: Final = 2.0
LATER: Final = Backoff(first_seconds=0.1, limit_seconds=5.0)


@dataclass
class GatewaySender:
    """Sends NDJSON, so that one malformed line cannot spoil a batch.

    `workers` batches are on their way at once, each on a thread of its own.
    """

    url: str
    stream: str
    api_key: str | None
    clock: Clock
    workers: int = IN_FLIGHT_BATCHES
    _open: "dict[Future[Settled], Sequence[Message]]" = field(default_factory=dict)
    _retried: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        headers = {"content-type": "application/x-ndjson"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        self._client = httpx2.Client(
            base_url=self.url,
            headers=headers,
            timeout=REQUEST_TIMEOUT_SECONDS,
            trust_env=False,
            limits=httpx2.Limits(
                max_connections=self.workers, max_keepalive_connections=self.workers
            ),
        )
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="gateway-sender")

    def start(self, batch: Sequence[Message]) -> bool:
        """Give the batch to a thread, unless all are busy."""
        if len(self._open) >= self.workers:
            return False
        self._open[self._pool.submit(self._deliver, batch)] = batch
        return True

    def collect(self) -> Iterator[Settled]:
        """Yield answered batches.

        Raises:
            Refused: the gateway will never take this.
        """
        done = [future for future in self._open if future.done()]
        for future in done:
            yield self._landed(future)

    def retried(self) -> int:
        """Return how many messages were sent again."""
        return self._retried

    def waiting(self) -> int:
        """Return how many batches are open."""
        return len(self._open)

    def close(self) -> list[Settled]:
        """End retries and requests; what has no answer then is unknown."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        deadline = self.clock.monotonic_seconds() + CLOSE_TIMEOUT_SECONDS
        settled = [self._last_word(future, deadline) for future in list(self._open)]
        self._client.close()
        self._open.clear()
        return settled

    def _landed(self, future: "Future[Settled]") -> Settled:
        settled = future.result()
        del self._open[future]
        return settled

    def _last_word(self, future: "Future[Settled]", deadline: float) -> Settled:
        left = max(0.0, deadline - self.clock.monotonic_seconds())
        try:
            return future.result(timeout=left)
        except Exception:  # whatever it was, the run has ended with these messages open
            messages = self._open[future]
            return Settled(messages, [Outcome.UNKNOWN] * len(messages))

    def _deliver(self, batch: Sequence[Message]) -> Settled:
        """Post until every message has its outcome, or the run stops."""
        outcomes: list[Outcome] = [Outcome.UNKNOWN] * len(batch)
        open_places = list(range(len(batch)))
        rng = random.Random()
        attempt = 0
        while open_places and not self._stop.is_set():
            attempt += 1
            answer = self._post([batch[place] for place in open_places])
            pairs = list(zip(open_places, answer.outcomes, strict=True))
            for place, outcome in pairs:
                outcomes[place] = Outcome.UNKNOWN if outcome is None else outcome
            open_places = [place for place, outcome in pairs if outcome is None]
            if open_places:
                self._count_retried(len(open_places))
                wait = answer.retry_after_seconds
                self.clock.wait(self._stop, LATER.seconds(attempt, rng) if wait is None else wait)
        return Settled(batch, outcomes)

    def _post(self, messages: Sequence[Message]) -> Answer:
        body = b"\n".join(message.value for message in messages)
        try:
            response = self._client.post(f"/v1/streams/{self.stream}/events", content=body)
        except httpx2.TransportError:
            # Perhaps taken, perhaps not: the same ids again are right either way.
            return Answer([None] * len(messages))
        return read_answer(response.status_code, response.headers, response.content, len(messages))

    def _count_retried(self, count: int) -> None:
        with self._lock:
            self._retried += count
