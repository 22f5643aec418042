"""Spans of time as people write them: `90 minutes`, or sums such as `early + limit`."""

import re
from collections.abc import Mapping
from typing import Final

LIMIT_MS: Final = 3650 * 86_400_000
"""Longest span that can be written: ten years."""

_UNITS_MS: Final = {
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
}
_SPAN: Final = re.compile(r"(\d{1,12}) (millisecond|second|minute|hour|day)s?")


def milliseconds(text: str) -> int:
    """Read one span.

    Raises:
        ValueError: it is not a number and a unit, or not between 1 ms and ten years.
    """
    match = _SPAN.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a span of time such as '90 minutes' or '24 hours'")
    return _within_limit(int(match[1]) * _UNITS_MS[match[2]], text)


def resolve(written: Mapping[str, str]) -> dict[str, int]:
    """Return named spans in milliseconds; a span may be a sum with spans named before it.

    Raises:
        ValueError: a term is neither a span nor a name that stands before.
    """
    known: dict[str, int] = {}
    for name, text in written.items():
        terms = [term.strip() for term in text.split("+")]
        total = sum(known[term] if term in known else milliseconds(term) for term in terms)
        known[name] = _within_limit(total, text)
    return known


def _within_limit(span_ms: int, text: str) -> int:
    if not 1 <= span_ms <= LIMIT_MS:
        raise ValueError(f"{text!r} is not between 1 millisecond and 3650 days")
    return span_ms
