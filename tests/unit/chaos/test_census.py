"""Who stands before a door: many who come at once are named by few looks."""

import asyncio
import itertools
import threading

from tests.chaos.doors import Census


def test_who_asks_during_a_look_shares_the_next_one() -> None:
    looks, goes_on = itertools.count(1), threading.Event()

    def who() -> dict[int, str]:
        number = next(looks)
        goes_on.wait()
        return {1: f"look {number}"}

    async def asked() -> list[dict[int, str]]:
        census = Census(who)
        first = asyncio.ensure_future(census.names())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        later = [asyncio.ensure_future(census.names()) for _ in range(100)]
        await asyncio.sleep(0)
        goes_on.set()
        return [await first, *(await asyncio.gather(*later))]

    assert asyncio.run(asked()) == [{1: "look 1"}, *[{1: "look 2"}] * 100]
    assert next(looks) == 3
