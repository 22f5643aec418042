"""The ledger is told once of names, and of breakers when one opens, stays open, or closes."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import pytest
from prometheus_client import REGISTRY

from services.backbone.backoff import Backoff
from services.backbone.clock import ManualClock, SystemClock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.breakers import LAPSES_SECONDS, BreakerBook, OpenBreaker
from services.backbone.ledger.deliveries.names import NamesBook
from services.deliverer.breaker import Breakers, Send
from services.deliverer.channels.log import LogChannel, LogSettings
from services.deliverer.notices import AGAIN_SECONDS, Notices
from services.deliverer.outcomes import Accepted, Refused


@dataclass
class Told:
    """What the ledger was told, and whether it is away."""

    names: list[list[str]] = field(default_factory=list)
    breakers: list[list[tuple[str, str]]] = field(default_factory=list)
    away: bool = False


class Names(NamesBook):
    def __init__(self, told: Told) -> None:
        self.__dict__["told"] = told

    async def tell(self, names: Collection[str]) -> None:
        told: Told = self.__dict__["told"]
        if told.away:
            raise Transient("away")
        told.names.append(sorted(names))


class Book(BreakerBook):
    def __init__(self, told: Told) -> None:
        self.__dict__["told"] = told

    async def note(self, breakers: Sequence[OpenBreaker]) -> None:
        told: Told = self.__dict__["told"]
        told.breakers.append([(each.destination, each.reason) for each in breakers])


TOLD_SECONDS = 100.0


def open_now() -> float | None:
    return REGISTRY.get_sample_value("aldebaran_deliverer_breakers_open", {"channel": "log"})


async def test_what_has_changed_is_told_and_nothing_else() -> None:
    told, clock = Told(away=True), ManualClock()
    breakers = Breakers(1, Backoff(1.0, limit_seconds=1.0), random.Random(1), TOLD_SECONDS)
    traits = replace(LogChannel(LogSettings(), SystemClock()).traits, names=frozenset("ba"))
    notices = Notices(Names(told), Book(told), traits, breakers, clock)
    with pytest.raises(Transient):
        await notices.tell()
    told.away = False
    await notices.tell()
    await notices.tell()
    assert (told.names, told.breakers) == ([["a", "b"]], [])
    down = Refused("is down", destination_down=True)
    now = clock.monotonic_seconds()
    breakers.note("hook", Send(down, now, now))
    await notices.tell()
    await notices.tell()
    assert told.breakers == [[("hook", "is down")]]
    assert open_now() == 1
    clock.move(AGAIN_SECONDS)
    await notices.tell()
    assert told.breakers == [[("hook", "is down")]] * 2
    assert AGAIN_SECONDS < LAPSES_SECONDS / 2
    now = clock.monotonic_seconds()
    breakers.note("hook", Send(Accepted(""), now, now))
    await notices.tell()
    await notices.tell()
    assert told.breakers[2:] == [[]]
    assert open_now() == 0
    assert told.names == [["a", "b"]]


async def test_a_deliverer_that_has_nothing_more_to_send_leaves_nobody_alone() -> None:
    told, clock = Told(), ManualClock()
    breakers = Breakers(1, Backoff(1.0, limit_seconds=1.0), random.Random(1), TOLD_SECONDS)
    traits = LogChannel(LogSettings(), SystemClock()).traits
    notices = Notices(Names(told), Book(told), traits, breakers, clock)
    now = clock.monotonic_seconds()
    breakers.note("hook", Send(Refused("is down", destination_down=True), now, now))
    await notices.tell()
    assert open_now() == 1
    clock.move(TOLD_SECONDS + 1)
    breakers.nothing_waits("hook", clock.monotonic_seconds(), 0.0)
    await notices.tell()
    assert told.breakers == [[("hook", "is down")], []]
    assert open_now() == 0


async def test_an_open_breaker_is_counted_while_the_ledger_is_away() -> None:
    told, clock = Told(away=True), ManualClock()
    breakers = Breakers(1, Backoff(1.0, limit_seconds=1.0), random.Random(1), TOLD_SECONDS)
    traits = replace(LogChannel(LogSettings(), SystemClock()).traits, names=frozenset("a"))
    now = clock.monotonic_seconds()
    breakers.note("hook", Send(Refused("is down", destination_down=True), now, now))
    with pytest.raises(Transient):
        await Notices(Names(told), Book(told), traits, breakers, clock).tell()
    assert open_now() == 1
