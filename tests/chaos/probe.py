"""A probe: single over-purchases at a steady pace, and how long each took to reach a person."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import httpx2
import orjson

from services.contracts.ids import alert_id, delivery_id
from services.machine.problems import MachineProblem

IN_A_ROW = 10
INTERVAL_SECONDS = 0.25
AGAIN_SECONDS = 0.25
LAST_SECONDS = 60.0
"""How long probes that nobody has accepted yet are tried once no further one begins."""
AT_ONCE = 160
TIMES_BASELINE = 2.0
STEADY_PROBES = 50
STEADY_WINDOWS = 4
STEADY_TIMES = 1.5


@dataclass(frozen=True)
class Sample:
    """One probe: when it was first sent and, once it is there, how long it took."""

    sent_at_ms: int
    latency_ms: int | None

    def had_arrived(self, at_ms: int) -> bool:
        """Tell whether it was there at that time."""
        return self.latency_ms is not None and self.sent_at_ms + self.latency_ms < at_ms


def quantile(latencies_ms: Iterable[int], share: float) -> int:
    """Return the latency that this share of them does not exceed; there must be one."""
    found = sorted(latencies_ms)
    return found[min(len(found) - 1, int(share * len(found)))]


def baseline(latencies_ms: Sequence[int]) -> Sequence[int]:
    """Return the newest latencies, by which those of other cells are judged."""
    return latencies_ms[-2 * STEADY_PROBES :]


def steady(latencies_ms: Sequence[int]) -> bool:
    """Tell whether latency is what it stays at: programs that have just started are slower.

    The 95th percentiles of the newest windows must lie close together. Two alike are not enough:
    in the first minute, while Java compiles, they were, at eight times what it came to be.
    """
    newest = latencies_ms[-STEADY_WINDOWS * STEADY_PROBES :]
    if len(newest) < STEADY_WINDOWS * STEADY_PROBES:
        return False
    begins = range(0, len(newest), STEADY_PROBES)
    found = [quantile(newest[begin : begin + STEADY_PROBES], 0.95) for begin in begins]
    return max(found) < STEADY_TIMES * min(found)


def normal_again_ms(
    samples: list[Sample], fault_ms: int, mended_ms: int, limit_ms: float
) -> int | None:
    """Return how long after the fault probes were normal again: 0 if none was disturbed.

    Normal are ten in a row, sent after the fault's end, each within the limit; None: not yet. Those
    under way when the fault came can be disturbed like any later one.
    """
    since = [each for each in samples if not each.had_arrived(fault_ms)]
    normal = [each.latency_ms is not None and each.latency_ms <= limit_ms for each in since]
    for first, sample in enumerate(since):
        row = normal[first : first + IN_A_ROW]
        if sample.sent_at_ms >= mended_ms and len(row) == IN_A_ROW and all(row):
            return 0 if all(normal[:first]) else sample.sent_at_ms - fault_ms
    return None


class Probe:
    """Sends until it is stopped; each probe is sent again until it is accepted."""

    def __init__(self, name: str, send: Callable[[str], bool], hook: str, journal: Path) -> None:
        self.name = name
        self._send = send
        self._hook = hook
        self._journal = journal
        self._read_from = journal.stat().st_size if journal.exists() else 0
        self._arrived: dict[str, int] = {}
        self._sent: dict[str, int] = {}
        self._accepted: set[str] = set()
        self._stop = threading.Event()
        self._given_up = threading.Event()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix=name)
        self._open: list[Future[None]] = []
        self._thread = threading.Thread(target=self._go, name=name)
        self._thread.start()

    def accepted(self) -> set[str]:
        """Return what was accepted, by order id."""
        return set(self._accepted)

    def unanswered(self) -> set[str]:
        """Return what was sent and never accepted, by order id; it may have come all the same."""
        return set(self._sent) - self._accepted

    def samples(self) -> list[Sample]:
        """Return all probes up to now, in the sequence of their sending."""
        self._read_on()
        return [self._sample(key, sent) for key, sent in list(self._sent.items())]

    def finish(self) -> None:
        """Stop; every probe that was begun is accepted before this returns.

        Raises:
            MachineProblem: some were not, for a long time.
        """
        self._stop.set()
        self._thread.join()
        wait(self._open, LAST_SECONDS)
        self._given_up.set()
        self._pool.shutdown()
        for each in self._open:
            each.result()

    def _go(self) -> None:
        while not self._stop.wait(INTERVAL_SECONDS):
            key = f"{self.name}-{len(self._sent)}"
            self._sent[key] = now_ms()
            self._open.append(self._pool.submit(self._until_accepted, key))

    def _until_accepted(self, key: str) -> None:
        pause = threading.Event()
        while not self._tried(key):
            if self._given_up.is_set():
                raise MachineProblem(f"nobody accepts a probe: {key}")
            pause.wait(AGAIN_SECONDS)
        self._accepted.add(key)

    def _tried(self, key: str) -> bool:
        try:
            return self._send(key)
        except httpx2.HTTPError:
            return False

    def _sample(self, key: str, sent_at_ms: int) -> Sample:
        message = delivery_id(alert_id("over-purchase", [key]), "webhook", self._hook)
        at_ms = self._arrived.get(message)
        return Sample(sent_at_ms, None if at_ms is None else at_ms - sent_at_ms)

    def _read_on(self) -> None:
        """Take in what the inbox has written since the last time; a last half line waits."""
        with self._journal.open("rb") as journal:
            journal.seek(self._read_from)
            for line in journal:
                if not line.endswith(b"\n"):
                    break
                self._read_from += len(line)
                arrival = orjson.loads(line)
                self._arrived.setdefault(arrival["delivery_id"], arrival["at_ms"])


def now_ms() -> int:
    """Return the wall clock that the inbox writes too."""
    return int(time.time() * 1000)
