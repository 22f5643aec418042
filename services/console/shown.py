"""Times, spans and sizes as people read them."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

SIZES: Final = ("B", "KiB", "MiB", "GiB")
NOTHING: Final = "\N{EN DASH}"
"""Where nothing was measured."""


def utc(at_ms: int) -> str:
    """Return a time to the millisecond, in UTC."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}Z"


def span(milliseconds: int) -> str:
    """Return a span in the unit that fits it: 12 ms, 3.4 s, 5 min, 7 h, 9 days."""
    seconds = milliseconds / 1000
    if abs(milliseconds) < 1000:
        return f"{milliseconds} ms"
    if abs(seconds) < 60:
        return f"{seconds:.1f} s"
    for size, limit, unit in ((60, 7200, "min"), (3600, 172_800, "h")):
        if abs(seconds) < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} days"


def clock(at_ms: int) -> str:
    """Return the time of day to the second, in UTC."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M:%S}Z"


def milliseconds(value: float | None) -> str:
    """Return a latency with two significant digits: 0.8 ms, 7.4 ms, 85 ms, 1.2 s."""
    if value is None:
        return NOTHING
    if value < 9.95:
        return f"{value:.1f} ms"
    return f"{value:.0f} ms" if value < 999.5 else f"{value / 1000:.1f} s"


def rate(value: float | None) -> str:
    """Return a rate or a count that fits a tile: 0.4, 12, 980, 12.3k, 1.2M."""
    if value is None:
        return NOTHING
    if value < 9.95:
        return f"{value:.1f}".removesuffix(".0")
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size * 0.9995:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def counted(value: int, at_least: object) -> str:
    """Return a count; with a plus where it stopped at its limit, so that there may be more."""
    return f"{value}+" if at_least else str(value)


def share(value: float | None) -> str:
    """Return a number of processors with two significant digits: 0.0031, 0.42, 1.7, 12."""
    if value is None:
        return NOTHING
    return f"{value:.0f}" if value >= 9.95 else f"{Decimal(f'{value:.2g}'):f}"


def size(value: float | None) -> str:
    """Return a number of bytes in the unit that fits it: 512 B, 3.4 KiB, 18 MiB, 2.1 GiB."""
    if value is None:
        return NOTHING
    unit, *larger = SIZES
    while value >= 1023.5 and larger:
        value, unit = value / 1024, larger.pop(0)
    return f"{value:.1f} {unit}" if value < 9.95 and unit != "B" else f"{value:.0f} {unit}"


def gap(value: int) -> str:
    """Return a span exact to the millisecond while that can be read: 17 ms, 1.234 s, 2 h."""
    if abs(value) < 1000:
        return f"{value} ms"
    return f"{value / 1000:.3f} s" if abs(value) < 60_000 else span(value)
