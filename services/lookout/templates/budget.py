"""Bounded work: a template may take so many steps, and hold texts so long."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

STEPS_LIMIT: Final = 20_000
"""Most steps of one rendering: about one per operation, one per 64 characters or per item."""
PIECE_LIMIT_CHARACTERS: Final = 8192
"""Longest text that an operation may make."""
NUMBER_LIMIT_BITS: Final = 256


class TooMuch(Exception):
    """A template wants more than it may have."""


class Budget:
    """Counts the steps of one rendering."""

    def __init__(self, steps: int = STEPS_LIMIT) -> None:
        self._left = steps

    def charge(self, steps: int) -> None:
        """Take steps.

        Raises:
            TooMuch: none are left.
        """
        self._left -= steps
        if self._left < 0:
            raise TooMuch(f"it takes over {STEPS_LIMIT} steps; loop over less")

    def each(self, items: Iterable[Any], steps: int) -> Iterator[Any]:
        """Return the items, taking the steps for each."""
        for item in items:
            self.charge(steps)
            yield item


def steps_of(value: Any) -> int:
    """Return the steps that it takes to read a value; values are trees of bounded size."""
    if isinstance(value, str):
        return 1 + len(value) // 64
    if isinstance(value, dict):
        return 1 + sum(1 + steps_of(each) for each in value.values())
    if isinstance(value, range):
        return 1 + len(value)
    if isinstance(value, list | tuple):
        return 1 + sum(steps_of(each) for each in value)
    return 1


def short_enough(text: str) -> str:
    """Return the text.

    Raises:
        TooMuch: it is too long.
    """
    if len(text) > PIECE_LIMIT_CHARACTERS:
        raise TooMuch(f"it makes a text of over {PIECE_LIMIT_CHARACTERS} characters")
    return text


def add(left: Any, right: Any) -> Any:
    """Add two numbers or join two texts."""
    if isinstance(left, str) and isinstance(right, str):
        return short_enough(left + right)
    return _number(left) + _number(right)


def compute(operator: str, left: Any, right: Any) -> Any:
    """Compute with two numbers, never with texts or lists, which could grow without end."""
    first, second = _number(left), _number(right)
    if operator == "-":
        return first - second
    if operator == "*":
        return first * second
    if operator == "/":
        return first / second
    return first // second if operator == "//" else first % second


def _number(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} is no number: write | float, or ~ to join texts")
    if isinstance(value, int) and value.bit_length() > NUMBER_LIMIT_BITS:
        raise TooMuch("it computes with a number of over 77 digits")
    return value
