"""What became of a delivery at once, as one statement tells it of a row."""

from dataclasses import dataclass
from typing import Any

from services.contracts.states import State


@dataclass(frozen=True, slots=True)
class Move:
    """One delivery's way along `path`, which follows `before`; the path is empty where it stays."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    attempt: int
    before: State
    path: tuple[State, ...]
    reason: str
    provider_id: str


def move_of(**row: Any) -> Move:
    """Return what a row tells."""
    path = tuple(State(each) for each in row["path"] or ())
    return Move(**row | {"before": State(row["before"]), "path": path})
