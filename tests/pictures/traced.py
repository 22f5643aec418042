"""A trace that somebody has switched on: the steps of one order."""

from typing import Final

from services.backbone.ledger.database import Pool, transaction
from services.console.tracing.lines import Line
from services.console.tracing.store import Traces, begin_on

ID: Final = "7" * 32
_SAID: Final = "over-purchase: 1490 shares of ACME purchased, 1400 requested"
_STEPS: Final = (
    ("accepted", 'trades/0/81: {"kind":"purchase","order_id":"R-40047","shares":1490}'),
    ("found", f"alerts/0/12: by auditor a, 3 ms after the newest event: {_SAID}"),
    ("found", f"alerts/0/13: by auditor b, 5 ms after the newest event: {_SAID}"),
    ("taken in", "lookout"),
    ("decided", "email desk@example.com, by route desk"),
    ("claimed", "email desk@example.com, try 1"),
    ("sent", "email desk@example.com: 250 queued as 4BxQ2"),
)


def add_trace(pool: Pool, now_ms: int) -> str:
    """Add one that is on, with its lines; return its id."""
    with transaction(pool) as connection:
        begin_on(connection, ID, "R-40047", "ann", "the desk says it heard twice", 900.0)
    lines = [
        Line(f"{number:032x}", now_ms - 400 + 4 * number, step, told)
        for number, (step, told) in enumerate(_STEPS)
    ]
    Traces(pool).add(ID, lines, {})
    return ID
