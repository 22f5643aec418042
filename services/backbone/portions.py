"""Cuts what is written at once into portions that its receiver can take."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def portions(
    things: Iterable[Thing],
    size_of: Callable[[Thing], int],
    most_bytes: int,
    most_things: int | None = None,
) -> Iterator[list[Thing]]:
    """Yield all things in their sequence; one that is larger than a portion has one of its own."""
    portion: list[Thing] = []
    size = 0
    for thing in things:
        own = size_of(thing)
        if portion and (size + own > most_bytes or len(portion) == most_things):
            yield portion
            portion, size = [], 0
        portion.append(thing)
        size += own
    if portion:
        yield portion
