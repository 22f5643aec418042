"""The line that a trace ends with: whether all that belongs to it can have been seen.

It is kept with the others, and with it a trace's topics are read no more, whoever is alive then.
"""

from typing import Final

from services.console.tracing.lines import Line

CLOSING_ID: Final = "closing"
"""Where other lines have their place; the ledger is asked for it."""
READ_ON_SECONDS: Final = 3600.0
"""So long after its end a trace's topics are read, where that was not possible before."""
_OVER: Final = "the topics have been read up to the end of the trace"
_CUT_SHORT: Final = (
    f"no console has noted within {READ_ON_SECONDS / 60:.0f} minutes after the end that the topics "
    "were read up to it: steps that stand there may be missing here"
)


def over(at_ms: int) -> Line:
    """Return the line of a trace of which all topics were read."""
    return Line(CLOSING_ID, at_ms, "over", _OVER)


def cut_short(at_ms: int) -> Line:
    """Return the line of a trace of which nobody has read all topics in time."""
    return Line(CLOSING_ID, at_ms, "cut short", _CUT_SHORT)


def full(at_ms: int, limit: int) -> Line:
    """Return the line of a trace that has as many lines as it may have."""
    return Line(CLOSING_ID, at_ms, "cut short", f"{limit:,} lines are there, which is the most")
