"""Blocking work beside the event loop, on threads that never keep the program from ending.

Unlike the event loop's own threads, these may be left behind: closing a consumer, or waiting for a
provider, can take longer than a program has to end.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")
_Work = Callable[[], None]


def on_daemon_thread(name: str, work: Callable[[], Result]) -> "asyncio.Future[Result]":
    """Start blocking work on a thread of its own; the future has its result, or its exception."""
    over: Future[Result] = Future()
    threading.Thread(target=_into(over, work), name=name, daemon=True).start()
    return asyncio.wrap_future(over)


class DaemonThreads:
    """Threads that wait for the next piece of work; as many as there were pieces at once.

    Starting one takes the event loop longer than all else that it does for a send.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: SimpleQueue[_Work] = SimpleQueue()
        self._idle = threading.Semaphore(0)

    def run(self, work: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Start blocking work; the future has its result, or its exception."""
        over: Future[Result] = Future()
        self._work.put(_into(over, work, self._idle.release))
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        return asyncio.wrap_future(over)

    def _serve(self) -> None:
        while True:
            self._work.get()()


def _into(over: "Future[Result]", work: Callable[[], Result], free: _Work = lambda: None) -> _Work:
    """Return what does the work, unless it was given up before, and settles its future.

    `free` is called before anybody hears of the result, so that the next piece finds the thread.
    """

    def run() -> None:
        if not over.set_running_or_notify_cancel():
            free()
            return
        try:
            result = work()
        except Exception as error:  # handed on to whoever awaits the future
            free()
            over.set_exception(error)
        else:
            free()
            over.set_result(result)

    return run
