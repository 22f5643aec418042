"""The ledger's tables in memory: the simple model of what Postgres keeps.

Used twice: the simulator runs on it, and tests hold it against the real statements on a real
Postgres (test_memory_ledger.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, NamedTuple

import orjson

from services.backbone.ledger.alerts.decisions import Decision
from services.backbone.ledger.alerts.intake import NewAlert, NewDelivery
from services.backbone.ledger.deliveries.evidence import EvidenceKind
from services.backbone.ledger.deliveries.moves import Move
from services.backbone.ledger.operators.acknowledgements import Acknowledgement
from services.backbone.ledger.operators.silences import SilenceRow
from services.contracts.records import Severity
from services.contracts.states import State

SENDABLE: Final = (State.PENDING, State.RETRY_WAIT)


@dataclass(slots=True)
class Row:
    """One row of `deliveries`; times are seconds of the ledger's clock."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    repetition: int
    record: str
    severity: Severity
    alerted_at: float
    created_at: float
    updated_at: float
    next_attempt_at: float
    state: State = State.PENDING
    attempt: int = 0
    fence: int = 0
    owner: str | None = None
    lease_until: float | None = None
    marked_repeat: bool = False
    reason: str = ""
    provider_id: str = ""
    published_at: float | None = None
    subject: str = ""
    plan: dict[str, Any] = field(default_factory=dict)
    suppressed_by: str | None = None
    not_before: float | None = None
    group_key: str | None = None
    group_limit: int | None = None
    digest_id: str | None = None
    fallback_at: float | None = None

    @property
    def aged_since(self) -> float:
        """From when its age counts."""
        asked_at: float = self.plan.get("asked_at_ms", 0) / 1000
        return max(min(self.created_at, self.alerted_at), asked_at)


@dataclass(slots=True)
class AttemptRow:
    """One row of `attempts`."""

    fence: int
    owner: str
    claimed_at: float
    finished_at: float | None = None
    outcome: State | None = None
    reason: str = ""
    provider_id: str = ""


class PieceKey(NamedTuple):
    """What makes a piece of evidence one."""

    delivery_id: str
    kind: EvidenceKind
    source: str
    provider_id: str
    attempt: int


@dataclass(slots=True)
class PieceRow:
    """One row of `evidence`."""

    detail: str
    weighed: bool = False


@dataclass(slots=True)
class LookUpRow:
    """One row of `look_ups`."""

    asked_at: float
    answered_at: float | None = None
    finding: str = ""


@dataclass(slots=True)
class StepRow:
    """One row of `escalations`."""

    due_at: float
    plan: dict[str, Any]
    repetition: int = 0
    state: str = "WAITING"


Moved = Callable[[Row, tuple[State, ...]], None]
"""Called before a row moves, with its path."""


@dataclass
class Tables:
    """All rows, and the clock that every statement reads."""

    now: Callable[[], float]
    on_move: Moved = lambda row, path: None
    on_insert: Callable[[NewDelivery], None] = lambda new: None
    alerts: dict[str, NewAlert] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    attempts: dict[tuple[str, int], AttemptRow] = field(default_factory=dict)
    pieces: dict[PieceKey, PieceRow] = field(default_factory=dict)
    look_ups: dict[tuple[str, int, int], LookUpRow] = field(default_factory=dict)
    untold: list[Move] = field(default_factory=list)
    turns: dict[str, float] = field(default_factory=dict)
    """When each channel's next turn begins."""
    words: dict[str, float] = field(default_factory=dict)
    """When a person has last given a word on a delivery."""
    closed: dict[str, State] = field(default_factory=dict)
    """What a delivery was before a person closed it."""
    accepted_at: dict[str, float] = field(default_factory=dict)
    acknowledgements: dict[str, list[Acknowledgement]] = field(default_factory=dict)
    silences: dict[str, SilenceRow] = field(default_factory=dict)
    steps: dict[tuple[str, str, int], StepRow] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    """Deliveries whose recording a crash has undone; whoever records them again publishes them."""
    _heads: dict[str, str] = field(default_factory=dict)

    def accept(self, new: NewAlert) -> None:
        """Add an alert with all that belongs to it."""
        alert_id, now = new.alert.alert_id, self.now()
        self.alerts[alert_id], self.accepted_at[alert_id] = new, now
        for each in new.deliveries:
            self.insert(each)
        for step in new.steps:
            due_at, plan = now + step.after_seconds, orjson.loads(step.plan)
            self.steps[alert_id, step.name, step.step] = StepRow(due_at, plan)

    def undo(self, alert_id: str) -> None:
        """Take out an alert with all that belongs to it, as if it had never been added."""
        del self.alerts[alert_id], self.accepted_at[alert_id]
        for key in [key for key, row in self.rows.items() if row.alert_id == alert_id]:
            del self.rows[key]
            self.undone.add(key)
        for step in [step for step in self.steps if step[0] == alert_id]:
            del self.steps[step]

    def head(self, alert_id: str) -> str:
        """Return an alert's JSON without values and event ids."""
        if alert_id not in self._heads:
            record = orjson.loads(self.alerts[alert_id].encoded)
            kept = {key: each for key, each in record.items() if key not in ("values", "event_ids")}
            self._heads[alert_id] = orjson.dumps(kept).decode()
        return self._heads[alert_id]

    def members(self, row: Row) -> list[Row]:
        """Return whose alerts a digest tells, its own among them; none for other rows."""
        if row.digest_id != row.delivery_id:
            return []
        found = [each for each in self.rows.values() if each.digest_id == row.delivery_id]
        return sorted(found, key=lambda each: (each.created_at, each.delivery_id))

    def insert(self, new: NewDelivery) -> bool:
        """Add a row, as a new delivery; False if it is there already."""
        delivery, now = new.delivery, self.now()
        if delivery.delivery_id in self.rows:
            return False
        self.on_insert(new)
        row = self.rows[delivery.delivery_id] = Row(
            delivery_id=delivery.delivery_id,
            alert_id=delivery.alert.alert_id,
            channel=delivery.channel,
            recipient=delivery.recipient,
            repetition=delivery.repetition,
            record=new.encoded.decode(),
            severity=delivery.alert.severity,
            alerted_at=delivery.alert.detected_at_ms / 1000,
            created_at=now,
            updated_at=now,
            next_attempt_at=now,
            subject=delivery.subject,
            plan=orjson.loads(new.plan),
        )
        if (waits := new.suppression) is not None:
            row.state, row.reason, row.suppressed_by = State.SUPPRESSED, waits.why, waits.by
            row.next_attempt_at = waits.until.timestamp()
            row.group_key, row.group_limit = waits.group_key, waits.group_limit
        return True

    def tries(self, delivery_id: str) -> dict[int, AttemptRow]:
        """Return a delivery's tries by number."""
        return {number: each for (key, number), each in self.attempts.items() if key == delivery_id}

    def has_word(self, delivery_id: str, within_seconds: float) -> bool:
        """Tell whether a person has spoken of a delivery so lately."""
        return self.words.get(delivery_id, -inf) > self.now() - within_seconds

    def has_unweighed(self, delivery_id: str) -> bool:
        """Tell whether evidence waits to be weighed."""
        return any(
            key.delivery_id == delivery_id and not each.weighed for key, each in self.pieces.items()
        )

    def move(self, row: Row, *path: State) -> None:
        """Move a row along a path of one or two steps."""
        self.on_move(row, path)
        row.state = path[-1]
        row.updated_at = self.now()
