"""Processor time of a server that this process has started, with all of its own processes."""

import psutil


class Work:
    """Adds up processor time; short-lived processes count if they are looked at."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = self._sample()
        self._last = dict(self._first)

    def look(self) -> None:
        """Note how far each process is."""
        self._last.update(self._sample())

    def seconds(self) -> float:
        """Return the processor time since the beginning."""
        self.look()
        return sum(spent - self._first.get(pid, 0.0) for pid, spent in self._last.items())

    def _sample(self) -> dict[int, float]:
        found = {}
        for each in psutil.Process().children(recursive=True):
            try:
                if self._name in each.name():
                    found[each.pid] = sum(each.cpu_times()[:2])
            except psutil.Error:
                continue
        return found
