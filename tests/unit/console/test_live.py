"""Following the board: every page sees the newest value, and nothing is left behind."""

import asyncio
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from services.backbone.clock import ManualClock
from services.backbone.ledger.answers.overview import AtLeast, Overview
from services.backbone.service import Life
from services.console.live import (
    FOLLOWERS_LIMIT,
    Board,
    Drawn,
    TooManyFollowers,
    event_text,
)
from services.console.now import Now
from services.console.pages.now import events


def test_a_follower_sees_the_newest_value_and_leaves_nothing_behind() -> None:
    board = Board()

    async def follow() -> list[int]:
        seen: list[int] = []
        place = board.take_place()
        async for now in board.follow(place, lambda: False):
            assert now is not None
            seen.append(now.at_ms)
            if now.at_ms == 100:
                break
        board.leave(place)
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
        place = board.take_place()
        return len([now async for now in board.follow(place, lambda: board.followers == 1)])

    assert asyncio.run(follow()) == 0


def test_html_of_several_lines_is_one_message() -> None:
    assert event_text("<p>\none</p>") == b"data: <p>\ndata: one</p>\n\n"


def test_each_value_is_drawn_once_however_many_follow() -> None:
    board, drawings = Board(), list[int]()

    def draw(now: Now) -> str:
        drawings.append(now.at_ms)
        return f"<p>{now.at_ms}"

    drawn = Drawn(draw)

    async def see() -> list[bytes]:
        seen: list[bytes] = []
        for at_ms in (1, 2):
            board.publish(Now(at_ms, None))
            for _ in range(2):
                async for now in board.follow(board.take_place(), lambda: False):
                    assert now is not None
                    seen.append(drawn.event(now))
                    break
        return seen

    one, two = b"data: <p>1\n\n", b"data: <p>2\n\n"
    assert asyncio.run(see()) == [one, one, two, two]
    assert drawings == [1, 2]


def test_who_finds_no_place_is_told_before_anything_is_answered() -> None:
    board = Board()

    async def come() -> None:
        first, *_ = [board.take_place() for _ in range(FOLLOWERS_LIMIT)]
        with pytest.raises(TooManyFollowers):
            board.take_place()
        board.leave(first)
        board.take_place()

    asyncio.run(come())
    assert board.followers == FOLLOWERS_LIMIT


def test_a_session_is_asked_after_only_where_the_ledger_answers() -> None:
    board, clock = Board(), ManualClock()
    desk: Any = SimpleNamespace(board=board, clock=clock, life=Life())
    there = Overview({}, [], [], 0, AtLeast([], [], failed=False))
    asked = list[int]()

    async def is_over() -> bool:
        asked.append(len(asked))
        return False

    async def follow() -> int:
        sent = 0
        board.publish(Now(1, None))
        async for _ in events(desk, board.take_place(), Drawn(lambda _: ""), is_over):
            sent += 1
            clock.move(60)
            if sent == 3:
                assert not asked
            board.publish(Now(sent, there if sent >= 3 else None))
        return sent

    assert asyncio.run(follow()) == 3
    assert len(asked) == 1
