"""Blocking work beside the event loop, on threads that never keep the program from ending."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


def on_daemon_thread(name: str, work: Callable[[], object]) -> "asyncio.Future[None]":
    """Start blocking work; the future tells when it is over, with its exception if it had one.

    Unlike the event loop's own threads, this one may be left behind: closing a consumer can take
    longer than a program has to end.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def tell(error: Exception | None) -> None:
        if over.done():
            return
        if error is None:
            over.set_result(None)
        else:
            over.set_exception(error)

    def run() -> None:
        error: Exception | None = None
        try:
            work()
        except Exception as caught:  # handed on to whoever awaits the future
            error = caught
        with suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(tell, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return over
