"""Times and spans as people read them."""

from datetime import UTC, datetime


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
