"""Looking at something again and again, while something else goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

EVERY_SECONDS: Final = 0.1


@contextmanager
def sampled(look: Callable[[], None]) -> Iterator[None]:
    """Look every `EVERY_SECONDS`, on a thread of its own, while this lasts."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(EVERY_SECONDS):
            look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
