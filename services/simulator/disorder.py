"""Holds messages back and lets them go some places later."""

import heapq
import random
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

Held = TypeVar("Held")

DISTANCE_LIMIT: Final = 40
"""A displaced message comes at most so many places late, which also bounds what is held."""


class Shuffle(Generic[Held]):
    """Messages that wait for their place, nearest first."""

    def __init__(self) -> None:
        self._place = 0
        self._entered = 0
        self._waiting: list[tuple[int, int, Held]] = []

    @staticmethod
    def distance(rng: random.Random) -> int:
        """Draw how many places late."""
        return 1 + int(rng.random() * DISTANCE_LIMIT)

    def hold(self, message: Held, places: int) -> None:
        """Keep a message until `places` more have passed."""
        self._entered += 1
        heapq.heappush(self._waiting, (self._place + places, self._entered, message))

    def due(self) -> Iterator[Held]:
        """Pass one place; return what has waited long enough."""
        self._place += 1
        while self._waiting and self._waiting[0][0] <= self._place:
            yield heapq.heappop(self._waiting)[2]

    def rest(self) -> Iterator[Held]:
        """Return everything that still waits."""
        while self._waiting:
            yield heapq.heappop(self._waiting)[2]
