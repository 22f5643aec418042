"""How often a page looks for more lines of a trace, and until when."""

from typing import Final

from services.console.tracing.closing import READ_ON_SECONDS
from services.console.tracing.store import FOLLOWED_SECONDS, Trace

ON_SECONDS: Final = 1
OVER_SECONDS: Final = 5
SPARE_SECONDS: Final = 60.0
"""What nobody could read up to the end is closed by the first look after its hour."""


def look_seconds(trace: Trace, now_ms: int) -> int | None:
    """Return how long a page waits between two looks; None: nothing more comes.

    After the end it looks until what was under way then is followed no more, and for the closing
    line as long as that may take.
    """
    if trace.is_on:
        return ON_SECONDS
    more = FOLLOWED_SECONDS if trace.is_closed else READ_ON_SECONDS + SPARE_SECONDS
    return OVER_SECONDS if now_ms < trace.ends_at_ms + more * 1000 else None


def left_ms(trace: Trace, now_ms: int) -> int:
    """Return how long a trace is on yet or, after its end, followed."""
    followed_ms = 0 if trace.is_on else int(FOLLOWED_SECONDS * 1000)
    return max(0, trace.ends_at_ms + followed_ms - now_ms)
