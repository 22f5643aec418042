"""Following the board: every page sees the newest value, and nothing is left behind."""

import asyncio
from threading import Event, Thread

from services.console.live import Board, event_text
from services.console.now import Now


def test_a_follower_sees_the_newest_value_and_leaves_nothing_behind() -> None:
    board = Board()

    async def follow() -> list[int]:
        seen: list[int] = []
        async for now in board.follow(lambda: False):
            assert now is not None
            seen.append(now.at_ms)
            if now.at_ms == 100:
                return seen
        return seen

    begun = Event()

    def publish() -> None:
        begun.wait(30)
        for at in range(101):
            board.publish(Now(at, None))

    async def both() -> list[int]:
        task = asyncio.create_task(follow())
        while board.followers == 0:
            await asyncio.sleep(0)
        begun.set()
        return await task

    thread = Thread(target=publish)
    thread.start()
    seen = asyncio.run(both())
    thread.join()
    assert seen == sorted(set(seen))
    assert seen[-1] == 100
    assert board.followers == 0


def test_following_ends_when_the_program_stops() -> None:
    board = Board()
    board.publish(Now(1, None))

    async def follow() -> int:
        return len([now async for now in board.follow(lambda: board.followers == 1)])

    assert asyncio.run(follow()) == 0


def test_html_of_several_lines_is_one_message() -> None:
    assert event_text("<p>\none</p>") == b"data: <p>\ndata: one</p>\n\n"
