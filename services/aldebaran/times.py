"""Times as the command line shows them."""

from datetime import UTC, datetime


def utc(at_ms: int) -> str:
    """Return a time to the millisecond, in UTC."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}Z"
