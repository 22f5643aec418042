"""Processor time of a server that this process has started, with all of its own processes."""

import threading
from types import TracebackType
from typing import Self

import psutil

SAMPLE_SECONDS = 0.1


class Work:
    """Adds up processor time while it is entered; short-lived processes are seen by sampling."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = self._sample()
        self._last = dict(self._first)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Begin to watch."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join()

    def seconds(self) -> float:
        """Return the processor time since the beginning."""
        self._last.update(self._sample())
        return sum(spent - self._first.get(pid, 0.0) for pid, spent in self._last.items())

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            self._last.update(self._sample())

    def _sample(self) -> dict[int, float]:
        found = {}
        for each in psutil.Process().children(recursive=True):
            try:
                if self._name in each.name():
                    found[each.pid] = sum(each.cpu_times()[:2])
            except psutil.Error:
                continue
        return found
