"""Work beside the event loop: its results come back, and idle threads take the next piece."""

import asyncio
import threading

import pytest

from services.deliverer.threads import DaemonThreads


async def test_pieces_at_once_have_threads_of_their_own_and_later_ones_take_these() -> None:
    threads, together = DaemonThreads("test"), threading.Barrier(3)

    def meet() -> int:
        together.wait(30)
        return threading.get_ident()

    first = set(await asyncio.gather(*(threads.run(meet) for _ in range(3))))
    assert len(first) == 3
    for _ in range(20):
        assert await threads.run(threading.get_ident) in first


async def test_an_error_comes_back_and_its_thread_goes_on() -> None:
    threads = DaemonThreads("test")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0)
    assert await threads.run(lambda: 7) == 7
