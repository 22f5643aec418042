"""What reading the ledger returns; times are milliseconds since 1970 (UTC)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from services.backbone.ledger.page_start import PageStart
from services.contracts.states import State

Row = TypeVar("Row")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Some rows, newest first, and the cursor of the next page; None at the end."""

    rows: list[Row]
    next_cursor: str | None

    def of(self, made: Callable[[Row], Made]) -> "Page[Made]":
        """Return the same page of what is made of its rows."""
        return Page([made(row) for row in self.rows], self.next_cursor)


def page_of(rows: list[Row], limit: int, start: Callable[[Row], PageStart]) -> Page[Row]:
    """Return a page of `limit` rows, out of one more if there are more."""
    kept = rows[:limit]
    return Page(kept, str(start(kept[-1])) if len(rows) > len(kept) else None)


@dataclass(frozen=True, slots=True)
class DeliveryMark:
    """The least about a delivery that a list of alerts shows."""

    channel: str
    recipient: str
    state: State


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One alert with its first deliveries, and how many it has beyond these; `age_ms` is the time
    since it was accepted, `acknowledged_at_ms` None while nobody has it in hand.
    """

    alert_id: str
    watch: str
    severity: str
    summary: str
    appended_at_ms: int
    detected_at_ms: int
    accepted_at_ms: int
    acknowledged_at_ms: int | None
    age_ms: int
    deliveries: list[DeliveryMark]
    more_deliveries: int = 0


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One delivery as it stands; `age_ms` is the time since it was recorded."""

    delivery_id: str
    alert_id: str
    watch: str
    severity: str
    summary: str
    channel: str
    recipient: str
    repetition: int
    state: State
    attempt: int
    marked_repeat: bool
    reason: str
    provider_id: str
    created_at_ms: int
    updated_at_ms: int
    next_attempt_at_ms: int
    age_ms: int


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One try of one delivery; `outcome` is the state it ended in, None while it is under way."""

    delivery_id: str
    attempt: int
    owner: str
    claimed_at_ms: int
    finished_at_ms: int | None
    outcome: str | None
    reason: str
    provider_id: str


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision after intake; `delivery_id` is None where it is about the whole alert."""

    delivery_id: str | None
    at_ms: int
    stage: str
    decided: str
    why: str


Cut = Literal["deliveries", "attempts", "decisions"]
"""A list of an alert's detail."""


@dataclass(frozen=True, slots=True)
class AlertDetail:
    """What the ledger knows about one alert; `record` is the alert's own.

    Lists hold the newest, the oldest of them first; those of which there is more are in `cut`.
    """

    alert: AlertRow
    record: dict[str, Any]
    routed_by: str
    deliveries: list[DeliveryRow]
    attempts: list[AttemptRow]
    decisions: list[DecisionRow] = field(default_factory=list)
    cut: list[Cut] = field(default_factory=list)


def delivery_of(row: dict[str, Any]) -> DeliveryRow:
    """Return a delivery as the questions select it."""
    columns = {name: value for name, value in row.items() if name not in ("place_us", "state")}
    return DeliveryRow(**columns, state=State(row["state"]))
