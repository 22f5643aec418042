"""The filters that a template may use; each makes at most about as much as it is given."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from jinja2 import Undefined

from services.lookout.templates.budget import PIECE_LIMIT_CHARACTERS, TooMuch, short_enough
from services.lookout.templates.rendering import cut, one_line

DIGITS_LIMIT: Final = 12
TIME_FORM: Final = "%Y-%m-%d %H:%M:%S %Z"

# A width such as %999999999Y would make a text of that length.
_TIME_FORM: Final = re.compile(r"(?:%[aAbBdHIjmMpSyYzZ%]|[^%]){1,64}")


def default(value: Any, instead: Any = "", _: bool = False) -> Any:
    """Return the value, or something instead of one that is missing."""
    return instead if isinstance(value, Undefined) or value is None else value


def number(value: Any, digits: int = 2, thousands: str = ",", point: str = ".") -> str:
    """Return a number with so many digits after the point: `1,234.50`."""
    if not 0 <= digits <= DIGITS_LIMIT:
        raise ValueError(f"number: digits is from 0 to {DIGITS_LIMIT}")
    exact = Decimal(value) if isinstance(value, int) else float(value)
    plain = f"{exact:,.{digits}f}"
    return plain.translate({ord(","): thousands[:1], ord("."): point[:1]})


def percent(value: Any, digits: int = 1) -> str:
    """Return a share as percent: 0.25 as `25.0%`."""
    return number(float(value) * 100, digits, thousands="") + "%"


def local(value: Any, zone: str = "UTC", form: str = TIME_FORM) -> str:
    """Return a time, or milliseconds since 1970, as a clock in that zone shows it."""
    if not isinstance(value, datetime):
        value = datetime.fromtimestamp(float(value) / 1000, UTC)
    if not _TIME_FORM.fullmatch(form):
        raise ValueError("local: the form may have %Y %m %d %H %M %S %Z and their like, no widths")
    wall: datetime = value.astimezone(ZoneInfo(zone))
    return wall.strftime(form)


def short(value: Any, limit_characters: int = 80) -> str:
    """Return a text as one line of at most so many characters."""
    return cut(one_line(str(value)), max(1, int(limit_characters)))


def join(items: Iterable[Any], between: str = "") -> str:
    """Return the items as one text."""
    texts = [str(each) for each in items]
    if sum(map(len, texts)) + len(between) * len(texts) > PIECE_LIMIT_CHARACTERS:
        raise TooMuch(f"join: it makes a text of over {PIECE_LIMIT_CHARACTERS} characters")
    return between.join(texts)


def replaced(value: Any, old: str, new: str) -> str:
    """Return the text with `new` in place of every `old`."""
    text = str(value)
    if len(text) + (text.count(old) + 1) * len(new) > PIECE_LIMIT_CHARACTERS:
        raise TooMuch(f"replace: it makes a text of over {PIECE_LIMIT_CHARACTERS} characters")
    return text.replace(old, new)


def concatenated(items: Iterable[Any]) -> str:
    """Return what `~` makes of its operands."""
    return short_enough(join(items))


def ordered(items: Iterable[Any], reverse: bool = False) -> list[Any]:
    """Return the items in rising sequence, or falling."""
    return sorted(items, reverse=reverse)


def pairs(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return name and value of all fields."""
    return list(value.items())


def rounded(value: Any, digits: int = 0) -> float:
    """Return the number rounded."""
    return round(float(value), digits)


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs,
    "capitalize": lambda value: str(value).capitalize(),
    "concatenated": concatenated,
    "count": len,
    "d": default,
    "default": default,
    "first": lambda items: next(iter(items)),
    "float": float,
    "int": int,
    "items": pairs,
    "join": join,
    "last": lambda items: list(items)[-1],
    "length": len,
    "list": list,
    "local": local,
    "lower": lambda value: str(value).lower(),
    "max": max,
    "min": min,
    "number": number,
    "percent": percent,
    "replace": replaced,
    "round": rounded,
    "short": short,
    "sort": ordered,
    "string": str,
    "sum": sum,
    "title": lambda value: str(value).title(),
    "trim": lambda value: str(value).strip(),
    "unique": lambda items: list(dict.fromkeys(items)),
    "upper": lambda value: str(value).upper(),
}
"""Filters by name."""
