"""Spans of time as people write them: `90 minutes`, `5m`, or sums such as `early + limit`."""

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
_SHORT_UNITS_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SHORT_SPAN: Final = re.compile(r"(\d{1,12})(ms|s|m|h|d)")
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


def seconds(text: str) -> float:
    """Read one span, short as `30s` or in full as `90 minutes`, in seconds.

    Raises:
        ValueError: it is neither, or not between 1 ms and ten years.
    """
    short = _SHORT_SPAN.fullmatch(text.strip())
    if short:
        return _within_limit(int(short[1]) * _SHORT_UNITS_MS[short[2]], text) / 1000
    try:
        return milliseconds(text) / 1000
    except ValueError as error:
        raise ValueError(f"{error}, or in short '30s', '5m', '2h', '1d'") from None


def resolve(written: Mapping[str, str]) -> dict[str, int]:
    """Return named spans in milliseconds; a span may be a sum with other named spans.

    Raises:
        ValueError: a term is neither a span nor a name, or names stand for each other in a circle.
    """
    known: dict[str, int] = {}
    return {name: _total(written, name, (), known) for name in written}


def _total(
    written: Mapping[str, str], name: str, above: tuple[str, ...], known: dict[str, int]
) -> int:
    """Each name is added up once: in a chain of sums the terms would double at each."""
    if name in known:
        return known[name]
    if name in above:
        raise ValueError(f"{' -> '.join((*above, name))}: a span cannot contain itself")
    terms = [term.strip() for term in written[name].split("+")]
    total = sum(
        _total(written, term, (*above, name), known) if term in written else milliseconds(term)
        for term in terms
    )
    known[name] = _within_limit(total, written[name])
    return known[name]


def _within_limit(span_ms: int, text: str) -> int:
    if not 1 <= span_ms <= LIMIT_MS:
        raise ValueError(f"{text!r} is not between 1 millisecond and 3650 days")
    return span_ms
