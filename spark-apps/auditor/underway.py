"""A piece of work on a thread of its own, which whoever began it never has to wait for."""

import threading
from collections.abc import Callable


class UnderWay:
    """Work that has begun; a program that ends leaves it behind."""

    def __init__(self, name: str, work: Callable[[], object], since_seconds: float) -> None:
        self.since_seconds = since_seconds
        """When it began, on the clock of whoever began it."""
        self._work = work
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def is_over(self, wait_seconds: float = 0.0) -> bool:
        """Tell whether it has ended, now or within so many seconds."""
        self._thread.join(wait_seconds)
        return not self._thread.is_alive()

    def outcome(self) -> None:
        """Raise what the work raised, once it is over."""
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._failure = error
